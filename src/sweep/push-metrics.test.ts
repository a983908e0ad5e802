import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { pushMetrics } from './push-metrics.ts'

let stop = () => {}
afterEach(() => stop())

async function gateway(status: number): Promise<{ readonly host: string; readonly asked: IncomingMessage[] }> {
  const asked: IncomingMessage[] = []
  const server = createServer((request, answer) => {
    asked.push(request)
    request.resume().on('end', () => answer.writeHead(status).end('no'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stop = () => void server.close()
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

it('credentials of the address go as a header, and stand in no error', async () => {
  const { host, asked } = await gateway(202)
  await pushMetrics(`http://bob:can%40ary@${host}/gate/`, 'x 1\n')
  expect(asked[0]).toMatchObject({
    method: 'PUT',
    url: '/gate/metrics/job/retry-job',
    headers: { authorization: `Basic ${Buffer.from('bob:can@ary').toString('base64')}` },
  })
  await pushMetrics(`http://${host}`, 'x 1\n')
  expect(asked[1]?.headers.authorization).toBeUndefined()
  stop()
  const refused = await gateway(401)
  const pushing = pushMetrics(`http://bob:canary@${refused.host}`, 'x 1\n')
  await expect(pushing).rejects.toThrow(/did not take the metrics: it answered 401: no\./)
  await expect(pushing).rejects.not.toThrow(/canary/)
})
