/**
 * Option values that are one word of a known list: the wrong word is told with the nearest right one.
 */

import { nearest } from '../config/nearest.ts'
import { usageError } from './cli-error.ts'
import { shown } from './terminal/text.ts'

/** The list may be one that is made when somebody gives a word. */
export function oneOf<Word extends string>(
  noun: string,
  list: readonly Word[] | (() => readonly Word[]),
): (value: string) => Word {
  return (value) => {
    const allowed = typeof list === 'function' ? list() : list
    const found = allowed.find((word) => word === value)
    if (found !== undefined) return found
    throw unknownChoice(noun, value, allowed)
  }
}

export function unknownChoice(noun: string, value: string, allowed: readonly string[]): Error {
  const meant = nearest(value, allowed)
  const question = meant === undefined ? '' : ` Did you mean \`${meant}\`?`
  return usageError(`There is no ${noun} ${shown(value)}.${question}`, `One of: ${allowed.join(', ')}.`)
}
