import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createReprise } from '../../src/engine/reprise.ts'
import { openArena } from './arena.fixtures.ts'
import { type Arena, FULL } from './arena.ts'
import { integrityOf } from './evidence.ts'
import { chaosFlow, HELD_MS, HELD_RESOURCE, PARTS, type StepLine } from './flow-jobs.ts'
import { readLines } from './line-log.ts'
import type { WorkerProcess } from './worker-pool.ts'
import type { WorkerLine } from './worker-process.ts'

const [FLOWS, KILLS] = FULL ? [300, 24] : [30, 3]

/** Clocks of one host, read by different processes at different moments, and the time between a claim and its first word. */
const SLACK_MS = 250

test('workers are killed in the middle of flows, joins and holds: each step begins after its needs, each child once, nobody calls what is held', {
  timeout: FULL ? 600_000 : 180_000,
}, async () => {
  const arena = openArena({ name: `flows (${FLOWS} flows, ${KILLS} kills)` })
  const { pool, dice, store } = arena
  const reprise = createReprise({ store })
  const workers = await pool.startReady(3)
  const submit = (number: number) => reprise.submitFlow(chaosFlow(number), { key: `flow-${number}` })
  for (let kill = 0; kill < KILLS; kill += 1) {
    const [from, to] = [Math.floor((FLOWS * kill) / KILLS), Math.floor((FLOWS * (kill + 1)) / KILLS)]
    await Promise.all(Array.from({ length: to - from }, (_, index) => submit(from + index)))
    const place = Math.floor(dice() * workers.length)
    const victim = workers[place] as WorkerProcess
    await victim.ready()
    await sleep(150 * (1 + dice()))
    await pool.kill(victim)
    workers[place] = pool.start()
  }
  await arena.settled(300_000)
  await pool.stopAll()

  expect(await store.verify()).toEqual([])
  expect(integrityOf(arena.file)).toBe('ok')
  expect(await brokenFlows(arena)).toEqual([])
  const lines = logsOf<StepLine>(arena, 'flows')
  expect(wrongBegins(lines)).toEqual([])
  const events = logsOf<WorkerLine>(arena, 'events')
  const holds = holdsIn(events)
  console.log(
    `flows: ${JSON.stringify({ flows: FLOWS, kills: KILLS, begins: lines.length, holds: holds.length, probes: named(events, 'hold.probe').length })}`,
  )
  expect(callsDuring(holds, events)).toEqual([])
  expect(holds.length).toBeGreaterThan(0)
})

const logsOf = <Line extends { readonly at: number }>({ folder }: Arena, name: string): Line[] =>
  readdirSync(join(folder, name))
    .flatMap((file) => readLines<Line>(join(folder, name, file)))
    .sort((a, b) => a.at - b.at)

const named = (lines: readonly WorkerLine[], name: string) => lines.filter(({ event }) => event?.name === name)

/** Every flow is there once and whole; a run that was killed three times is with a person, and what needs it waits. */
async function brokenFlows({ store }: Arena): Promise<string[]> {
  const found: string[] = []
  let ended = 0
  for (let number = 0; number < FLOWS; number += 1) {
    const made = await store.flow({ name: 'chaos-flow', key: `flow-${number}` })
    const states = made?.steps.map(({ state }) => state) ?? []
    const isHeldUp = states.includes('review')
    if (made?.steps.length !== 4) found.push(`flow ${number} has ${made?.steps.length} steps`)
    if (!isHeldUp && states.some((state) => state !== 'succeeded')) found.push(`flow ${number}: ${states.join(' ')}`)
    const fan = made?.steps.find(({ step }) => step === 'fan')
    const { needs } = await store.links(fan?.run ?? '')
    const places = needs.flatMap(({ join: place }) => (place ? [place.index] : [])).sort((a, b) => a - b)
    const expected = fan?.state === 'succeeded' ? PARTS : places.length === 0 ? 0 : PARTS
    if (places.length !== expected || places.some((place, index) => place !== index))
      found.push(`flow ${number}: children ${places.join(' ')}`)
    ended += made?.steps.filter(({ task, state }) => task === 'chaos-step' && state === 'succeeded').length ?? 0
  }
  const told = (await store.count({ tasks: ['chaos-told'] })).reduce((sum, { runs }) => sum + runs, 0)
  if (told !== ended) found.push(`${ended} steps succeeded, ${told} runs began with them`)
  return found
}

const NEEDED: Readonly<Record<string, Readonly<Record<string, (flow: number) => unknown>>>> = {
  fan: { left: (flow) => `left of ${flow}` },
  end: { fan: () => (PARTS * (PARTS - 1) * 10) / 2, right: (flow) => `right of ${flow}` },
}

/** A step that was begun without what it needs. */
const wrongBegins = (lines: readonly StepLine[]): string[] =>
  lines.flatMap(({ flow, step, needs }) => {
    const expected = Object.fromEntries(Object.entries(NEEDED[step] ?? {}).map(([name, value]) => [name, value(flow)]))
    const sorted = (given: Readonly<Record<string, unknown>>) => JSON.stringify(Object.entries(given).sort())
    return sorted(needs) === sorted(expected) ? [] : [`${step} of ${flow} began with ${JSON.stringify(needs)}`]
  })

interface Held {
  readonly from: number
  readonly until: number
}

const holdsIn = (lines: readonly WorkerLine[]): Held[] =>
  lines.flatMap(({ at, event }) =>
    event?.name === 'hold.set' && event.what === `resource:${HELD_RESOURCE}`
      ? [{ from: at, until: event.until ?? at + HELD_MS }]
      : [],
  )

/** Attempts that began in the middle of a hold. */
function callsDuring(holds: readonly Held[], lines: readonly WorkerLine[]): string[] {
  const begins = named(lines, 'attempt.started')
  return holds.flatMap(({ from, until }) =>
    begins.flatMap(({ at, event }) =>
      event?.name === 'attempt.started' && event.task === 'chaos-step' && at > from + SLACK_MS && at < until - SLACK_MS
        ? [`${event.run} began ${at - from} ms after the hold of ${until - from} ms`]
        : [],
    ),
  )
}
