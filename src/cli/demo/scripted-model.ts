/**
 * A model that answers by script, over real HTTP on 127.0.0.1, so that resets, bodies and headers are the real thing.
 * It plays scenes; it knows nothing of retries.
 */
import { createServer } from 'node:http'
import type { Clock } from '../../time/clock.ts'
import type { Answer, Scene } from './scenes.ts'

export interface ScriptedModel extends AsyncDisposable {
  readonly url: string
}

export interface ScriptedModelOptions {
  readonly scenes: readonly Scene[]
  readonly clock: Clock
  /** A model takes its time; this much of it. */
  readonly thinkMs: number
}

export async function startScriptedModel({ scenes, clock, thinkMs }: ScriptedModelOptions): Promise<ScriptedModel> {
  const script = new Map(scenes.map((scene) => [`/${scene.document}`, scene.answers]))
  const asked = new Map<string, number>()
  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    const take = asked.get(path) ?? 0
    asked.set(path, take + 1)
    await clock.sleep(thinkMs)
    const answers = script.get(path)
    const answer: Answer = answers?.[Math.min(take, answers.length - 1)] ?? { status: 404, body: '{}' }
    if (answer === 'reset') return void request.socket.resetAndDestroy()
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(answer.body)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
