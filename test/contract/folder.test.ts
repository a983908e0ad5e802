import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, test } from 'vitest'
import { folder } from '../../src/artifacts/folder/index.ts'
import { artifactsContract } from '../../src/testing/artifacts-contract.ts'

const place = mkdtempSync(join(tmpdir(), 'reprise-artifacts-'))
afterAll(() => rmSync(place, { recursive: true, force: true }))
let opened = 0

artifactsContract(
  {
    name: 'folder',
    open: () => {
      opened += 1
      const parent = join(place, String(opened))
      mkdirSync(parent)
      writeFileSync(join(parent, 'secret'), 'nobody may read or change this')
      const root = join(parent, 'root')
      mkdirSync(root)
      return {
        artifacts: folder({ root }),
        reopen: () => folder({ root }),
        // An artifact is a folder with its bytes under its own name.
        corrupt: (uri) => {
          const path = uri.replace('folder:', '').split('/')
          appendFileSync(join(root, `${path.join('/')}@`, path.at(-1) ?? ''), 'x')
        },
        outside: () =>
          readdirSync(parent, { recursive: true })
            .map(String)
            .filter((name) => !name.includes('@tmp'))
            .sort(),
      }
    },
  },
  { describe, test },
)
