/**
 * Who reads and who acts: the time zone of clock times, and the name that stands in history and audit.
 */
import { assertZone } from '../time/zone.ts'
import { usageError } from './cli-error.ts'
import type { Environment } from './terminal/paint.ts'
import { oneLine } from './terminal/text.ts'

/** TZ if it names a zone, else UTC, which is what logs speak too. */
export function zoneOf(env: Environment): string {
  const zone = env['TZ']?.replace(/^:/, '')
  if (!zone) return 'UTC'
  try {
    assertZone(zone)
    return zone
  } catch {
    return 'UTC'
  }
}

const NAME_MAX = 100

export function actorOf(given: string | undefined, env: Environment): string {
  const name = oneLine(given ?? env['USER'] ?? env['LOGNAME'] ?? env['USERNAME'] ?? 'cli')
  if (name === '' || name.length > NAME_MAX) {
    throw usageError('--by is empty or too long.', `A name of 1 to ${NAME_MAX} characters.`)
  }
  return name
}
