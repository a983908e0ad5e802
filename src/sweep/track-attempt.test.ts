import { describe, expect, it } from 'vitest'
import { failure } from '../failure/own.ts'
import { actOn } from './operate.ts'
import { archives, MINUTE, sweepWorld } from './sweep.fixtures.ts'
import { trackAttempt } from './track-attempt.ts'

describe('trackAttempt', () => {
  it('counts the first event of a document once, and the sweep’s deliveries not again', async () => {
    const { clock, source, sweep, document } = await sweepWorld()
    await source.put('archives', [{ id: 'a' }])
    const track = trackAttempt(source, 'a', archives)
    expect(track.init).toEqual({ status: 'pending', attemptCount: 0, lastAttemptTime: null })
    expect(await track.before()).toBe('begin')
    expect(await track.before()).toBe('begin')
    expect(await document('a')).toMatchObject({ status: 'processing', attempts: 1, lastAttemptAt: clock.now() })
    expect(await track.failure(new Error('connect ECONNREFUSED'))).toBe('retry')
    await clock.advance(5 * MINUTE)
    await sweep.pass()
    expect(await track.before({ attempt: 2, generation: 1 })).toBe('begin')
    expect(await track.before({ attempt: 1, generation: 1 })).toBe('stale')
    expect(await document('a')).toMatchObject({ attempts: 2 })
    expect(await track.success()).toBe('ok')
    expect(await track.success()).toBe('ok')
    expect(await track.before({ attempt: 2 })).toBe('done')
    expect(await document('a')).toMatchObject({ status: 'processed', attempts: 2 })
  })

  it('three executions and no fourth, told when the sweep ends it', async () => {
    const { clock, source, sweep, document, events } = await sweepWorld()
    await source.put('archives', [{ id: 'a' }])
    const track = trackAttempt(source, 'a', archives)
    await track.before()
    expect(await track.failure(new Error('down'))).toBe('retry')
    for (const [attempt, expected] of [
      [2, 'retry'],
      [3, 'failed'],
    ] as const) {
      await clock.advance(60 * MINUTE)
      await sweep.pass()
      expect(await track.before({ attempt })).toBe('begin')
      expect(await track.failure(new Error('down'))).toBe(expected)
    }
    expect(await track.before({ attempt: 3 })).toBe('stale')
    const { collections } = await sweep.pass()
    expect(collections[0]).toMatchObject({ begun: 0, ended: 1, failed: 1 })
    expect(events.filter(({ name }) => name === 'sweep.ended')).toMatchObject([
      { document: 'a', attempts: 3, lastError: 'down', reason: expect.stringContaining('3 of 3') },
    ])
    expect(await track.before({ attempt: 3 })).toBe('stale')
    expect(await track.success()).toBe('lost')
    const { status, attempts, marks } = await document('a')
    expect({ status, attempts }).toEqual({ status: 'failed_max_retries', attempts: 3 })
    expect(marks).not.toHaveProperty('ends')
  })

  it('what can never work ends with the next pass and gets no other attempt, unless an operator asks for it', async () => {
    const { source, sweep, bus, document } = await sweepWorld()
    await source.put('archives', [{ id: 'a' }, { id: 'b' }])
    for (const id of ['a', 'b']) {
      const track = trackAttempt(source, id, archives)
      await track.before()
      expect(await track.failure(failure({ kind: 'final', code: 'archive.corrupt' }))).toBe('failed')
    }
    const [collection] = sweep.collections as [(typeof sweep.collections)[0]]
    await actOn(sweep, 'requeue', { collection, of: 'open', filter: { ids: ['b'] } }, { by: 'ana', dryRun: false })
    expect((await sweep.pass()).collections[0]).toMatchObject({ begun: 1, ended: 1 })
    expect(await document('a')).toMatchObject({ status: 'failed_max_retries', attempts: 1 })
    expect(await document('b')).toMatchObject({ attempts: 1, marks: { generation: 2 } })
    expect(bus.peek('parsing')).toHaveLength(1)
  })

  it('a late failure of an earlier attempt is not taken for one of the attempt that is out', async () => {
    const { clock, source, sweep, document } = await sweepWorld()
    await source.put('archives', [{ id: 'a', attempts: 1, lastAttemptAt: clock.now(), status: 'processing' }])
    const slow = trackAttempt(source, 'a', archives)
    await slow.before({ attempt: 1, generation: 1 })
    for (let day = 0; day < 2; day++) {
      await clock.advance(25 * 60 * MINUTE)
      await sweep.pass()
    }
    expect(await document('a')).toMatchObject({ attempts: 3 })
    expect(await slow.failure(new Error('down'))).toBe('ignored')
    expect(await document('a')).toMatchObject({ status: 'processing', attempts: 3 })
    const third = trackAttempt(source, 'a', archives)
    await third.before({ attempt: 3, generation: 1 })
    expect(await third.failure(new Error('down'))).toBe('failed')
  })

  it('counts every beginning where the service counts', async () => {
    const { source, document } = await sweepWorld()
    await source.put('archives', [{ id: 'a', attempts: 1, lastAttemptAt: 5 }])
    await trackAttempt(source, 'a', { ...archives, countedBy: 'service' }).before({ attempt: 2 })
    expect(await document('a')).toMatchObject({ attempts: 2 })
  })

  it('says which document is missing', async () => {
    const { source } = await sweepWorld()
    await expect(trackAttempt(source, 'x', archives).before()).rejects.toThrow('There is no document x in archives.')
  })
})
