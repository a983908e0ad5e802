/**
 * Makes the advice of a BigQuery failure exact: it names the dataset, table or job that the message speaks of.
 * The kinds and codes are the classifier's; here only the sentence changes.
 */
import type { Failure } from '../../failure/failure.ts'

/** `project:dataset.table` or `project.dataset.table`, as messages spell it. The last part may be missing. */
const NAME = /(?:(?<project>[a-z][a-z0-9-]{4,29})[:.])?(?<dataset>\w{1,1024})(?:\.(?<table>[\w$-]{1,1024}))?/

const ACCESS = new RegExp(`access denied: (?<what>table|dataset|view|routine) ${NAME.source}`, 'i')
const MISSING = new RegExp(`not found: (?<what>table|dataset) ${NAME.source}`, 'i')
const PROJECT = /access denied: project (?<project>[\w:.-]{1,100})/i

export function adviseOn(failure: Failure): Failure {
  const advice = adviceFor(failure)
  return advice === undefined ? failure : { ...failure, advice }
}

function adviceFor({ code, message }: Failure): string | undefined {
  switch (code) {
    case 'bigquery.accessDenied': {
      const named = ACCESS.exec(message)?.groups
      if (named) return `Check permissions on dataset ${full(named)}: ${role(named['what'])} is missing there.`
      const project = PROJECT.exec(message)?.groups?.['project']
      return project === undefined
        ? undefined
        : `Check permissions in project ${project}: the role BigQuery Job User is missing there.`
    }
    case 'bigquery.notFound': {
      const named = MISSING.exec(message)?.groups
      if (!named) return undefined
      const { what = '', table } = named
      const missing = table === undefined ? full(named) : `${full(named)}.${table}`
      return `Check the name: ${what.toLowerCase()} ${missing} is not there, or lies in another location.`
    }
    default:
      return undefined
  }
}

const full = ({ project, dataset = '' }: Record<string, string | undefined>) =>
  project === undefined ? dataset : `${project}:${dataset}`

const role = (what: string | undefined) =>
  what?.toLowerCase() === 'dataset' ? 'the role that the message names' : 'the role BigQuery Data Viewer'
