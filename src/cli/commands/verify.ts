/**
 * `reprise verify`: checks the store's invariants and tells each breach; exit code 1 when there is one.
 */
import { verifyStore } from '../../ops/index.ts'
import type { Register } from '../frame.ts'
import { withExamples } from '../help.ts'
import { jsonLine } from '../json-line.ts'
import { withStore, withStoreFlags } from '../open-store.ts'
import { STATE_SIGNS } from '../terminal/palette.ts'
import { table } from '../terminal/table.ts'
import { wrap } from '../terminal/text.ts'

const SHOWN_MAX = 100
/** A sign and the space after it. */
const SIGN_COLUMNS = 2

export const registerVerify: Register = (program, frame) => {
  const command = program
    .command('verify')
    .helpGroup('Operate')
    .summary('checks the store’s invariants')
    .description(
      'Checks everything that must hold in the store and can be read from it: legal states, leases, ledgers that equal their history, keys, journal, and the database’s own check. It repairs nothing.',
    )
    .option('--decisions', 'compute every stored decision again as well')
  withStoreFlags(command).action((options: { readonly decisions?: boolean }) =>
    withStore(command, frame, { missing: 'refuse' }, async ({ store, where }) => {
      const { json, out } = frame.terminal()
      const { findings, recomputed } = await verifyStore(store, { decisions: options.decisions ?? false })
      if (findings.length > 0) frame.fail()
      if (json) return out.lines(jsonLine({ store: where, findings, ...(recomputed ? { recomputed } : {}) }))
      const again = recomputed ? `; ${recomputed.decisions} decisions of ${recomputed.runs} runs computed again` : ''
      if (findings.length === 0) {
        const [first = '', ...rest] = wrap(out.text(`${where} is sound${again}.`), out.columns - SIGN_COLUMNS)
        const indent = ' '.repeat(SIGN_COLUMNS)
        return out.lines(`${out.sign(STATE_SIGNS.succeeded)} ${first}`, ...rest.map((line) => indent + line))
      }
      const rows = findings
        .slice(0, SHOWN_MAX)
        .map(({ run, law, found }) => [out.text(run ?? ''), out.text(law), out.text(found)])
      out.lines(
        `${out.sign(STATE_SIGNS.failed)} ${out.text(`${findings.length} ${findings.length === 1 ? 'finding' : 'findings'} in ${where}${again}.`)}`,
        '',
        ...table(out, [{ header: 'run' }, { header: 'law' }, { header: 'found', flexible: true }], rows),
        ...(findings.length > SHOWN_MAX ? [`and ${findings.length - SHOWN_MAX} more; --json has them all`] : []),
      )
    }),
  )
  withExamples(command, [
    { line: 'reprise verify', says: 'after a crash, or before a backup' },
    { line: 'reprise verify --decisions', says: 'and whether every decision follows from its inputs' },
  ])
}
