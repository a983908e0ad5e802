/**
 * RabbitMQ as Debian ships it, started by hand on the loopback: own port mapper, own folders, no plugins.
 */
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { answered, commandOn, ended, freePort, type Service, type Spawned, started } from './service.ts'

export interface RabbitService extends Service {
  readonly url: string
}

/** The script itself: the one on the PATH changes the user first. */
const server = () => commandOn('/usr/lib/rabbitmq/bin/rabbitmq-server', 'rabbitmq-server')

export function noRabbit(): string | undefined {
  if (!server()) return 'rabbitmq-server is not installed'
  return commandOn('epmd') ? undefined : 'epmd is not installed'
}

export async function rabbitService(): Promise<RabbitService> {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-rabbit-'))
  const [port, mapperPort, distPort] = await Promise.all([freePort(), freePort(), freePort()])
  const config = join(folder, 'rabbitmq')
  writeFileSync(
    `${config}.conf`,
    [`listeners.tcp.local = 127.0.0.1:${port}`, 'loopback_users = none', 'disk_free_limit.absolute = 10MB', ''].join(
      '\n',
    ),
  )
  writeFileSync(join(folder, 'plugins'), '[].')
  mkdirSync(join(folder, 'home'))
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    HOME: join(folder, 'home'),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    ERL_EPMD_PORT: String(mapperPort),
    RABBITMQ_NODENAME: `reprise-${port}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(distPort),
    RABBITMQ_CONFIG_FILE: config,
    RABBITMQ_CONF_ENV_FILE: join(folder, 'none.conf'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
    RABBITMQ_MNESIA_BASE: join(folder, 'mnesia'),
    RABBITMQ_LOG_BASE: join(folder, 'log'),
    RABBITMQ_PID_FILE: join(folder, 'pid'),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-kernel inet_dist_use_interface {127,0,0,1} +S 1:1 +sbwt none',
  }
  const mapper = started(commandOn('epmd') ?? 'epmd', ['-address', '127.0.0.1', '-port', String(mapperPort)], env)
  await answered(mapperPort, mapper.child, mapper.said)
  let run: Spawned | undefined
  const start = async () => {
    // In its own folder, where it may leave what it leaves when it is killed.
    run = started(server() ?? 'rabbitmq-server', [], env, folder)
    await answered(port, run.child, run.said)
  }
  const end = async (signal: NodeJS.Signals) => {
    const child: ChildProcess | undefined = run?.child
    await ended(child, signal)
  }
  await start()
  return {
    port,
    url: `amqp://guest:guest@127.0.0.1:${port}`,
    start,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    async dispose() {
      await end('SIGKILL')
      await ended(mapper.child, 'SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
