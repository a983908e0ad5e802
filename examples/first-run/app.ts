/**
 * Two tasks, one of them with a bad day: what `reprise work --app ./app.ts` needs, and nothing more.
 */
import type { Reprise } from 'reprise'

interface Person {
  readonly name: string
  /** How often the service is down before it greets. */
  readonly down?: number
}

export default function app(reprise: Reprise): void {
  reprise.task('greet', {}, async (input, ctx) => {
    const { name, down = 0 } = input as Person
    if (typeof name !== 'string') throw Object.assign(new Error('name is missing'), { status: 422 })
    if (ctx.attempt <= down) throw Object.assign(new Error('The greeter is overloaded'), { status: 503 })
    // Stored before anything judges it: a later attempt gets the same answer and does not ask again.
    const greeting = await ctx.call('greeter', () => `Hello, ${name}`, { input: name })
    await ctx.progress(1, 1, 'greeted')
    return { greeting }
  })

  reprise.task('slow', {}, async (input, ctx) => {
    const { ms } = input as { readonly ms: number }
    await ctx.call('wait', () => new Promise((resolve) => setTimeout(() => resolve(ms), ms)), { input: ms })
    return ms
  })
}
