/**
 * `--rules`: a module with rules of the user's own, as its default export or as `rules`.
 * The module is the user's code and runs as such; the failure room checks what it exports.
 */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { defineRules, isRuleSet, type RuleInput, type RuleSet } from '../failure/define-rules.ts'
import { usageError } from './cli-error.ts'
import { shown } from './terminal/text.ts'

export async function rulesFrom(path: string, cwd: string): Promise<RuleSet> {
  let module: { readonly default?: unknown; readonly rules?: unknown }
  try {
    module = await import(pathToFileURL(resolve(cwd, path)).href)
  } catch (cause) {
    throw usageError(`The rules in ${shown(path)} cannot be loaded.`, undefined, cause)
  }
  const exported = module.default ?? module.rules
  if (isRuleSet(exported)) return exported
  if (exported === undefined) {
    throw usageError(`${shown(path)} exports no rules.`, 'Export them as default: `export default defineRules([…])`.')
  }
  try {
    return defineRules(exported as readonly RuleInput[])
  } catch (cause) {
    throw usageError(`The rules in ${shown(path)} cannot be used.`, undefined, cause)
  }
}
