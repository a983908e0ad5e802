/**
 * Completes package-lock.json after `npm install`: npm leaves out optional packages of other platforms that the registry in use
 * does not carry, and `npm ci` then refuses the lock. Their versions are exact and their names tell the platform.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

interface Locked {
  readonly version?: string
  readonly dev?: boolean
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const file = fileURLToPath(new URL('../package-lock.json', import.meta.url))
const lock: { packages: Record<string, Locked> } = JSON.parse(readFileSync(file, 'utf8'))

const SYSTEM =
  /(android|darwin|freebsd|linux|openharmony|win32)-(arm64|arm|x64|ia32|ppc64|riscv64|s390x)(?:-(gnu|musl))?/

/** What npm would have read from the package itself. */
function platformOf(name: string): object {
  if (name.endsWith('-wasm32-wasi')) return { cpu: ['wasm32'] }
  const [, os, cpu, libc] = SYSTEM.exec(name) ?? []
  if (!os || !cpu)
    throw new Error(`${name} is not in the lock, and its name tells no platform: install it where it can be had.`)
  return { cpu: [cpu], ...(libc ? { libc: [libc === 'gnu' ? 'glibc' : 'musl'] } : {}), os: [os] }
}

const known = new Set(Object.keys(lock.packages).map((path) => path.split('node_modules/').at(-1)))
const added: Record<string, object> = {}
for (const { optionalDependencies = {}, dev } of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    if (known.has(name)) continue
    added[`node_modules/${name}`] = { version, ...platformOf(name), ...(dev ? { dev } : {}), optional: true }
  }
}

const packages = { ...lock.packages, ...added }
const sorted = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(file, `${JSON.stringify({ ...lock, packages: sorted }, null, 2)}\n`)
console.log(`${Object.keys(added).length} optional packages of other platforms added.`)
