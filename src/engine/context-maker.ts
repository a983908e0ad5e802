/**
 * The seam through which other rooms add verbs to what handlers are given: they make the context, the engine only hands it on.
 * Verbs that are added are built on the ones that are there, so that the journal stays the only memory.
 */
import type { Context } from './context.ts'
import type { Execution } from './execution.ts'

export type ContextMaker = (execution: Execution, input: unknown, needs: Readonly<Record<string, unknown>>) => Context
