import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { memory } from '../../src/stores/memory/index.ts'
import { storeContract } from '../../src/testing/store-contract/index.ts'
import { openMemory } from './memory-store.fixtures.ts'

storeContract(
  {
    name: 'memory',
    open: (clock) => openMemory(clock),
    skip: [
      {
        law: 'acknowledged means durable: all is there after closing and opening again',
        reason: 'everything is gone with the process',
        instead: async (world) => {
          await world.submit()
          assert.deepEqual((await memory({ clock: world.clock }).find({ limit: 10 })).runs, [])
        },
      },
    ],
  },
  { describe, test },
)
