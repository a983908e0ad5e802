/**
 * Configuration for people and scripts: one row per setting, with its value and where that came from.
 * What it gets is masked already; it only words it.
 */
import { briefDuration } from '../time/duration.ts'
import type { ConfigEntry } from './layers.ts'
import type { ResolvedConfig } from './resolve-config.ts'

export interface ConfigRow {
  readonly name: string
  /** As people read it: `30 s`, `not set`, `kept for ever`. */
  readonly value: string
  readonly origin: string
  /** The variable and the flag that would override it. */
  readonly env?: string
  readonly flag?: string
}

export function printConfig({ entries }: Pick<ResolvedConfig, 'entries'>): readonly ConfigRow[] {
  return entries.map(({ name, origin, env, flag, value }) => ({
    name,
    value: worded(name, value),
    origin,
    ...(env === undefined ? {} : { env }),
    ...(flag === undefined ? {} : { flag }),
  }))
}

function worded(name: string, value: ConfigEntry['value']): string {
  if (value === undefined) return /^retention\..*Ms$/.test(name) ? 'kept for ever' : 'not set'
  return name.endsWith('Ms') && typeof value === 'number' ? briefDuration(value) : String(value)
}
