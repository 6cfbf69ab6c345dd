import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type DeliveryStep, deliverySteps } from '../../../src/webhooks/deliver/queue.ts'
import { newFolder } from '../../support/folder.ts'
import { type Program, startProgram } from '../../support/program/program.ts'
import type { DeliveringTask } from '../../support/webhooks/delivering-program.ts'
import {
  brokenPromises,
  type DeliveryHistory,
  type Kill,
  readGivenUp,
  type WrittenEvent,
} from '../../support/webhooks/delivery-history.ts'
import { type DeliveryWorld, deliveryWorld, receiversOf } from '../../support/webhooks/delivery-world.ts'
import { type Receivers, startReceivers } from '../../support/webhooks/receivers.ts'

// More on demand: DELIVERY_CRASH_ROUNDS=20 takes some minutes.
const rounds = Number(process.env.DELIVERY_CRASH_ROUNDS ?? 1)
const program = fileURLToPath(new URL('../../support/webhooks/delivering-program.ts', import.meta.url))
const time = { startMs: Date.now(), speed: 30 }
const subjectCount = 8
const eventsEach = 2

for (const step of deliverySteps) {
  test(`a worker that dies after "${step}" loses no event, and the next one goes on in order`, async (t) => {
    const crash = await prepare()
    for (let round = 0; round < rounds; round++) await dieOnce(crash, step, 1 + (round % 3))
    const last = await startWorker(crash, null)
    await allTaken(crash)
    await allWritten(crash)
    last.kill('SIGTERM')
    assert.equal(await last.gone, 0)
    const history: DeliveryHistory = {
      ...crash,
      arrivals: await crash.receiving.arrivals(),
      givenUp: readGivenUp(crash.givenUpFile),
    }
    await crash.receiving.stop()
    assert.deepEqual(brokenPromises(history), [])
    assert.ok(crash.deaths > 0, 'the step was passed')
    t.diagnostic(`${crash.deaths} kills`)
    await assertSettled(crash)
  })
}

interface Crash {
  world: DeliveryWorld
  workspaceId: string
  receivers: DeliveryHistory['receivers']
  receiving: Receivers
  subjects: { id: string; n: number }[]
  written: WrittenEvent[]
  kills: Kill[]
  givenUpFile: string
  /** Kills at the step itself. */
  deaths: number
}

async function prepare(): Promise<Crash> {
  const world = await deliveryWorld()
  const plain = receiversOf([[1, { kind: 'stumbling' }]])
  const receiving = await startReceivers({ receivers: plain, time })
  const workspaceId = await world.addWorkspace()
  await world.addEndpoint(workspaceId, receiving.url(0), plain[0]?.secret ?? '')
  const subjects = Array.from({ length: subjectCount }, () => ({ id: randomUUID(), n: 0 }))
  const receivers = plain.map((one) => ({ ...one, workspaceId }))
  const givenUpFile = join(await newFolder(), 'given-up')
  return { world, workspaceId, receivers, receiving, subjects, written: [], kills: [], givenUpFile, deaths: 0 }
}

async function dieOnce(crash: Crash, dieAfter: DeliveryStep, passing: number): Promise<void> {
  await writeSome(crash)
  const victim = await startWorker(crash, { step: dieAfter, passing })
  // One that comes through without so many passings of the step gets more to do.
  while ((await Promise.race([victim.gone, allDone(crash, victim)])) === 'done') await writeSome(crash)
  crash.kills.push({ worker: victim.pid, at: performance.timeOrigin + performance.now() })
  assert.equal(await victim.gone, 'SIGKILL')
  crash.deaths++
}

async function writeSome({ world, workspaceId, subjects, written }: Crash): Promise<void> {
  for (let n = 0; n < subjectCount * eventsEach; n++) {
    const subject = subjects[n % subjectCount]
    if (subject !== undefined) written.push(await world.write(workspaceId, subject.id, subject.n++))
  }
}

async function startWorker({ world, givenUpFile }: Crash, dieAfter: DeliveringTask['dieAfter']): Promise<Program> {
  const task: DeliveringTask = { database: world.options, time, timeoutMs: 3_000, givenUpFile, dieAfter }
  const worker = startProgram([program, JSON.stringify(task)])
  await worker.said('ready')
  return worker
}

async function allTaken({ receiving, written }: Crash): Promise<'taken'> {
  await receiving.taken([{ receiver: 0, events: written.length }])
  return 'taken'
}

/** Everything is taken and written, and nobody holds the queue any more; never if the worker dies before. */
async function allDone(crash: Crash, worker: Program): Promise<'done'> {
  let isGone = false
  worker.gone.then(() => {
    isGone = true
  })
  const { db } = crash.world
  for (; !isGone; await sleep(50)) {
    const [row] = await db.sql<{ delivered: number; held: boolean }[]>`
      select
        (
          select count(*)::integer
          from webhook_deliveries d
          where d.workspace_id = q.workspace_id
            and d.state = 'delivered'
        ) as delivered,
        q.lease_owner is not null as held
      from webhook_queues q
      where q.workspace_id = ${crash.workspaceId}`
    if (row?.delivered === crash.written.length && !row.held) return 'done'
  }
  return new Promise(() => {})
}

/** What a worker had sent and could not write down is sent again by the next: the test's own time limit bounds this. */
async function allWritten({ world, workspaceId, written }: Crash): Promise<void> {
  for (;;) {
    const [row] = await world.db.sql<{ count: number }[]>`
      select count(*)::integer as count
      from webhook_deliveries
      where workspace_id = ${workspaceId}
        and state = 'delivered'`
    if (row?.count === written.length) return
    await sleep(50)
  }
}

/** Nothing waits, and each event has one row that says that it was taken. */
async function assertSettled({ world, workspaceId, written }: Crash): Promise<void> {
  const [queue] = await world.db.sql`
    select q.cursor, q.lease_owner, q.retry_at, q.failures_in_a_row
    from webhook_queues q
    where q.workspace_id = ${workspaceId}`
  assert.deepEqual(queue, { cursor: written.length, lease_owner: null, retry_at: null, failures_in_a_row: 0 })
  const rows = await world.db.sql`
    select state, count(*) as count
    from webhook_deliveries
    where workspace_id = ${workspaceId}
    group by state`
  assert.deepEqual([...rows], [{ state: 'delivered', count: written.length }])
}
