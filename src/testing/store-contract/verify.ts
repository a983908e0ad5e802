/**
 * Laws of `verify`: silent after every legal history, loud about each kind of damage that the driver can plant.
 */
import assert from 'node:assert/strict'
import { subject } from './law.ts'
import { BEGUN_AGAIN, CANCELLED, keyed, newRun, type World } from './world.ts'

/** One run in each state a run can be in, with what can have happened before. */
async function aBusyDay(world: World): Promise<void> {
  const poison = await world.hold(keyed('k'))
  await world.outliveLeases()
  await world.intent(poison)
  const again = await world.take(poison.run)
  await world.intent(again)
  await world.answer(again, '1')
  await world.fail(again, { dueAt: world.now + 1_000 })
  await world.clock.advance(1_000)
  await world.fail(await world.take(poison.run))
  const expect = { generation: 1, states: ['failed'] } as const
  await world.store.steer({ run: poison.run, type: 'retry', by: 'ann', why: BEGUN_AGAIN, expect })
  await world.store.create([newRun(), newRun(), newRun({ dueAt: world.now + 5_000 })])
  const { runs, token } = await world.claim()
  const [one, two] = runs.map(({ id: run }) => ({ run, token }))
  assert.ok(one && two)
  await world.end(one, { output: '1' })
  await world.end(two, { state: 'review', dueAt: world.now + 9_000, suspensions: 1 })
  const cancelled = await world.hold()
  const live = { generation: 1, states: ['ready'] } as const
  await world.store.steer({ run: cancelled.run, type: 'cancel', by: 'ann', why: CANCELLED, expect: live })
  await world.end(cancelled)
  await world.outliveLeases()
  await world.store.create([newRun(), newRun()])
  await world.claim()
  await world.outliveLeases()
  await world.claim({ alone: true })
}

export const verifyLaws = subject('verify', {
  'empty is well: nothing is found after any legal history': [
    'verify-cries-wolf',
    async (world) => {
      assert.deepEqual(await world.store.verify(), [])
      await aBusyDay(world)
      assert.deepEqual(await world.store.verify(), [])
    },
  ],
  'one finding per breach: each kind of damage is found and names its run': [
    'verify-sleeps',
    async (world) => {
      const damages = Object.entries(world.opened.damages ?? {})
      assert.ok(damages.length > 0, 'the driver can plant damage; if it cannot, skip this law by name')
      await aBusyDay(world)
      const missed: string[] = []
      for (const [name, plant] of damages) {
        const run = await world.submit()
        await plant(run)
        const findings = await world.store.verify()
        if (!findings.some((finding) => finding.run === run && finding.law !== '' && finding.found !== ''))
          missed.push(name)
      }
      assert.deepEqual(missed, [])
    },
  ],
  'one finding per breach: damage of no run is found too': [
    'verify-sees-runs-only',
    async (world) => {
      const damages = Object.entries(world.opened.damagesBeside ?? {})
      assert.ok(damages.length > 0, 'the driver can plant damage; if it cannot, skip this law by name')
      await aBusyDay(world)
      const missed: string[] = []
      let known = 0
      for (const [name, plant] of damages) {
        await plant()
        const { length } = await world.store.verify()
        if (length <= known) missed.push(name)
        known = length
      }
      assert.deepEqual(missed, [])
    },
  ],
})
