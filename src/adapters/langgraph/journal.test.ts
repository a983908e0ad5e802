import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Annotation, END, MemorySaver, START, StateGraph } from '@langchain/langgraph'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { workbench } from '../../engine/workbench.fixtures.ts'
import { failure } from '../../failure/own.ts'
import type { GraphJournal } from './journal.ts'
import { runJournal } from './journal.ts'
import { retryPolicy } from './retry-policy.ts'
import { sqliteJournal } from './sqlite-journal.ts'
import { repriseState } from './state.ts'
import { withReprise } from './with-reprise.ts'

const State = Annotation.Root({
  question: Annotation<string>(),
  draft: Annotation<string>(),
  answer: Annotation<string>(),
  reprise: Annotation(repriseState),
})
type S = typeof State.State

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-journal-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Two calls in one node; `crash` is thrown between them, past every wrapper, as a process that dies would. */
function twoCalls(journal: GraphJournal, bought: string[], crash: { now: boolean }) {
  const buy = (what: string) => async () => {
    bought.push(what)
    return `the ${what}`
  }
  return new StateGraph(State)
    .addNode('work', async (state: S, config) => {
      const node = withReprise<S, Partial<S>>(
        async (_state, { call }) => {
          const draft = await call('draft', buy('draft'), {
            input: state.question,
          })
          if (crash.now) return { draft }
          return { draft, answer: await call('answer', buy('answer')) }
        },
        { name: 'work', journal },
      )
      const update = await node(state, config)
      if (crash.now) throw new Error('the process died')
      return update
    })
    .addEdge(START, 'work')
    .addEdge('work', END)
    .compile({ checkpointer: new MemorySaver() })
}

describe('a journal in a file', () => {
  test('a resumed graph does not buy an answer twice', async () => {
    const journal = sqliteJournal({ file: join(folder, 'journal.db') })
    const bought: string[] = []
    const crash = { now: true }
    const graph = twoCalls(journal, bought, crash)
    const config = { configurable: { thread_id: 'q1' } }
    await expect(graph.invoke({ question: 'how much' }, config)).rejects.toThrow('the process died')
    expect(bought).toEqual(['draft'])
    crash.now = false
    const end = await graph.invoke(null, config)
    expect(end).toMatchObject({ draft: 'the draft', answer: 'the answer' })
    expect(bought).toEqual(['draft', 'answer'])
    journal.close()
  })

  test('the answers are there after the file was closed and opened again', async () => {
    const file = join(folder, 'journal.db')
    const bought: string[] = []
    const crash = { now: true }
    let open = sqliteJournal({ file })
    const graph = twoCalls({ once: (...args) => open.once(...args) }, bought, crash)
    const config = { configurable: { thread_id: 'q1' } }
    await expect(graph.invoke({ question: 'how much' }, config)).rejects.toThrow()
    open.close()
    open = sqliteJournal({ file })
    crash.now = false
    await graph.invoke(null, config)
    expect(bought).toEqual(['draft', 'answer'])
    open.close()
  })

  test('another question buys its own answer, and so does the same one asked anew', async () => {
    const journal = sqliteJournal({ file: join(folder, 'journal.db') })
    const bought: string[] = []
    const graph = twoCalls(journal, bought, { now: false })
    await graph.invoke({ question: 'one' }, { configurable: { thread_id: 'a' } })
    await graph.invoke({ question: 'one' }, { configurable: { thread_id: 'b' } })
    await graph.invoke({ question: 'one' }, { configurable: { thread_id: 'a' } })
    expect(bought).toHaveLength(6)
    journal.close()
  })

  test('an answer that the graph’s own retry refused is bought again, and a replay takes the same way', async () => {
    const journal = sqliteJournal({ file: join(folder, 'journal.db') })
    const bought: number[] = []
    const crash = { now: true }
    const graph = new StateGraph(State)
      .addNode(
        'work',
        withReprise<S, Partial<S>>(
          async (_state, { call }) => {
            const answer = await call('answer', async () => bought.push(bought.length + 1))
            if (answer < 2) throw failure({ kind: 'semantic', code: 'gate.total', message: 'wrong' })
            if (crash.now) throw new Error('the process died')
            return { answer: String(answer) }
          },
          { name: 'work', journal, mode: 'observe' },
        ),
        { retryPolicy: retryPolicy() },
      )
      .addEdge(START, 'work')
      .addEdge('work', END)
      .compile({ checkpointer: new MemorySaver() })
    const config = { configurable: { thread_id: 'q1' } }
    await expect(graph.invoke({ question: 'how much' }, config)).rejects.toThrow()
    crash.now = false
    expect(await graph.invoke(null, config)).toMatchObject({ answer: '2' })
    expect(bought).toEqual([1, 2])
    journal.close()
  })

  test('a send without answer or failure is sent again, or refused when it may be made at most once', async () => {
    const file = join(folder, 'journal.db')
    const place = { thread: 't', task: 'x', node: 'n', path: '1:n', attempt: 1 }
    const first = sqliteJournal({ file })
    void first.once(place, 'order', 1, () => new Promise(() => {}))
    await expect(
      sqliteJournal({ file, ambiguous: 'fail' }).once(place, 'order', 1, async () => 'twice'),
    ).rejects.toThrow(/nobody knows whether it arrived/)
    expect(await sqliteJournal({ file }).once(place, 'order', 1, async () => 'again')).toBe('again')
    first.close()
  })

  test('without a thread there is nothing to find again, and that is said', async () => {
    const journal = sqliteJournal({ file: join(folder, 'journal.db') })
    const place = { thread: undefined, task: 'x', node: 'n', path: '1:n', attempt: 1 }
    await expect(journal.once(place, 'a', 1, async () => 1)).rejects.toThrow(/checkpointer and give it a thread_id/)
    expect(() => sqliteJournal({ file: '' })).toThrow(/file: "" is not allowed/)
    journal.close()
  })
})

test('inside a run the run’s own journal serves: a later attempt replays the graph without buying', async () => {
  const { reprise, workUntil, named } = workbench()
  const bought: string[] = []
  let attempts = 0
  const task = reprise.task('ask', {}, async (_input, ctx) => {
    const graph = twoCalls(runJournal(ctx), bought, { now: false })
    const end = await graph.invoke({ question: 'how much' }, { configurable: { thread_id: ctx.run } })
    attempts += 1
    if (attempts === 1) throw failure({ kind: 'transient', code: 'http.503', message: 'later' })
    return end.answer
  })
  const run = await reprise.submit(task, 1)
  await workUntil()
  expect(await run.result()).toMatchObject({ ok: true, value: 'the answer' })
  expect([attempts, bought]).toEqual([2, ['draft', 'answer']])
  expect(named('call.replayed')).toHaveLength(2)
})
