import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { type Contest, compete } from '../../../bench/contest.ts'
import { startMeter } from '../../../bench/cpu-time.ts'
import { requestBytes } from '../../../bench/load.ts'

const burntUs = 300_000
const burn = `while (process.cpuUsage().user + process.cpuUsage().system < ${burntUs});`
/** Time is counted in hundredths of a second, and to look at it takes some. */
const toleranceUs = 100_000

test('the CPU time of a request is that of the process, and of all children that another one has or had', async (t) => {
  if (process.platform !== 'linux') return t.skip('There is no /proc')
  const cpuEach = startMeter(process, process)
  const before = process.cpuUsage()
  spawnSync(process.execPath, ['-e', burn])
  const living = spawn(process.execPath, ['-e', `${burn} console.log('burnt'); setInterval(() => {}, 1000)`])
  await once(living.stdout, 'data')
  const { user, system } = process.cpuUsage(before)
  const each = cpuEach(2)
  living.kill('SIGKILL')

  assert(each !== null)
  assert(Math.abs(each.node * 2 - user - system) <= toleranceUs, `${each.node * 2} of ${user + system}`)
  const withChildren = user + system + 2 * burntUs
  assert(each.postgres * 2 >= withChildren - toleranceUs, `${each.postgres * 2} of at least ${withChildren}`)
})

test('two products are never asked for the same request, and the floor is asked for each of its own', async () => {
  await using product = await openPeer()
  await using other = await openPeer()
  await using floor = await openPeer()
  const request = (n: number) => requestBytes('GET', `/${n}`, {})
  let verified = 0
  const contest: Contest = {
    ...{ name: 'numbers', product: request, floor: request },
    verify: async (answers) => {
      verified = answers
    },
  }
  const course = { product, other, floor, postgres: process, rounds: 3, connections: 4, durationMs: 10, warmUpMs: 0 }
  const result = await compete(contest, course)

  const ofProducts = sorted([...product.asked, ...other.asked])
  assert.deepEqual(ofProducts, [...ofProducts.keys()])
  assert.equal(verified, ofProducts.length)
  assert.deepEqual(sorted(floor.asked), [...floor.asked.keys()])
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
