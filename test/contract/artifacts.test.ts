import { AssertionError } from 'node:assert/strict'
import { describe, expect, test } from 'vitest'
import { artifactsContract, artifactsLaws, proveArtifactsLaw } from '../../src/testing/artifacts-contract.ts'
import { openMemoryArtifacts } from './memory-artifacts.fixtures.ts'
import { artifactsShelf, openBrokenArtifacts } from './sabotage/artifacts.ts'

artifactsContract({ name: 'memory', open: () => openMemoryArtifacts() }, { describe, test })

describe('the contract of Artifacts is a guard that was seen red', () => {
  test('every law names a sabotage, and every sabotage is named by a law', () => {
    const named = new Set(artifactsLaws.flatMap(({ catches }) => catches))
    expect([...named].sort()).toEqual(Object.keys(artifactsShelf).sort())
  })

  for (const [name, sabotage] of Object.entries(artifactsShelf)) {
    test(`${name} is caught by each law that names it`, async () => {
      for (const law of artifactsLaws.filter(({ catches }) => catches.includes(name))) {
        const proof = proveArtifactsLaw(law, () => openBrokenArtifacts(sabotage))
        await expect(proof, law.title).rejects.toThrow(AssertionError)
      }
    })
  }
})
