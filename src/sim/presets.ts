/**
 * Fault plans by name, for a first look without a file of one's own.
 * The shares are round numbers for exercise and not a claim about any provider.
 */
import type { FaultPlan } from './fault-plan.ts'

const LATENCY = { latencyMs: [150, 600], models: { pro: { latencyMs: [400, 1_200] } } } as const

export const PRESETS = {
  /** Every answer is right and comes at once. */
  none: { latencyMs: [0, 0] },
  /** A good day. */
  calm: { ...LATENCY, rates: { overloaded: 0.01, 'rate-limit': 0.01, fenced: 0.02, 'wrong-total': 0.03 } },
  /** A day on which one is glad of retries. */
  rough: {
    latencyMs: [150, 600],
    rates: {
      'rate-limit': 0.05,
      overloaded: 0.05,
      internal: 0.01,
      reset: 0.02,
      truncated: 0.03,
      fenced: 0.04,
      prose: 0.02,
      'missing-fields': 0.04,
      'wrong-total-anew': 0.06,
      safety: 0.005,
    },
    models: {
      pro: {
        latencyMs: [400, 1_200],
        rates: { 'rate-limit': 0.03, overloaded: 0.04, reset: 0.01, 'wrong-total-anew': 0.015 },
      },
    },
  },
  /** Everything goes wrong, often. */
  storm: {
    latencyMs: [50, 3_000],
    rates: {
      'rate-limit': 0.12,
      overloaded: 0.12,
      internal: 0.04,
      'bad-gateway': 0.03,
      hang: 0.02,
      reset: 0.06,
      torn: 0.03,
      truncated: 0.06,
      fenced: 0.05,
      prose: 0.03,
      'no-json': 0.03,
      'missing-fields': 0.05,
      'wrong-total-anew': 0.06,
      empty: 0.02,
    },
  },
} as const satisfies Readonly<Record<string, FaultPlan>>

export type PresetName = keyof typeof PRESETS

export const PRESET_NAMES = Object.keys(PRESETS) as readonly PresetName[]
