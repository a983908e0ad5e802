/**
 * For `node --import`: a process that imports `reprise` gets the source.
 */
import { registerHooks } from 'node:module'
import { faces } from './faces.ts'

const known = faces()

registerHooks({
  resolve: (specifier, context, next) => next(known.get(specifier) ?? specifier, context),
})
