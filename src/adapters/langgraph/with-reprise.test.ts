import { Annotation, Command, END, interrupt, MemorySaver, START, StateGraph } from '@langchain/langgraph'
import { describe, expect, test } from 'vitest'
import { failure } from '../../failure/own.ts'
import { definePolicy } from '../../policy/define-policy.ts'
import { presets } from '../../policy/presets.ts'
import type { RepriseEvent } from '../../run/event.ts'
import { impatientClock } from '../bigquery/real-client.fixtures.ts'
import { complaintOf, nextStep, shouldEscalate, shouldRepair, shouldRetry, toPerson } from './edges.ts'
import { type NodeFailure, repriseState, startOver } from './state.ts'
import { type NodeOptions, withReprise } from './with-reprise.ts'

const State = Annotation.Root({
  question: Annotation<string>(),
  sql: Annotation<string>(),
  rows: Annotation<number>(),
  reprise: Annotation(repriseState),
})
type S = typeof State.State

const wrong = (message = 'Unrecognized name: totl') => failure({ kind: 'semantic', code: 'sql.name', message })
const down = () => failure({ kind: 'transient', code: 'http.503', message: 'unavailable', facts: { takes: 3 } })

/** generate → execute, with a repair loop; `script` is what execute throws, in order. */
function agent(script: (Error | undefined)[], options: Partial<NodeOptions<S>> = {}) {
  const asked: (string | undefined)[] = []
  const seen: NodeFailure[] = []
  const rungs: (string | undefined)[] = []
  const graph = new StateGraph(State)
    .addNode(
      'generate',
      withReprise<S, Partial<S>>(
        (state, { attempt, rung }) => {
          asked.push(complaintOf(state)?.message)
          rungs.push(rung)
          return { sql: `select ${attempt}` }
        },
        { ...options, name: 'generate', ledger: 'query' },
      ),
    )
    .addNode(
      'execute',
      withReprise<S, Partial<S>>(
        () => {
          const thrown = script.shift()
          if (thrown) throw thrown
          return { rows: 3 }
        },
        { ...options, name: 'execute', ledger: 'query', onFailure: (failed) => seen.push(failed) },
      ),
    )
    .addNode('give_up', () => ({ rows: -1 }))
    .addNode('desk', () => ({ rows: -2 }))
    .addEdge(START, 'generate')
    .addEdge('generate', 'execute')
    .addConditionalEdges(
      'execute',
      nextStep({
        ok: END,
        retry: 'execute',
        repair: 'generate',
        escalate: 'generate',
        person: 'desk',
        fail: 'give_up',
      }),
    )
    .addEdge('give_up', END)
    .addEdge('desk', END)
  return { graph, asked, seen, rungs, app: graph.compile() }
}

