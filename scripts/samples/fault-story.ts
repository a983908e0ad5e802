/**
 * What goes wrong in the demonstration: of 48 invoices 31 are right at once, and the others need each recourse there is.
 * INV-014 and INV-036 stand in no script: their scans are damaged, and only the picture shows what the text lost.
 */
import type { FaultPlan } from '../../src/sim/fault-plan.ts'
import { EMPTY } from './document.ts'

export const STORY: FaultPlan = {
  latencyMs: [350, 1_400],
  models: { pro: { latencyMs: [900, 2_400] } },
  script: {
    // Waited: told to, overloaded, cut off.
    'INV-005': [{ fault: 'rate-limit', retryAfter: '3s' }, 'ok'],
    'INV-012': ['overloaded', 'ok'],
    'INV-019': ['reset', 'ok'],
    'INV-026': ['overloaded', 'overloaded', 'ok'],
    'INV-037': [{ fault: 'rate-limit', retryAfter: '2s' }, 'ok'],
    // Repaired here: no second call.
    'INV-009': ['fenced'],
    'INV-023': ['sloppy'],
    'INV-040': ['prose'],
    // Asked again.
    'INV-028': ['wrong-net', 'ok'],
    'INV-034': ['truncated', 'ok'],
    // The stronger model.
    'INV-031': { flash: ['wrong-net'], pro: ['ok'] },
    'INV-039': { flash: ['wrong-total-anew', 'missing-fields', 'wrong-total-anew'], pro: ['ok'] },
    // A person.
    'INV-017': ['safety'],
    'INV-042': { flash: ['wrong-total-anew'], pro: ['wrong-total'] },
    // Nothing helps.
    [EMPTY]: ['no-pages'],
  },
}
