/**
 * Prints the tables of the last series again and, with `--docs`, writes them and the charts into the documentation.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { drawCharts } from './charts.ts'
import type { Results } from './results.ts'
import { tables, writeDocs } from './tables.ts'

const file = join(import.meta.dirname, '../results/latest.json')
const results = JSON.parse(readFileSync(file, 'utf8')) as Results
console.log(tables(results))
if (process.argv.includes('--docs')) {
  drawCharts(results)
  writeDocs(results)
}
