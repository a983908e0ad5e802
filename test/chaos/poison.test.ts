import { expect, test } from 'vitest'
import { seededDice } from '../../src/time/dice.ts'
import { expectSound, openArena } from './arena.fixtures.ts'
import { type Job, jobOf } from './job.ts'

const RUNS = 500
const CRASHES = 3

test('a run that kills its process is with a person after three crashes, and its 499 neighbours have none', {
  timeout: 180_000,
}, async () => {
  const arena = openArena({ name: 'poison', leaseMs: 1_500 })
  const { pool, dice, seed, submitter } = arena
  const poison = Math.floor(dice() * RUNS)
  const jobs = Array.from({ length: RUNS }, (_, n): Job => {
    const job = { ...jobOf(n, seededDice(seed + n)), answerMs: 5, workMs: 0 }
    return n === poison ? { ...job, poison: true } : job
  })
  await submitter.submitAll(jobs)
  let died = 0
  let closing = false
  // As a supervisor does: for each worker that dies another one is started.
  const supervise = () => {
    const worker = pool.start()
    void worker.exited.then(({ signal }) => {
      if (signal !== 'SIGKILL' || closing) return
      died += 1
      supervise()
    })
  }
  try {
    supervise()
    supervise()
    await arena.settled()
  } finally {
    closing = true
  }
  const { runs, faults } = await expectSound(arena)
  expect(died).toBe(CRASHES)
  expect(faults.map(({ kind }) => kind)).toEqual(['poison', 'poison', 'poison'])
  const [ill] = runs.filter(({ job }) => job.poison)
  expect(ill).toMatchObject({ state: 'review', ledgers: { lapses: CRASHES, errors: 0 } })
  const neighbours = runs.filter(({ job }) => !job.poison)
  expect(neighbours).toHaveLength(RUNS - 1)
  expect(neighbours.filter(({ state, ledgers }) => state !== 'succeeded' || ledgers.lapses > 0)).toEqual([])
})
