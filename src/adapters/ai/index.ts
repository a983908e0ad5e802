/**
 * The face of the adapters for models: `reprise/ai`.
 */
export { type FetchOptions, fetchWithReprise } from '../fetch/fetch-with-reprise.ts'
export { type AiOptions, repriseMiddleware, withReprise } from './middleware.ts'
