/**
 * One contender and one workload in a process of its own. Reads what to do from its argument, prints the figures as one line of JSON.
 */
import { CONTENDERS } from './contenders/index.ts'
import type { Surroundings } from './queue.ts'
import { type Sizes, WORKLOADS } from './workloads.ts'

export interface CellOrder {
  readonly contender: string
  readonly workload: string
  readonly surroundings: Surroundings
  readonly sizes: Sizes
}

const order = JSON.parse(process.argv[2] ?? '{}') as CellOrder
const load = CONTENDERS[order.contender]
const workload = WORKLOADS[order.workload]
if (!load || !workload) throw new Error(`unknown cell: ${order.contender} ${order.workload}`)
const { surroundings, sizes } = order
const figures = await workload.measure({ contender: await load(), surroundings, sizes })
const [user, system] = [process.cpuUsage().user, process.cpuUsage().system]
console.log(JSON.stringify({ ...figures, cpuMs: Math.round((user + system) / 1_000) }))
// Peers keep timers and sockets; everything measured is over.
process.exit(0)
