import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { type DeliveryStep, deliverySteps } from '../../../src/webhooks/deliver/queue.ts'
import type { Program } from '../../support/program/program.ts'
import { until } from '../../support/until.ts'
import { type DeliveryFaultTest, deliveryFaultTest, judge, realNow } from './delivery-fault-test.ts'

// DELIVERY_CRASH_ROUNDS=20 runs for some minutes.
const rounds = Number(process.env.DELIVERY_CRASH_ROUNDS ?? 1)

interface Crash extends DeliveryFaultTest {
  subjects: { id: string; n: number }[]
}

for (const step of deliverySteps) {
  test(`a worker crash after "${step}" loses no event, and the next worker continues in order`, async (t) => {
    const subjects = Array.from({ length: 8 }, () => ({ id: randomUUID(), n: 0 }))
    const crash: Crash = { ...(await deliveryFaultTest(['stumbling'])), subjects }
    for (let round = 0; round < rounds; round++) await dieOnce(crash, step, 1 + (round % 3))
    const last = await crash.startWorker()
    await crash.allTaken()
    await until(() => isSettled(crash), 'what was sent and could not be written down being sent again', 120_000, 50)
    last.kill('SIGTERM')
    assert.equal(await last.exited, 0)
    assert.deepEqual(judge(crash).broken, [])
    t.diagnostic(`${crash.kills.length} kills`)
  })
}

async function dieOnce(crash: Crash, step: DeliveryStep, passing: number): Promise<void> {
  await writeSome(crash)
  const victim = await crash.startWorker({ step, passing })
  // A worker that completes without reaching the step gets more events.
  while ((await Promise.race([victim.exited, allDone(crash, victim)])) === 'done') await writeSome(crash)
  crash.kills.push({ worker: victim.pid, at: realNow() })
  assert.equal(await victim.exited, 'SIGKILL')
}

async function writeSome({ workspaceIds: [workspaceId = ''], subjects, write }: Crash): Promise<void> {
  for (const subject of [...subjects, ...subjects]) await write(workspaceId, subject.id, subject.n++)
}

/** Resolves when everything is delivered; never if the worker dies first. */
async function allDone(crash: Crash, worker: Program): Promise<'done'> {
  let isGone = false
  worker.exited.then(() => {
    isGone = true
  })
  await until(async () => isGone || (await isSettled(crash)), 'the end of the worker or its work', 120_000, 50)
  return isGone ? new Promise(() => {}) : 'done'
}

/** Checks that nothing is pending, no lease is held, and each event has one delivered row. */
async function isSettled({ db, written, workspaceIds: [workspaceId = ''] }: Crash): Promise<boolean> {
  const [row] = await db.sql`
    select q.cursor, q.lease_owner, q.retry_at, q.failures_in_a_row as failures, count(d) as rows,
      count(d) filter (where d.state = 'delivered') as delivered
    from webhook_queues q
    left join webhook_deliveries d using (workspace_id, endpoint_id)
    where q.workspace_id = ${workspaceId}
    group by q.workspace_id, q.endpoint_id`
  const { lease_owner, retry_at, failures, ...counts } = row ?? assert.fail()
  const isFree = lease_owner === null && retry_at === null && failures === 0
  return isFree && Object.values(counts).every((count) => Number(count) === written.length)
}
