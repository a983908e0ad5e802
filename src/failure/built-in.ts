/**
 * The built-in rules: all catalogues, compiled once, at the first question.
 * It lists the families and nothing else; their order settles only ties.
 */
import { FAMILIES } from './catalogue/families.ts'
import { compile, type Index } from './compile.ts'
import type { CodeEntry } from './rule.ts'

let index: Index | undefined

/** Not compiled when the package is loaded: a program that meets no error should not pay for it. */
export function builtIn(): Index {
  index ??= compile(FAMILIES)
  return index
}

/** The whole catalogue: every code that `classify` can give from its built-in rules, by family and code. */
export function codes(): readonly CodeEntry[] {
  return [...builtIn().entries.values()]
}
