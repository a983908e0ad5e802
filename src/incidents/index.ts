/**
 * The face of this room: what breaches ask of people, and how others hear of it.
 */
export { type Breach, breachesOf, breachText, type Sighting } from './breach.ts'
export { foldIncidents, type Incident, type IncidentState, type Late, type LogLine, owedNext } from './fold.ts'
export {
  createIncidents,
  type IncidentList,
  type Incidents,
  type IncidentsOptions,
  isLate,
  type Looked,
} from './incidents.ts'
export type { IncidentMessage } from './message.ts'
export { hearExhaustion, sightingsOfPass, sightingsOfStore } from './sightings.ts'
export { HEADERS, sign, verify } from './signature.ts'
export { runbookOf, TIERS, type Tier, type TierRule, TRIGGER_RULES, type Trigger } from './tiers.ts'
export { submitMessage, webhookOut, webhookTask } from './webhook.ts'
export { checkWebhook, shownUrl, type Webhook } from './webhook-address.ts'
