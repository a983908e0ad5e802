/**
 * What each state, kind and act looks like: a glyph, its ASCII form and a colour; the word stands always beside it.
 * Colour is the third carrier after word and shape, so nothing here may be told by colour alone.
 */
import type { Kind } from '../../failure/failure.ts'
import type { StateWord } from '../../run/run.ts'
import type { Hue } from './paint.ts'

export interface Sign {
  readonly glyph: string
  readonly ascii: string
  readonly hue: Hue
}

const sign = (glyph: string, ascii: string, dark: string, light: string, basic: number): Sign => ({
  glyph,
  ascii,
  hue: { dark, light, basic },
})

export const STATE_SIGNS: Readonly<Record<StateWord, Sign>> = {
  blocked: sign('⊟', '[]', '#8b929d', '#646872', 90),
  ready: sign('○', 'o', '#8b929d', '#646872', 90),
  running: sign('●', '*', '#78adff', '#2360c4', 94),
  waiting: sign('◔', '..', '#e3b341', '#855b00', 33),
  review: sign('◆', '@', '#bda2f7', '#6a3fb5', 95),
  succeeded: sign('✓', '+', '#5cc98d', '#1b7a4b', 32),
  failed: sign('✗', 'x', '#ff8174', '#b3261e', 91),
  cancelled: sign('–', '-', '#8b929d', '#646872', 90),
}

export const KIND_SIGNS: Readonly<Record<Kind, Sign>> = {
  transient: sign('~', '~', '#5b97d8', '#3c86e4', 34),
  rate_limited: sign('‖', '||', '#f2c94f', '#946400', 33),
  syntax: sign('{}', '{}', '#7f69ea', '#6551d0', 94),
  semantic: sign('≠', '!=', '#cc5f99', '#d64fa9', 35),
  refused: sign('⊘', '(/)', '#d3a0fa', '#6b2d8e', 95),
  final: sign('■', '#', '#e0532a', '#a3191b', 31),
  conflict: sign('⇄', '<>', '#c9d1da', '#55606a', 37),
  exhausted: sign('∅', '0/', '#a9b047', '#828d33', 93),
  interrupted: sign('↯', '/', '#3cb9ab', '#0b897b', 36),
}

/** A second take that helped: the repeat that gives the product its name. */
export const SECOND_TAKE: Sign = sign('↻', '>', '#45b37d', '#2f9464', 32)
