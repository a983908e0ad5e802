import { Annotation, END, START, StateGraph } from '@langchain/langgraph'
import { describe, expect, test } from 'vitest'
import { failure } from '../../failure/own.ts'
import { definePolicy } from '../../policy/define-policy.ts'
import { presets } from '../../policy/presets.ts'
import { type RetryPolicyOptions, retryPolicy } from './retry-policy.ts'

const State = Annotation.Root({ answer: Annotation<string>() })

function graphOf(throwing: unknown[], policy = presets.sqlAgent, options: RetryPolicyOptions = {}) {
  let runs = 0
  const graph = new StateGraph(State)
    .addNode(
      'ask',
      () => {
        runs += 1
        const thrown = throwing.shift()
        if (thrown) throw thrown
        return { answer: 'fine' }
      },
      { retryPolicy: retryPolicy(policy, options) },
    )
    .addEdge(START, 'ask')
    .addEdge('ask', END)
    .compile()
  return { invoke: () => graph.invoke({ answer: '' }), runs: () => runs }
}

const wrong = () => failure({ kind: 'semantic', code: 'gate.total', message: 'the sum is wrong' })

describe('retryPolicy', () => {
  test('the graph repeats what its workflow must: a wrong answer, as often as the policy says', async () => {
    const once = graphOf([wrong()])
    expect(await once.invoke()).toEqual({ answer: 'fine' })
    expect(once.runs()).toBe(2)
    const twice = graphOf([wrong(), wrong(), wrong()])
    await expect(twice.invoke()).rejects.toThrow('the sum is wrong')
    expect(twice.runs()).toBe(2)
  })

  const never: Array<[what: string, thrown: unknown]> = [
    ['an outage', Object.assign(new Error('Service Unavailable'), { status: 503 })],
    ['a rate limit', Object.assign(new Error('Too Many Requests'), { status: 429 })],
    ['a reset connection', Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })],
    ['a refused key', Object.assign(new Error('Unauthorized'), { status: 401 })],
  ]
  test.each(never)('%s is executed once', async (_what, thrown) => {
    const graph = graphOf([thrown, thrown])
    await expect(graph.invoke()).rejects.toBe(thrown)
    expect(graph.runs()).toBe(1)
  })

  test('ten graphs at once do not share a count', async () => {
    const policy = retryPolicy(definePolicy({ kinds: { semantic: { maxAttempts: 3 } } }, presets.sqlAgent))
    const tries = new Map<string, number>()
    const graph = new StateGraph(State)
      .addNode(
        'ask',
        ({ answer }) => {
          tries.set(answer, (tries.get(answer) ?? 0) + 1)
          if ((tries.get(answer) ?? 0) < 3) throw wrong()
          return { answer }
        },
        { retryPolicy: policy },
      )
      .addEdge(START, 'ask')
      .addEdge('ask', END)
      .compile()
    await Promise.all(Array.from({ length: 10 }, (_, index) => graph.invoke({ answer: `q${index}` })))
    expect([...tries.values()]).toEqual(Array(10).fill(3))
  })

  test('in mode observe the present policy stays, and what would have been done is told', async () => {
    const told: string[] = []
    const outage = () => Object.assign(new Error('Service Unavailable'), { status: 503 })
    const graph = graphOf([outage(), wrong()], presets.sqlAgent, {
      mode: 'observe',
      present: { maxAttempts: 3, initialInterval: 1, jitter: false, logWarning: false },
      onFailure: ({ code }, repeats) => told.push(`${code} ${repeats}`),
    })
    expect(await graph.invoke()).toEqual({ answer: 'fine' })
    expect(graph.runs()).toBe(3)
    expect(told).toEqual(['http.503 false', 'gate.total true'])
  })
})
