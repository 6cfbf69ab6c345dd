import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after, test } from 'node:test'
import { createClient } from '@redis/client'
import { countScript, createRedisLimiter } from '../../../src/auth/rate-limit/rate-limit-redis.ts'
import { systemClock } from '../../../src/base/clock.ts'
import { assertNeverMoreThan } from '../../support/sliding-window.ts'

// Redis is optional for the service and so for its tests: these are here only where the program is installed.
const installed = spawnSync('redis-server', ['--version']).status === 0
const redisTest = installed ? test : () => {}
const suffix = '(with redis-server)'

let running: ChildProcess | undefined
const open: { close(): Promise<void> }[] = []
after(async () => {
  running?.kill('SIGKILL')
  for (const limiter of open) await limiter.close()
})
const port = await freePort()
const url = `redis://127.0.0.1:${port}`
if (installed) await startRedis()

function limiter() {
  const lines: string[] = []
  const note = (message: string) => lines.push(message)
  const made = createRedisLimiter({ url, clock: systemClock, log: { warn: note, info: note } })
  open.push(made)
  return { ...made, lines }
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 1000; attempt++) {
    if (await isSo()) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  assert.fail('did not happen within 10 s')
}

redisTest(`a storm on two nodes is accepted up to the limit and not one more ${suffix}`, async () => {
  const [one, two] = [limiter(), limiter()]
  await until(() => sharedBy(one, two))
  const key = `test:${randomUUID()}`
  const storm = Array.from({ length: 150 }, () => [one.take(key, 100), two.take(key, 100)]).flat()
  const answers = await Promise.all(storm)
  assert.equal(answers.filter((answer) => answer.allowed).length, 100)
  for (const answer of answers) {
    if (!answer.allowed) assert.ok(answer.retryAfterSeconds >= 59 && answer.retryAfterSeconds <= 61)
  }
})

redisTest(`by the time of Redis no window holds more than the limit, and 97 % of it is used ${suffix}`, async () => {
  const client = createClient({ url, scripts: { count: countScript } })
  await client.connect()
  // The same script with 2 ms slots: a window of 480 ms instead of a minute.
  const [limit, slotMs, slotsHeld] = [50, 2, 241]
  const acceptedMs: number[] = []
  let startMs = 0
  let nowMs = 0
  const windows = 4
  while (nowMs - startMs < windows * 480) {
    const counted = await client.count(`test:slots`, limit, slotMs, slotsHeld)
    startMs ||= counted.atMs
    nowMs = counted.atMs
    if (counted.allowed) acceptedMs.push(counted.atMs)
    else assert.ok(counted.waitMs > 0 && counted.waitMs <= 482, `${counted.waitMs}`)
  }
  assertNeverMoreThan(limit, acceptedMs, 480)
  assert.ok(acceptedMs.length >= 0.97 * limit * windows, `${acceptedMs.length} of ${limit * windows}`)
  client.destroy()
})

redisTest(
  `without Redis each node counts for itself, nothing fails, and it comes back by itself ${suffix}`,
  async () => {
    const [one, two] = [limiter(), limiter()]
    await until(() => sharedBy(one, two))
    const key = `test:${randomUUID()}`
    for (let request = 0; request < 10; request++) await one.take(key, 20)
    running?.kill('SIGKILL')
    await once(running as ChildProcess, 'exit')
    const answers = await Promise.all(Array.from({ length: 60 }, () => one.take(key, 20)))
    assert.equal(answers.filter((answer) => answer.allowed).length, 10, 'what this node counted before still counts')
    assert.ok((await two.take(key, 20)).allowed)
    assert.equal(one.lines.filter((line) => line.startsWith('Redis unavailable')).length, 1)
    await startRedis()
    await until(() => sharedBy(one, two))
    assert.ok(one.lines.at(-1)?.startsWith('Redis restored'))
  },
)

redisTest(`a Redis that hangs holds no request up for long ${suffix}`, async () => {
  const [one, two] = [limiter(), limiter()]
  await until(() => sharedBy(one, two))
  running?.kill('SIGSTOP')
  const begunMs = performance.now()
  for (let request = 0; request < 20; request++) assert.ok((await one.take('test:hang', 100)).allowed)
  const waitedMs = performance.now() - begunMs
  assert.ok(waitedMs > 200 && waitedMs < 3000, `${waitedMs} ms`)
  running?.kill('SIGCONT')
})

/** Whether a unit taken on one node is seen by the other. */
async function sharedBy(one: ReturnType<typeof limiter>, two: ReturnType<typeof limiter>): Promise<boolean> {
  const key = `test:${randomUUID()}`
  await one.take(key, 2)
  return (await two.take(key, 2)).remaining === 0
}

async function startRedis(): Promise<void> {
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  running = spawn('redis-server', options, { stdio: 'ignore' })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address !== null ? address.port : 0
}
