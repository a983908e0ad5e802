import { afterAll, describe, test } from 'vitest'
import { storeContract } from '../../src/testing/store-contract/index.ts'
import { SqliteFiles } from './sqlite-store.fixtures.ts'

const files = new SqliteFiles()
afterAll(() => files.remove())

storeContract({ name: 'sqlite', open: (clock) => files.open(clock) }, { describe, test })