describe('a failed node', () => {
  test('a wrong answer is asked for again with its error, visibly, and then it works', async () => {
    const { app, asked, seen } = agent([wrong()])
    const end = await app.invoke({ question: 'how much' })
    expect(end.rows).toBe(3)
    expect(end.reprise.last).toBeUndefined()
    expect(asked).toEqual([undefined, 'Unrecognized name: totl'])
    expect(seen).toMatchObject([{ node: 'execute', attempt: 1, of: 2, next: 'repair' }])
  })

  test('the policy bounds the loop, and the last failure stays in the state with its reason', async () => {
    const { app, asked, seen } = agent([wrong('first'), wrong('second'), wrong('third')])
    const end = await app.invoke({ question: 'how much' })
    expect(end.rows).toBe(-1)
    expect(asked).toEqual([undefined, 'first'])
    expect(seen.map(({ attempt, of, next }) => `${attempt} of ${of}: ${next}`)).toEqual([
      '1 of 2: repair',
      '2 of 2: fail',
    ])
    expect(end.reprise.last?.failure.message).toBe('second')
    expect(end.reprise.last?.why).toMatch(/second/)
  })

  test('infrastructure is not tried again by the graph and never reaches a prompt', async () => {
    const { app, asked, seen } = agent([down(), undefined])
    const end = await app.invoke({ question: 'how much' })
    expect(end.rows).toBe(-1)
    expect(asked).toEqual([undefined])
    expect(seen).toMatchObject([{ attempt: 1, of: 1, next: 'fail', failure: { layer: 'infrastructure' } }])
    expect(complaintOf(end)).toBeUndefined()
  })

  test('infrastructure after a wrong answer does not leave the old complaint behind either', async () => {
    const { app } = agent([wrong(), down()])
    const end = await app.invoke({ question: 'how much' })
    expect(complaintOf(end)).toBeUndefined()
  })

  test('what cannot work ends at once', async () => {
    const { app, seen } = agent([failure({ kind: 'final', code: 'bigquery.accessDenied', message: 'no' })])
    expect((await app.invoke({ question: 'how much' })).rows).toBe(-1)
    expect(seen).toMatchObject([{ attempt: 1, of: 1, next: 'fail' }])
  })

  test('a ladder is climbed: next model, then a person', async () => {
    const policy = definePolicy(
      {
        name: 'climb',
        kinds: { semantic: { whenSpent: 'escalate' } },
        ladder: [
          { type: 'model', name: 'flash', attempts: 1 },
          { type: 'model', name: 'pro', attempts: 1 },
          { type: 'person', name: 'analyst', queue: 'sql', withinMs: '4h' },
        ],
      },
      presets.inCall,
    )
    const { app, rungs, seen } = agent([wrong('a'), wrong('b')], { policy })
    expect((await app.invoke({ question: 'how much' })).rows).toBe(-2)
    expect(rungs).toEqual(['flash', 'pro'])
    expect(seen.map(({ next, to }) => `${next} ${to}`)).toEqual(['escalate pro', 'person analyst'])
  })

  test('the same failure on the same answer is no progress', async () => {
    const { app, asked } = agent([wrong(), wrong(), wrong()], {
      policy: definePolicy({ kinds: { semantic: { maxAttempts: 5 } } }, presets.sqlAgent),
      answer: () => 'select the same',
    })
    expect((await app.invoke({ question: 'how much' })).rows).toBe(-1)
    expect(asked).toHaveLength(2)
  })

  test('a retry waits for its time', async () => {
    const clock = impatientClock()
    const busy = failure({
      kind: 'rate_limited',
      code: 'warehouse.queue',
      layer: 'workflow',
      message: 'busy',
      retryAfterMs: 9_000,
    })
    const { app, seen } = agent([busy], { clock })
    expect((await app.invoke({ question: 'how much' })).rows).toBe(3)
    expect(seen).toMatchObject([{ next: 'retry', attempt: 1, of: 5 }])
    expect(clock.waits[0]).toBeGreaterThan(8_900)
  })

  test('a new question on an old thread begins to count anew', async () => {
    const script = [wrong(), wrong(), wrong()]
    const { graph, asked } = agent(script)
    const app = graph.compile({ checkpointer: new MemorySaver() })
    const config = { configurable: { thread_id: 't' } }
    await app.invoke({ question: 'first' }, config)
    const end = await app.invoke({ question: 'second', reprise: startOver }, config)
    expect(end.rows).toBe(3)
    expect(asked).toEqual([undefined, 'Unrecognized name: totl', undefined, 'Unrecognized name: totl'])
  })

  test('it is streamed to whoever watches, and told as an event', async () => {
    const events: RepriseEvent[] = []
    const { app } = agent([wrong()], { emit: (event) => events.push(event) })
    const chunks: unknown[] = []
    for await (const chunk of await app.stream({ question: 'how much' }, { streamMode: 'custom' })) chunks.push(chunk)
    expect(chunks).toMatchObject([{ type: 'reprise', node: 'execute', attempt: 1, of: 2, next: 'repair' }])
    expect(events).toMatchObject([{ name: 'node.failed', node: 'execute', retry: 1, of: 2, next: 'repair' }])
  })

  test('in mode observe it is told and thrown on', async () => {
    const thrown = wrong()
    const { app, seen } = agent([thrown], { mode: 'observe' })
    await expect(app.invoke({ question: 'how much' })).rejects.toBe(thrown)
    expect(seen).toHaveLength(1)
  })

  test('interrupts of the graph and commands of a node pass', async () => {
    const graph = new StateGraph(State)
      .addNode(
        'ask',
        withReprise<S, Partial<S>>(() => ({ sql: interrupt('which table?') as string }), { name: 'ask' }),
      )
      .addNode(
        'go',
        withReprise<S, Command>(() => new Command({ update: { rows: 7 }, goto: END }), { name: 'go' }),
        {
          ends: [END],
        },
      )
      .addEdge(START, 'ask')
      .addEdge('ask', 'go')
      .compile({ checkpointer: new MemorySaver() })
    const config = { configurable: { thread_id: 't' } }
    await graph.invoke({ question: 'how much' }, config)
    const end = await graph.invoke(new Command({ resume: 'orders' }), config)
    expect(end).toMatchObject({ sql: 'orders', rows: 7 })
  })
})

describe('edges', () => {
  test('each condition is true for its step and for nothing else', () => {
    const at = (next: NodeFailure['next']) => ({
      reprise: {
        loops: {},
        last: { node: 'n', failure: wrong().failure, attempt: 1, of: 1, next, why: '' },
      },
    })
    const conditions = { retry: shouldRetry, repair: shouldRepair, escalate: shouldEscalate, person: toPerson }
    for (const [step, condition] of Object.entries(conditions)) {
      for (const next of ['retry', 'repair', 'escalate', 'person', 'fail'] as const)
        expect(condition(at(next))).toBe(next === step)
      expect(condition({ reprise: { loops: {} } })).toBe(false)
    }
    expect(() => nextStep({ ok: 'a', fail: 'b', again: 'c' } as never)).toThrow(/again is not a step/)
  })

  test('of two nodes side by side, the one that succeeds does not hide the other’s failure', () => {
    const failed = { node: 'a', failure: wrong().failure, attempt: 1, of: 2, next: 'repair', why: '' } as const
    const { reducer } = repriseState
    const before = reducer(
      { loops: {} },
      { type: 'failed', failed, ledger: 'a', loop: { ledgers: {} as never, rung: 0 } },
    )
    expect(reducer(before, { type: 'succeeded' }).last).toBe(failed)
    expect(reducer(before, { type: 'succeeded', clears: { node: 'a', attempt: 1 } }).last).toBeUndefined()
  })
})
