/**
 * Prints `docs/reference/events.md` from the event catalogue, so that the page cannot say what the code does not do.
 * With `--check` it writes nothing and fails when the page is stale.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { EVENT_NAMES, type EventName, sentenceOf } from '../src/run/event.ts'
import { EVENTS } from '../src/run/event-catalogue.ts'
import type { Fields } from '../src/run/event-entry.ts'
import { SAMPLES } from '../src/run/event-samples.fixtures.ts'

const PAGE = fileURLToPath(new URL('../docs/reference/events.md', import.meta.url))

const OPENING = `# Events

<!-- Printed by scripts/events-doc.ts from src/run/event-catalogue.ts. Change the catalogue, then run the script. -->

Everything that Reprise tells while it works. The same events feed the logs, the traces and \`reprise.on\`; each has a level, fields and one
sentence. [Logs and traces](../guides/logs-and-traces.md) shows how to listen.

- Every event has \`name\` and \`at\`, an instant of the store's clock. Instants are epoch milliseconds.
- Events of a run have \`run\`, \`task\`, \`generation\` and, if it was submitted with one, \`key\`; events of an attempt also \`attempt\` and
  \`worker\`. The tables below list the other fields.
- A field with a \`?\` may be absent.
- Secrets are masked before an event leaves.
- Names and fields are stable: they are added to, never renamed.
`

const ATTEMPT: Fields = EVENTS['attempt.started'].fields

/** Told once in the opening. */
const isShared = (name: string, { says }: Fields[string]) =>
  ['run', 'task', 'key', 'generation', 'attempt', 'worker'].includes(name) && ATTEMPT[name]?.says === says

export function eventsPage(): string {
  const rows = EVENT_NAMES.map(
    (name) => `| [\`${name}\`](#${anchor(name)}) | ${EVENTS[name].level} | ${EVENTS[name].when} |`,
  )
  const index = ['| event | level | when |', '|---|---|---|', ...rows].join('\n')
  return [OPENING, index, ...EVENT_NAMES.map(section)].join('\n').replace(/\n*$/, '\n')
}

function section(name: EventName): string {
  const { level, when, fields: all } = EVENTS[name]
  const fields: [string, Fields[string]][] = Object.entries(all)
  const about = fields.some(([field]) => field === 'attempt')
    ? 'of an attempt'
    : fields.some(([field]) => field === 'run')
      ? 'of a run'
      : ''
  const own = fields.filter(([name, field]) => !isShared(name, field))
  const rows = own.map(
    ([field, { type, says, optional }]) => `| \`${field}\`${optional ? '?' : ''} | ${type} | ${says} |`,
  )
  return [
    `\n## ${name}\n`,
    `Level ${level === 'info' && name === 'log' ? 'as chosen by the handler' : level}${about ? `, ${about}` : ''}. ${when}\n`,
    `> ${sentenceOf(SAMPLES[name])}`,
    ...(rows.length > 0 ? ['\n| field | type | |\n|---|---|---|', ...rows] : []),
  ].join('\n')
}

/** As the usual renderers make it from a heading. */
const anchor = (name: string) => name.replaceAll('.', '')

if (import.meta.main) {
  const page = eventsPage()
  if (!process.argv.includes('--check')) writeFileSync(PAGE, page)
  else if (readFileSync(PAGE, 'utf8') !== page) {
    console.error('docs/reference/events.md is stale. Run: node scripts/events-doc.ts')
    process.exit(1)
  }
}
