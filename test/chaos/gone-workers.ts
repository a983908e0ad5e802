/**
 * Who could not keep a lease: workers that were killed or paused, and living ones that found a run's lease gone.
 */
import { type Evidence, eventsOf, lostLeases } from './evidence.ts'

export function goneWorkers(evidence: Evidence): (worker: string, run: string) => boolean {
  const hit = new Set(evidence.faults.map(({ worker }) => worker))
  // Killed before it could say its name: only its log knows it.
  const named = new Set(evidence.processes.map(({ worker }) => worker))
  for (const { worker } of eventsOf(evidence, 'worker.started')) if (!named.has(worker)) hit.add(worker)
  const lost = new Set(lostLeases(evidence).map(({ worker, run }) => `${worker} ${run}`))
  // A renewal that took longer than the lease: dropped by its own worker, and the store never had to say no.
  for (const { worker, run } of eventsOf(evidence, 'lease.lost')) lost.add(`${worker} ${run}`)
  return (worker, run) => hit.has(worker) || lost.has(`${worker} ${run}`)
}
