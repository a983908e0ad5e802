/**
 * Bar charts of a series as plain SVG, one file per question, for docs/images/. Colours work on light and dark pages.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Results, summary } from './results.ts'

const FOLDER = join(import.meta.dirname, '../../docs/images')

interface Chart {
  readonly file: string
  readonly title: string
  readonly unit: string
  readonly workload: string
  readonly figure: string
  readonly digits?: number
}

const CHARTS: readonly Chart[] = [
  {
    file: 'process',
    title: 'No-op runs processed, concurrency 10',
    unit: 'runs per second',
    workload: 'w1',
    figure: 'process',
  },
  {
    file: 'submit',
    title: 'Single submits, 100 callers',
    unit: 'acknowledged submits per second',
    workload: 'singles',
    figure: 'submits',
  },
  {
    file: 'fail-once',
    title: 'Runs that fail once, then succeed',
    unit: 'runs per second',
    workload: 'w2',
    figure: 'runs',
  },
  {
    file: 'pickup',
    title: 'From submit to the start of the handler, idle worker',
    unit: 'milliseconds, median; shorter is better',
    workload: 'pickup',
    figure: 'p50Ms',
    digits: 2,
  },
]

const [WIDTH, LABELS, ROW, BAR, TOP, END] = [760, 260, 30, 18, 58, 90]
const COLOUR = { ours: '#d9480f', limit: '#868e96', peer: '#4c6ef5' }

export function drawCharts(results: Results): void {
  mkdirSync(FOLDER, { recursive: true })
  for (const chart of CHARTS) {
    const svg = draw(results, chart)
    if (svg !== undefined) writeFileSync(join(FOLDER, `perf-${chart.file}.svg`), svg)
  }
}

function draw(results: Results, { title, unit, workload, figure, digits = 0 }: Chart): string | undefined {
  const bars = Object.entries(results.contenders).flatMap(([id, { name }]) => {
    const found = summary(results, workload, id, figure)
    return found ? [{ id, name, value: found.median }] : []
  })
  if (bars.length === 0) return undefined
  const most = Math.max(...bars.map(({ value }) => value))
  const room = WIDTH - LABELS - END
  const number = (value: number) =>
    value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
  const rows = bars.map(({ id, name, value }, index) => {
    const y = TOP + index * ROW
    const width = Math.max(1, (value / most) * room)
    const middle = y + BAR / 2 + 4
    const bold = id.startsWith('reprise') ? ' font-weight="600"' : ''
    return [
      `  <text x="${LABELS - 10}" y="${middle}" text-anchor="end"${bold}>${escaped(name)}</text>`,
      `  <rect x="${LABELS}" y="${y}" width="${width.toFixed(1)}" height="${BAR}" rx="2" fill="${colourOf(id)}"/>`,
      `  <text x="${(LABELS + width + 6).toFixed(1)}" y="${middle}"${bold}>${number(value)}</text>`,
    ].join('\n')
  })
  const height = TOP + bars.length * ROW + 10
  const words = bars.map(({ name, value }) => `${name} ${number(value)}`).join('; ')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escaped(`${title}, ${unit}: ${words}`)}" font-family="system-ui, sans-serif" font-size="13">
  <style>text { fill: #212529 } .quiet { fill: #5c636a } @media (prefers-color-scheme: dark) { text { fill: #e9ecef } .quiet { fill: #adb5bd } }</style>
  <text x="0" y="18" font-size="16" font-weight="600">${escaped(title)}</text>
  <text x="0" y="38" class="quiet">${escaped(`${unit}; ${results.startedAt.slice(0, 10)}, medians of ${results.repeats}`)}</text>
${rows.join('\n')}
</svg>
`
}

const colourOf = (id: string): string =>
  id.startsWith('reprise') ? COLOUR.ours : id.startsWith('raw') ? COLOUR.limit : COLOUR.peer

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
