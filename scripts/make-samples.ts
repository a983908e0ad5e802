/**
 * Writes samples/: 48 invoices, their right answers and the fault script of the demonstration: `node scripts/make-samples.ts`.
 * Everything follows from one seed; the pictures are drawn by poppler's pdftoppm.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EMPTY, type SampleDocument, sampleDocuments } from './samples/document.ts'
import { STORY } from './samples/fault-story.ts'
import { textPdf } from './samples/pdf.ts'
import { printed } from './samples/print.ts'

const FOLDER = fileURLToPath(new URL('../samples/', import.meta.url))
const INVOICES = join(FOLDER, 'invoices')
const DOTS_PER_INCH = '96'

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

function picture(document: SampleDocument): Buffer {
  const base = join(tmpdir(), `reprise-sample-${document.id}-${process.pid}`)
  writeFileSync(`${base}.pdf`, textPdf(printed(document)))
  execFileSync('pdftoppm', ['-r', DOTS_PER_INCH, '-mono', '-png', '-singlefile', `${base}.pdf`, base])
  const bytes = readFileSync(`${base}.png`)
  for (const ending of ['pdf', 'png']) rmSync(`${base}.${ending}`)
  return bytes
}

function writeDocument(document: SampleDocument, images: Record<string, string>): void {
  const path = (ending: string) => join(INVOICES, `${document.id}.${ending}`)
  const text = printed(document)
  if (document.form === 'png') {
    const bytes = picture(document)
    images[sha256(bytes)] = text
    writeFileSync(path('png'), bytes)
    writeFileSync(path('txt'), printed(document, true))
  } else if (document.form === 'pdf') {
    const bytes = textPdf(text)
    images[sha256(bytes)] = text
    writeFileSync(path('pdf'), bytes)
  } else writeFileSync(path(document.form === 'columns' ? 'txt' : 'md'), text)
}

const documents = sampleDocuments()
const images: Record<string, string> = {}
rmSync(INVOICES, { recursive: true, force: true })
mkdirSync(INVOICES, { recursive: true })
for (const document of documents) writeDocument(document, images)
writeFileSync(join(INVOICES, `${EMPTY}.md`), '')
const gold = documents.map(({ id, truth }) => JSON.stringify({ document: id, expected: truth }))
writeFileSync(join(FOLDER, 'expected.jsonl'), `${gold.join('\n')}\n`)
writeFileSync(join(FOLDER, 'faults.json'), `${JSON.stringify({ ...STORY, images }, null, 2)}\n`)
// The house's form for JSON, so that writing it again changes nothing.
execFileSync(fileURLToPath(new URL('../node_modules/.bin/biome', import.meta.url)), [
  'format',
  '--write',
  join(FOLDER, 'faults.json'),
])
console.log(`${documents.length + 1} documents in ${INVOICES}`)
