import { test } from 'vitest'
import { runExample } from './flow-report-example.fixtures.ts'

test('one command, nothing else: three steps succeed, and the second answer is the report', () => runExample())
