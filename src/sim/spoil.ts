/**
 * A right answer made wrong in one of the ways models are wrong: other figures, missing fields, or text that is not JSON.
 * It works on any JSON object; figures are found by the names that totals have.
 */
import type { Dice } from '../time/dice.ts'
import type { FaultName } from './fault.ts'

/** The share of a truncated answer that arrives. */
const KEPT_SHARE = 0.55
/** How many required fields `missing-fields` leaves out. */
const FIELDS_LOST = 2

type Json = Record<string, unknown>

/** The text of the answer under this fault. `dice` are those of the take. */
export function spoiledText(right: unknown, fault: FaultName, dice: Dice): string {
  switch (fault) {
    case 'wrong-total':
      return written(withFigure(right, /^(total|grand_?total|total_?amount|amount_?due|gross)$/i, transposed))
    case 'wrong-total-anew':
      return written(
        withFigure(right, /^(total|grand_?total|total_?amount|amount_?due|gross)$/i, (figure) => off(figure, dice)),
      )
    case 'wrong-net':
      return written(withFigure(right, /^(net|sub_?total|net_?amount|net_?total)$/i, transposed))
    case 'missing-fields':
      return written(withoutFields(right, dice))
    case 'unclosed':
      return written(right).replace(/[\s}\]]+$/, '')
    case 'sloppy':
      return sloppy(written(right))
    case 'fenced':
      return `\`\`\`json\n${written(right)}\n\`\`\``
    case 'prose':
      return `Here is the information from the document:\n\n${written(right)}\n\nLet me know if you need anything else.`
    case 'no-json':
      return 'I looked at the document, but I am not sure which of the figures you would like me to extract from it.'
    case 'truncated': {
      const text = written(right)
      return text.slice(0, Math.floor(text.length * KEPT_SHARE))
    }
    case 'empty':
      return ''
    default:
      return written(right)
  }
}

const written = (value: unknown) => JSON.stringify(value, null, 2)

/** As a model writes that takes JSON for JavaScript; only keys change their quotes, so that no text is harmed. */
const sloppy = (text: string) =>
  text
    .replace(/^(\s*)"(\w+)":/gm, "$1'$2':")
    .replace(/^\{/, '{\n  // as read from the document')
    .replace(/\s*\}$/, ',\n}')

/** A copy in which one figure is changed: the one that has the name, else the last number at the top. */
function withFigure(right: unknown, name: RegExp, change: (figure: number) => number): unknown {
  if (typeof right !== 'object' || right === null || Array.isArray(right)) return right
  const copy: Json = { ...right }
  const keys = Object.keys(copy)
  const key = keys.find((each) => name.test(each)) ?? keys.findLast((each) => typeof copy[each] === 'number')
  if (key === undefined) {
    const inner = keys.find((each) => typeof copy[each] === 'object' && copy[each] !== null)
    if (inner !== undefined) copy[inner] = withFigure(copy[inner], name, change)
  } else if (typeof copy[key] === 'number') copy[key] = change(copy[key])
  return copy
}

/** Two neighbouring digits swapped, as in 1284.50 and 1248.50: the commonest slip of pen and model. */
function transposed(figure: number): number {
  const digits = [...String(figure)]
  for (let at = digits.length - 2; at >= 0; at -= 1) {
    const [left, right] = [digits[at] ?? '', digits[at + 1] ?? '']
    if (/\d/.test(left) && /\d/.test(right) && left !== right && !(at === 0 && right === '0')) {
      digits[at] = right
      digits[at + 1] = left
      return Number(digits.join(''))
    }
  }
  return figure + 9
}

/** Wrong by 1 to 100, in whole units. */
const off = (figure: number, dice: Dice) => Math.round((figure + 1 + Math.floor(dice() * 100)) * 100) / 100

function withoutFields(right: unknown, dice: Dice): unknown {
  if (typeof right !== 'object' || right === null || Array.isArray(right)) return right
  const kept = Object.entries(right)
  for (let lost = 0; lost < FIELDS_LOST && kept.length > 1; lost += 1) {
    kept.splice(Math.floor(dice() * kept.length), 1)
  }
  return Object.fromEntries(kept)
}
