import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Db } from '../../../src/base/db.ts'
import type { OutgoingAnswer } from '../../../src/base/outgoing/guarded-fetch.ts'
import type { OutgoingRequest } from '../../../src/base/outgoing/http-exchange.ts'
import type { WorkerDeps } from '../../../src/webhooks/deliver/worker.ts'
import { type WebhookWorld, webhookWorld } from '../../support/webhooks/webhook-world.ts'

type Step =
  /** Events of these lanes, one commit each. */
  | { do: 'record'; lanes: number[] }
  /** Runs the worker; its first requests get these responses. */
  | { do: 'work'; answers: number[] }
  /** The process dies at this external step. */
  | { do: 'crash'; at: number; answers: number[] }
  /** The process is stopped at this request. */
  | { do: 'stop'; at: number; answers: number[] }
  | { do: 'wait'; seconds: number }

const answers = fc.array(fc.constantFrom(200, 200, 500, 0), { maxLength: 12 })
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('record' as const), lanes: fc.array(fc.nat(3), { minLength: 1, maxLength: 12 }) }),
    fc.record({ do: fc.constant('work' as const), answers }),
    fc.record({ do: fc.constant('crash' as const), at: fc.nat(25), answers }),
    fc.record({ do: fc.constant('stop' as const), at: fc.nat(8), answers }),
    fc.record({ do: fc.constant('wait' as const), seconds: fc.constantFrom(1, 5, 30, 120, 600) }),
  ),
  { minLength: 2, maxLength: 14 },
)

test('with random failures and crashes, nothing is lost, lanes keep their order and bodies do not change', async (t) => {
  let histories = 0
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const run = await playSteps(list)
      histories++
      assertNothingLost(run)
      assertOrder(run)
      assertSameBodies(run)
      assertTwiceOnlyAfterCrash(run)
    }),
    { numRuns: Number(process.env.MODEL_RUNS ?? 12), interruptAfterTimeLimit: 60_000, markInterruptAsFailure: false },
  )
  t.diagnostic(`${histories} histories`)
})

interface Run {
  /** Ids of the events of each lane, in order. */
  lanes: Map<number, string[]>
  requests: { id: string; body: string; isTaken: boolean }[]
  crashes: number
}

async function playSteps(list: readonly Step[]): Promise<Run> {
  const w = await webhookWorld()
  const subjects = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  const run: Run = { lanes: new Map(), requests: [], crashes: 0 }
  for (const step of list) {
    if (step.do === 'wait') w.clock.advance(step.seconds * 1000)
    if (step.do === 'work') await work(w, run, step.answers)
    if (step.do === 'crash') await crash(w, run, step.at, step.answers)
    if (step.do === 'stop') await stop(w, run, step.at, step.answers)
    if (step.do !== 'record') continue
    for (const lane of step.lanes) {
      const ids = run.lanes.get(lane) ?? []
      const recorded = await w.record(subjects[lane] ?? '', [{ lane, n: ids.length }])
      run.lanes.set(lane, [...ids, ...recorded])
    }
  }
  // Covers the remaining retry delays and probe pauses.
  for (let round = 0; round < 12; round++) {
    await work(w, run, [])
    w.clock.advance(3 * 3_600_000)
  }
  const left = (await w.deliveries()).filter(({ state }) => state !== 'delivered')
  assert.deepEqual(left, [])
  assert.equal((await w.queue()).cursor, [...run.lanes.values()].flat().length)
  return run
}

function outgoing(run: Run, script: readonly number[], onCall: () => void): WorkerDeps['outgoing'] {
  const left = [...script]
  return {
    call: async (request: OutgoingRequest): Promise<OutgoingAnswer> => {
      const status = left.shift() ?? 200
      onCall()
      run.requests.push({
        id: request.headers['webhook-id'] ?? '',
        body: String(request.body),
        isTaken: status === 200,
      })
      await new Promise((resolve) => setImmediate(resolve))
      if (status === 0) return { outcome: 'failed', error: 'timeout', code: 'timeout', wasSent: true, ms: 1 }
      return { outcome: 'answered', status, headers: {}, body: Buffer.alloc(0), isWhole: true, ms: 1 }
    },
  }
}

async function work(w: WebhookWorld, run: Run, script: readonly number[]): Promise<void> {
  await w.addWorker({ outgoing: outgoing(run, script, () => {}) }).drain()
}

async function stop(w: WebhookWorld, run: Run, at: number, script: readonly number[]): Promise<void> {
  let left = at
  let stopped = Promise.resolve()
  const onCall = () => {
    if (left-- === 0) stopped = worker.stop()
  }
  const worker = w.addWorker({ outgoing: outgoing(run, script, onCall) })
  await worker.drain()
  await stopped
}

/** A worker whose external calls all end at one point; statements that it has sent can still complete. */
async function crash(w: WebhookWorld, run: Run, at: number, script: readonly number[]): Promise<void> {
  const dead = Promise.withResolvers<never>()
  const crashed = Promise.withResolvers<void>()
  let left = at
  const reach = async () => {
    if (left-- > 0) return
    crashed.resolve()
    await dead.promise
  }
  const mortal = async <T>(work: Promise<T>): Promise<T> => {
    const result = await work
    await reach()
    return result
  }
  const db: Db = {
    ...w.db,
    tx: async (work) => {
      await reach()
      return mortal(w.db.tx(work))
    },
    statement: async (work, news) => {
      await reach()
      return mortal(w.db.statement(work, news))
    },
  }
  const way = outgoing(run, script, () => {
    if (left < 0) throw new Error('sent by the dead')
  })
  const call = async (request: OutgoingRequest) => {
    await reach()
    return mortal(way.call(request))
  }
  const worker = w.addWorker({ db, outgoing: { call } })
  await Promise.race([worker.drain(), crashed.promise])
  if (left >= 0) return
  run.crashes++
  // Waits for statements that it sent before it died.
  await w.db.sql`select 1`
  await w.expireLeases()
}

function assertNothingLost({ lanes, requests }: Run): void {
  const taken = new Set(requests.filter(({ isTaken }) => isTaken).map(({ id }) => id))
  for (const id of [...lanes.values()].flat()) assert.ok(taken.has(id), 'an event was lost')
}

function assertOrder({ lanes, requests }: Run): void {
  for (const ids of lanes.values()) {
    const firsts = [...new Set(requests.filter(({ id, isTaken }) => isTaken && ids.includes(id)).map(({ id }) => id))]
    assert.deepEqual(firsts, ids)
  }
}

function assertSameBodies({ requests }: Run): void {
  const bodies = new Map<string, string>()
  for (const { id, body } of requests) assert.equal(bodies.get(id) ?? bodies.set(id, body).get(id), body)
}

function assertTwiceOnlyAfterCrash({ requests, crashes }: Run): void {
  const counts = new Map<string, number>()
  for (const { id, isTaken } of requests) if (isTaken) counts.set(id, (counts.get(id) ?? 0) + 1)
  for (const count of counts.values()) assert.ok(count <= 1 + crashes, 'sent again without a crash')
}
