import { describe, expect, test } from 'vitest'
import { never } from './throwables.ts'
import { workbench } from './workbench.fixtures.ts'

/** A parent that joins `count` children; a child squares its number and fails for those that are told. */
function squares(count: number, fails: readonly number[] = [], onFailure?: 'collect') {
  const bench = workbench()
  const { reprise } = bench
  const seen = { parent: 0, children: [] as number[] }
  const child = reprise.task('square', {}, (n: number) => {
    seen.children.push(n)
    if (fails.includes(n)) throw never(`${n} cannot be squared`)
    return n * n
  })
  const parent = reprise.task('sum', {}, async (_input: unknown, ctx) => {
    seen.parent += 1
    const children = Array.from({ length: count }, (_, n) => [child, n] as const)
    if (onFailure) return ctx.join('parts', children, { onFailure })
    const parts = await ctx.join('parts', children)
    return parts.reduce((sum, part) => sum + part, 0)
  })
  return { ...bench, parent, child, seen }
}

describe('ctx.join', () => {
  test('begins children, waits without a slot, and gives results in order', async () => {
    const { reprise, parent, seen, workUntil, store, named } = squares(5)
    const run = await reprise.submit(parent, {})
    await workUntil('settled', { concurrency: 1 })
    expect(await run.result()).toEqual({ ok: true, value: 0 + 1 + 4 + 9 + 16, cost: 0 })
    expect([seen.parent, seen.children.toSorted()]).toEqual([2, [0, 1, 2, 3, 4]])
    expect(named('run.suspended').map(({ on }) => on)).toEqual(['parts'])
    expect(named('run.unblocked').map(({ run: id }) => id)).toEqual([run.id])
    expect((await store.attempts(run.id)).map(({ outcome }) => outcome)).toEqual(['suspended', 'succeeded'])
    expect(await store.verify()).toEqual([])
  })

  test('a failed child fails the join, once', async () => {
    const { reprise, parent, workUntil, seen } = squares(3, [1])
    const run = await reprise.submit(parent, {})
    await workUntil()
    expect(await run.result()).toMatchObject({
      ok: false,
      failure: {
        code: 'join.child_failed',
        message: 'child 2 of parts failed (app.never): 1 cannot be squared',
      },
    })
    expect(seen.parent).toBe(2)
  })

  test('or is collected with the others', async () => {
    const { reprise, parent, workUntil } = squares(3, [1], 'collect')
    const run = await reprise.submit(parent, {})
    await workUntil()
    expect(await run.result()).toMatchObject({
      ok: true,
      value: [
        { ok: true, value: 0 },
        { ok: false, failure: { code: 'app.never' } },
        { ok: true, value: 4 },
      ],
    })
  })

  test('no children is an answer at once; too many are refused', async () => {
    const none = squares(0)
    const run = await none.reprise.submit(none.parent, {})
    await none.workUntil()
    expect([await run.result(), none.seen.parent]).toEqual([{ ok: true, value: 0, cost: 0 }, 1])
    const many = squares(1_001)
    const refused = await many.reprise.submit(many.parent, {})
    await many.workUntil('idle')
    expect((await many.store.get({ id: refused.id }))?.failure?.message).toMatch(
      /join "parts" has 1001 children\. Allowed: up to 1000/,
    )
  })

  test('a child with a key is refused: it is known by its place', async () => {
    const { reprise, store, workUntil } = workbench()
    const child = reprise.task('child', {}, () => 1)
    const parent = reprise.task('parent', {}, (_input: unknown, ctx) =>
      ctx.join('parts', [[child, 1, { key: 'k' } as never]]),
    )
    const run = await reprise.submit(parent, {})
    await workUntil('idle')
    const { failure } = (await store.get({ id: run.id })) ?? {}
    expect(failure?.message).toContain('child 1 of join "parts" has a key. Allowed: none, because a child is known by')
    expect((await store.find({ limit: 10 })).runs).toHaveLength(1)
  })

  test('later attempts see the same results and begin no child again', async () => {
    const { reprise, child, seen, workUntil, store } = squares(0)
    let failures = 2
    const parent = reprise.task('shaky', {}, async (_input: unknown, ctx) => {
      const [first] = await ctx.join('one', [[child, 3]])
      const [second] = await ctx.join('two', [[child, first ?? 0]])
      failures -= 1
      if (failures >= 0) throw new Error('shaky')
      return second
    })
    const run = await reprise.submit(parent, {})
    await workUntil()
    expect(await run.result()).toMatchObject({ ok: true, value: 81 })
    expect(seen.children).toEqual([3, 9])
    expect((await store.journal(run.id, 1)).map(({ name, answer }) => [name, answer])).toEqual([
      ['one', '[{"ok":true,"value":9}]'],
      ['two', '[{"ok":true,"value":81}]'],
    ])
  })

  test('a handler that swallows the suspension suspends all the same', async () => {
    const { reprise, child, workUntil, named } = squares(0)
    const parent = reprise.task('deaf', {}, async (_input: unknown, ctx) => {
      const parts = await ctx.join('parts', [[child, 2]]).catch(() => [0])
      return parts[0]
    })
    const run = await reprise.submit(parent, {})
    await workUntil()
    expect(await run.result()).toMatchObject({ ok: true, value: 4 })
    expect(named('suspension.swallowed').map(({ on }) => on)).toEqual(['parts'])
  })
})

describe('ctx.submit', () => {
  test('begins runs with the success of the attempt, and only then', async () => {
    const { reprise, child, seen, workUntil, named } = squares(0)
    let failures = 1
    const parent = reprise.task('parent', {}, async (_input: unknown, ctx) => {
      await ctx.submit(child, 7)
      await ctx.submit(child, 8, { key: 'eight' })
      failures -= 1
      if (failures >= 0) throw new Error('not yet')
      await ctx.sleep('nap', '10m')
      return 'done'
    })
    await reprise.submit(parent, {})
    await workUntil()
    expect(seen.children.toSorted()).toEqual([7, 8])
    expect(named('run.submitted').map(({ task }) => task)).toEqual(['parent', 'square', 'square'])
  })

  test('a key with another input is told, a wrong input fails the attempt', async () => {
    const { reprise, child, workUntil, named } = squares(0)
    await reprise.submit(child, 1, { key: 'k' })
    const parent = reprise.task('parent', {}, (_input: unknown, ctx) => {
      void ctx.submit(child, 2, { key: 'k' })
    })
    await reprise.submit(parent, {})
    await workUntil()
    expect(named('submit.conflict').map(({ child: task, childKey }) => [task, childKey])).toEqual([['square', 'k']])
  })
})
