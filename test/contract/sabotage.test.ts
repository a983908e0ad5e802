import { AssertionError } from 'node:assert/strict'
import { describe, expect, test } from 'vitest'
import { proveLaw, storeLaws } from '../../src/testing/store-contract/index.ts'
import { openMemory } from './memory-store.fixtures.ts'
import { openBroken, shelf } from './sabotage/shelf.ts'

describe('the contract is a guard that was seen red', () => {
  test('every law names a sabotage, every sabotage is named by a law, and no title is used twice', () => {
    const named = new Set(storeLaws.flatMap(({ catches }) => catches))
    expect([...named].filter((name) => !Object.hasOwn(shelf, name))).toEqual([])
    expect(Object.keys(shelf).filter((name) => !named.has(name))).toEqual([])
    expect(storeLaws.filter(({ catches }) => catches.length === 0)).toEqual([])
    expect(new Set(storeLaws.map(({ title }) => title)).size).toBe(storeLaws.length)
  })

  test('all laws are green on the intact store that the sabotages break', async () => {
    for (const law of storeLaws) await proveLaw(law, (clock) => openMemory(clock))
  })

  const table: string[] = []
  for (const [name, sabotage] of Object.entries(shelf)) {
    const laws = storeLaws.filter(({ catches }) => catches.includes(name))
    test(`${name} is caught by each law that names it`, async () => {
      for (const law of laws) {
        // Red means that the law said so: a proof that stumbles over something else has proved nothing.
        const proof = proveLaw(law, (clock) => openBroken(sabotage, clock))
        await expect(proof, `${law.subject}: ${law.title}`).rejects.toThrow(AssertionError)
        table.push(`${name.padEnd(30)} ${law.subject}: ${law.title}`)
      }
    })
  }

  test('the table of sabotages and the laws that went red on them', () => {
    console.log(table.join('\n'))
    expect(table.length).toBeGreaterThanOrEqual(Object.keys(shelf).length)
  })
})
