/**
 * Prometheus' Pushgateway as Debian ships it, on the loopback.
 */
import type { ChildProcess } from 'node:child_process'
import { answered, commandOn, ended, freePort, type Service, started } from './service.ts'

export interface PushgatewayService extends Service {
  readonly url: string
}

const command = () => commandOn('prometheus-pushgateway', 'pushgateway')

export const noPushgateway = (): string | undefined =>
  command() ? undefined : 'prometheus-pushgateway is not installed'

export async function pushgatewayService(): Promise<PushgatewayService> {
  const port = await freePort()
  let child: ChildProcess | undefined
  const start = async () => {
    const run = started(command() ?? '', [`--web.listen-address=127.0.0.1:${port}`])
    child = run.child
    await answered(port, run.child, run.said)
  }
  await start()
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    start,
    stop: () => ended(child, 'SIGTERM'),
    kill: () => ended(child, 'SIGKILL'),
    dispose: () => ended(child, 'SIGKILL'),
  }
}
