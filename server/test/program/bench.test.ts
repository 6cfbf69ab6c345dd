import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { type Comparison, compare } from '../../../bench/comparison.ts'
import { requestBytes } from '../../../bench/load.ts'

test('two products are never measured by the same request, and the baseline has a request for each', async () => {
  await using product = await openPeer()
  await using other = await openPeer()
  await using baseline = await openPeer()
  const request = (n: number) => requestBytes('GET', `/${n}`, {})
  let verified = 0
  const contest: Comparison = {
    ...{ name: 'numbers', product: request, baseline: request },
    verify: async (answers) => {
      verified = answers
    },
  }
  const course = { product, other, baseline, postgres: process, rounds: 3, connections: 4, durationMs: 10, warmUpMs: 0 }
  const result = await compare(contest, course)

  const ofProducts = sorted([...product.asked, ...other.asked])
  assert.deepEqual(ofProducts, [...ofProducts.keys()])
  assert.equal(verified, ofProducts.length)
  assert.deepEqual(sorted(baseline.asked), [...baseline.asked.keys()])
  assert.ok(result.other !== null)
})

const sorted = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)

async function openPeer() {
  const asked: number[] = []
  const server = createServer((incoming, response) => {
    asked.push(Number(incoming.url?.slice(1)))
    response.end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()))
  return { asked, port, pid: process.pid, [Symbol.asyncDispose]: close }
}
