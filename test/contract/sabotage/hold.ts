/** Stores that hold too little, too much or too long. */
import type { EndChange } from '../../../src/ports/store.ts'
import { afterProbe, type Hold, heldBy, withoutProbe } from '../../../src/run/hold.ts'
import { type Bench, claiming, ending, type Sabotage, type Shelf, without } from './bench.ts'

/** Bends the holds before a claim looks at them. */
const holding = (change: (hold: Hold, bench: Bench) => Hold | undefined): Sabotage =>
  claiming({
    before: (bench) => {
      for (const hold of [...bench.tables.holds.values()]) {
        const bent = change(hold, bench)
        if (bent) bench.tables.holds.set(hold.what, bent)
        else bench.tables.holds.delete(hold.what)
      }
    },
  })

export const holdShelf: Shelf = {
  'hold-not-kept': ending({ change: (end) => without(end, 'hold') }),
  'hold-ignored': holding(() => undefined),
  'hold-unfenced': ({ store, tables, clock }) => ({
    commit: (change) => {
      const { hold } = change as EndChange
      if (hold) tables.holds.set(hold.what, heldBy(hold, clock.now()))
      return store.commit(change)
    },
  }),
  'hold-by-lane': (bench) => ({
    // Only lanes that are there when it is set.
    hold: (order) => {
      const known = [...bench.tables.open].some(({ lane }) =>
        Object.values(lane).some((part) => order.what.endsWith(part)),
      )
      return known ? bench.store.hold(order) : Promise.resolve({ now: bench.clock.now(), answer: 'ok' })
    },
  }),
  'hold-unannounced': claiming({ after: (claim) => (claim.runs.length === 0 ? without(claim, 'nextAt') : claim) }),
  'hold-shortened': ending({
    after: (_row, _before, { hold }, { tables, clock }) => {
      if (hold) tables.holds.set(hold.what, heldBy(hold, clock.now()))
    },
  }),
  'release-forgotten': ({ clock }) => ({ release: async () => ({ now: clock.now(), answer: 'ok' }) }),
  'hold-unnoted': ({ store, tables }) => ({
    hold: async (order) => {
      const held = await store.hold(order)
      tables.notes.pop()
      return held
    },
  }),
  'probe-many': claiming({
    after: (claim, { tables }) => {
      for (const hold of tables.holds.values()) if (hold.probing) tables.holds.set(hold.what, withoutProbe(hold))
      return claim
    },
  }),
  'probe-unnamed-again': (bench) => {
    const seen = new Set<string>()
    return {
      claim: async (request) => {
        const claim = await bench.store.claim(request)
        const again = seen.has(request.nonce)
        seen.add(request.nonce)
        return again ? { ...claim, runs: claim.runs.map((run) => without(run, 'probes')) } : claim
      },
    }
  },
  'probe-never-extends': ending({
    after: (_row, { lease }, { token, hold }, { tables, clock }) => {
      const known = hold && tables.holds.get(hold.what)
      if (known && lease?.token === token && token > 1) tables.holds.set(known.what, afterProbe(known, clock.now(), 0))
    },
  }),
  'probe-lost-for-ever': (bench) => ({
    claim: async (request) => {
      const out = [...bench.tables.holds.values()].find(({ probing }) => probing)
      const isGone = out?.probing && !bench.tables.runs.get(out.probing.run)?.lease
      return isGone ? { now: bench.clock.now(), token: 0, runs: [], suspects: false } : bench.store.claim(request)
    },
    commit: async (change) => {
      const out = [...bench.tables.holds.values()].find(({ probing }) => probing?.token === change.token)
      const committed = await bench.store.commit(change)
      if (out && change.type === 'end' && change.unstarted) bench.tables.holds.set(out.what, { ...out, until: 9e15 })
      return committed
    },
  }),
  'ramp-none': ending({
    after: (_row, _before, _end, { tables }) => {
      for (const { what, phase } of [...tables.holds.values()]) if (phase === 'admitting') tables.holds.delete(what)
    },
  }),
  'ramp-for-ever': (bench) => {
    const ramps = new Map<string, Hold>()
    return {
      claim: async (request) => {
        for (const hold of bench.tables.holds.values()) if (hold.phase === 'admitting') ramps.set(hold.what, hold)
        const claim = await bench.store.claim(request)
        for (const hold of ramps.values())
          if (!bench.tables.holds.has(hold.what)) bench.tables.holds.set(hold.what, hold)
        return claim
      },
    }
  },
  'probe-answer-ignored': ending({ change: (end) => without(end, 'admits') }),
  'told-waits-on': ending({ change: (end) => without(end, 'again') }),
  'quota-ignored': ({ store }) => ({
    commit: (change) => store.commit(change.type === 'answer' ? without(change, 'quotas') : change),
  }),
  // Counts on nobody else.
  'quota-alone': ({ store }) => ({
    commit: (change) =>
      store.commit(
        change.type === 'answer' && change.quotas
          ? { ...change, quotas: change.quotas.map((each) => ({ ...each, remaining: each.remaining + 1 })) }
          : change,
      ),
  }),
  'hold-opened-by-anyone': ending({
    after: (_row, _before, { state }, { tables }) => {
      if (state === 'succeeded') tables.holds.clear()
    },
  }),
  'probe-always': (bench) => ({
    commit: (change) =>
      bench.store.commit(
        change.type === 'end' && change.hold ? { ...change, hold: { ...change.hold, probe: true } } : change,
      ),
  }),
}
