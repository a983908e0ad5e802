/**
 * One value as one line of JSON that is also safe to look at: what JSON leaves raw and a terminal would obey is escaped.
 * The escapes are JSON's own, so a reader gets the same value back.
 */

const UNSAFE = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g

export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(
    UNSAFE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
