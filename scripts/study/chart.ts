/**
 * The study's picture: right answers, money and wasted calls of each strategy as bars, one panel each.
 * It draws figures that it is given.
 */
export interface Bars {
  readonly title: string
  readonly unit: (value: number) => string
  readonly values: readonly number[]
}

const WIDTH = 860
const LABELS = 150
const PANEL_GAP = 28
const ROW = 30
const TOP = 64
const FONT = 'ui-sans-serif, system-ui, sans-serif'
/** As in the charts of docs/performance.md: they work on light and dark pages. */
const INK = '#868e96'
const BAR = '#4c6ef5'
const OWN = '#d9480f'

export function chart(title: string, names: readonly string[], panels: readonly Bars[]): string {
  const panelWidth = (WIDTH - LABELS - 24 - PANEL_GAP * (panels.length - 1)) / panels.length
  const height = TOP + names.length * ROW + 24
  const text = (x: number, y: number, words: string, more: string) =>
    `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${words.replaceAll('&', '&amp;')}</text>`
  const rows = names.map((name, row) => {
    const y = TOP + row * ROW + ROW / 2
    const isOwn = row === names.length - 1
    const weight = isOwn ? ' font-weight="700"' : ''
    const bars = panels.map(({ values, unit }, index) => {
      const left = LABELS + index * (panelWidth + PANEL_GAP)
      const value = values[row] ?? 0
      const length = (value / Math.max(...values, Number.MIN_VALUE)) * (panelWidth - 62)
      const bar = `<rect x="${left.toFixed(1)}" y="${(y - 8).toFixed(1)}" width="${Math.max(1, length).toFixed(1)}" height="16" rx="2" fill="${isOwn ? OWN : BAR}"/>`
      return bar + text(left + Math.max(1, length) + 6, y + 4.5, unit(value), `fill="${INK}"${weight}`)
    })
    return text(16, y + 4.5, name, `fill="${INK}"${weight}`) + bars.join('')
  })
  const heads = panels.map(({ title: head }, index) =>
    text(LABELS + index * (panelWidth + PANEL_GAP), TOP - 12, head, `fill="${INK}" font-size="12"`),
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${title}" font-family="${FONT}" font-size="13">
${text(16, 28, title, `fill="${INK}" font-size="15" font-weight="700"`)}
${heads.join('\n')}
${rows.join('\n')}
</svg>
`
}
