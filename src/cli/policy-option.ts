/**
 * `--policy`: the name of a preset, or a JSON file that says what differs from one.
 * The policy room checks every value; here only names and files are told apart.
 */
import { definePolicy, type Policy, type PolicyInput, presets } from '../policy/index.ts'
import { CliError, usageError } from './cli-error.ts'
import { readJson } from './read-json-file.ts'
import { shown } from './terminal/text.ts'
import { unknownChoice } from './word-option.ts'

const NAMES = Object.keys(presets)

export const POLICY_HELP = `a preset (${NAMES.join(', ')}), or a JSON file`

export async function policyFrom(value: string, cwd: string): Promise<Policy> {
  const preset = presetNamed(value)
  if (preset) return preset
  if (!/[./\\]/.test(value)) throw unknownChoice('policy', value, NAMES)
  const content = await readJson(value, cwd, (async function* () {})())
  try {
    if (typeof content !== 'object' || content === null || Array.isArray(content)) {
      throw new RangeError('policy: a JSON object is needed')
    }
    const { base, ...input } = content as Record<string, unknown>
    if (base === undefined) return definePolicy(input as PolicyInput)
    const named = typeof base === 'string' ? presetNamed(base) : undefined
    if (!named)
      throw new RangeError(`policy.base: ${shown(String(base))} is not a preset; allowed are ${NAMES.join(', ')}`)
    return definePolicy(input as PolicyInput, named)
  } catch (cause) {
    if (cause instanceof CliError) throw cause
    throw usageError(`The policy in ${shown(value)} cannot be used.`, undefined, cause)
  }
}

function presetNamed(name: string): Policy | undefined {
  return Object.hasOwn(presets, name) ? presets[name as keyof typeof presets] : undefined
}
