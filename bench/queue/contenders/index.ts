/**
 * All contenders, in the order of the tables; the first is the limit that ratios refer to. Each is loaded only where it runs,
 * so that no process carries the others' libraries.
 */
import type { Contender } from '../queue.ts'

export const CONTENDERS: Readonly<Record<string, () => Promise<Contender>>> = {
  'raw-500': async () => (await import('./raw-sqlite.ts')).rawSqlite(500),
  'raw-10': async () => (await import('./raw-sqlite.ts')).rawSqlite(10),
  'reprise-power': async () => (await import('./reprise.ts')).reprise('power'),
  'reprise-process': async () => (await import('./reprise.ts')).reprise('process'),
  'plainjob-full': async () => (await import('./plainjob.ts')).plainjob('FULL'),
  'plainjob-normal': async () => (await import('./plainjob.ts')).plainjob('NORMAL'),
  'bullmq-everysec': async () => (await import('./bullmq.ts')).bullmq('everysec'),
  'bullmq-always': async () => (await import('./bullmq.ts')).bullmq('always'),
  'pg-boss': async () => (await import('./pg-boss.ts')).pgBoss,
  'graphile-worker': async () => (await import('./graphile-worker.ts')).graphileWorker,
}

export const LIMIT = 'raw-500'
