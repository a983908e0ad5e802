import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { expect, it } from 'vitest'
import { readFailure } from './envelope.ts'
import { actOn } from './operate.ts'
import { DAY, MINUTE, sweepWorld } from './sweep.fixtures.ts'

const schemaOf = (name: string): object =>
  JSON.parse(readFileSync(new URL(`../../schemas/${name}.schema.json`, import.meta.url), 'utf8'))

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false })
addFormats.default(ajv)
for (const name of ['document', 'event', 'failure-event']) ajv.addSchema(schemaOf(name))
const valid = (name: string, value: unknown): unknown => {
  const check = ajv.getSchema(`urn:reprise:${name}`)
  return check?.(value) === true ? [] : check?.errors
}

it('what the sweep writes and sends is what the schemas say', async () => {
  const { clock, source, sweep, bus, report, document } = await sweepWorld()
  await source.put('archives', [{ id: 'a', createdAt: clock.now() - 2 * DAY }])
  const look = async () => {
    const { document: body, marks, rev } = await document('a')
    expect(valid('document', { ...body, reprise: { ...marks, rev } })).toEqual([])
  }
  const { send } = bus
  bus.send = async (messages) => messages.map(() => 'unknown')
  await sweep.pass()
  await look()
  bus.send = send
  await clock.advance(3 * MINUTE)
  await sweep.pass()
  for (const { body } of bus.peek('parsing')) expect(valid('event', JSON.parse(body))).toEqual([])
  expect(bus.peek('parsing')).toHaveLength(1)
  await report('a')
  for (const { body } of bus.peek('parsing.failed')) expect(valid('failure-event', JSON.parse(body))).toEqual([])
  await sweep.pass()
  await look()
  await actOn(sweep, 'reset', { collection: sweep.collections[0]!, of: 'open' }, { by: 'ana', dryRun: false })
  await look()
})

it('what a schema refuses is not read as a failure either', () => {
  for (const body of ['{}', '{"data":{}}', '[]', '"x"', '{"data":{"archive_id":"a"}}']) {
    expect(valid('failure-event', JSON.parse(body))).not.toEqual([])
    expect(readFailure(body, 'm', 0)).toBeUndefined()
  }
})
