/**
 * An error as people read it: `error` what, `cause` the deepest useful reason, `try` one thing to do, then code and exit.
 * It lays out; it does not decide what went wrong, and it shows a stack only when asked to.
 */
import { inspect } from 'node:util'
import { maskSecrets } from '../../failure/mask-secrets.ts'
import { CliError } from '../cli-error.ts'
import { emphasise } from './emphasis.ts'
import { STATE_SIGNS } from './palette.ts'
import type { Screen } from './terminal.ts'
import { pad, wrap } from './text.ts'

const LABEL_COLUMNS = 7
/** A chain of causes longer than this is a loop or tells nothing more. */
const CAUSES_MAX = 10

export function errorBlock(error: unknown, screen: Screen, debug: boolean): string[] {
  const { paint } = screen
  const known = error instanceof CliError ? error : undefined
  const message = known?.message ?? `An error that this command did not expect: ${messageOf(error)}`
  const reason = deepestReason(known ? known.cause : error, message)
  const advice = known?.tryThis ?? (known ? undefined : 'The same command with `--debug` shows where it happened.')
  const tail = known
    ? [`${known.code}, exit ${known.exit}.`, known.touched].filter(Boolean).join(' ')
    : 'INTERNAL, exit 1.'

  const lines = labelled(screen, paint.hue(STATE_SIGNS.failed.hue, 'error'), message)
  if (reason !== undefined) lines.push(...labelled(screen, paint.dim('cause'), reason))
  if (advice !== undefined) lines.push(...labelled(screen, paint.dim('try'), advice))
  lines.push(...labelled(screen, '', tail).map((line) => paint.dim(line)))
  if (debug) lines.push('', ...stackOf(error, screen))
  return lines
}

/** A label, and beside it the text, wrapped under itself. */
export function labelled(screen: Screen, label: string, text: string): string[] {
  const body = wrap(screen.block(maskSecrets(text)), screen.columns - LABEL_COLUMNS)
  return emphasise(body, screen).map((line, index) => pad(index === 0 ? label : '', LABEL_COLUMNS) + line)
}

function deepestReason(cause: unknown, message: string): string | undefined {
  let deepest = cause
  for (let depth = 0; depth < CAUSES_MAX; depth += 1) {
    const inner = deepest instanceof Error ? deepest.cause : undefined
    if (inner === undefined || inner === null) break
    deepest = inner
  }
  if (deepest === undefined || deepest === null) return undefined
  const reason = messageOf(deepest)
  return reason === '' || message.includes(reason) ? undefined : reason
}

function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message === '' ? error.name : error.message
  return typeof error === 'string' ? error : inspect(error, { breakLength: Number.POSITIVE_INFINITY })
}

function stackOf(error: unknown, screen: Screen): string[] {
  const lines: string[] = []
  let current: unknown = error
  for (let depth = 0; current instanceof Error && depth < CAUSES_MAX; depth += 1) {
    lines.push(...screen.block(maskSecrets(current.stack ?? String(current))).split('\n'))
    current = current.cause
  }
  return lines.map((line) => screen.paint.dim(line))
}
