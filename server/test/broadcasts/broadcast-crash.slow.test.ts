import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sendDeps } from '../../src/app/inbox.ts'
import type { RunStep } from '../../src/base/run-step.ts'
import { batchOf } from '../../src/broadcasts/pacing.ts'
import { type BroadcastStep, broadcastSteps } from '../../src/broadcasts/send-due.ts'
import { setConsentOfPhones } from '../../src/inbox/consent/set-consent.ts'
import { type SendStep, sendSteps } from '../../src/inbox/send/send-deps.ts'
import { settleStrandedSends } from '../../src/inbox/send/settle-parts.ts'
import { type BroadcastWorld, broadcastWorld, minute } from './broadcast-world.ts'

// BROADCAST_CRASH_RECIPIENTS=5000 BROADCAST_CRASH_KILLS=5 takes some minutes.
const recipients = Number(process.env.BROADCAST_CRASH_RECIPIENTS ?? 600)
const killsPerStep = Number(process.env.BROADCAST_CRASH_KILLS ?? 1)
const perMinute = 2_400

class Killed extends Error {}

/** A node that dies after its nth pass of a step: from then on it does nothing more, not even in its error handling. */
function dyingNode(w: BroadcastWorld, at: BroadcastStep | SendStep, passes: number) {
  let left = passes
  let isDead = false
  const step = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    if (isDead) throw new Killed()
    const result = await work()
    if (name === at && --left === 0) isDead = true
    if (isDead) throw new Killed()
    return result
  }
  const node = w.nodeWith(step as RunStep<BroadcastStep>, step as RunStep<SendStep>)
  return { drain: () => node.drain().catch(() => {}) }
}

/** Creates leads with the statement of bulk upserts, a hundred at once. */
async function addMany(w: BroadcastWorld, count: number): Promise<string[]> {
  const phones = Array.from({ length: count }, (_, n) => `5521${980_000_000 + n}`)
  for (let at = 0; at < count; at += 100) {
    const items = phones
      .slice(at, at + 100)
      .map((phone) => ({ match: { by: 'phone', value: phone }, lead: { firstName: 'Marina', phone } }))
    const { status, body } = await w.call('POST', '/api/v1/leads/bulk-upsert', { body: { items }, key: w.key })
    assert.ok(status < 300, JSON.stringify(body))
  }
  return phones
}

test('killed at every step on two nodes, each recipient gets one message or has a reason, and the pace is kept', async (t) => {
  const w = await broadcastWorld()
  const phones = await addMany(w, recipients)
  const { id, counts } = await w.prepare()
  assert.equal(counts.included, recipients)
  await w.start(id)
  const stopped = phones.filter((_, n) => n % 97 === 0)
  const steps = [...broadcastSteps, ...sendSteps.filter((step) => step !== 'upload')]
  const rounds = steps.length * killsPerStep
  for (let round = 0; round < rounds; round++) {
    const at = steps[round % steps.length] ?? 'claim'
    await Promise.all([dyingNode(w, at, 1 + (round % 5)).drain(), dyingNode(w, at, 2 + (round % 7)).drain()])
    const phone = stopped[round]
    if (phone !== undefined && w.sentTo(phone) === 0)
      await setConsentOfPhones(w, w.workspaceId, { type: 'user', id: w.admin.userId }, [phone], 'opted_out')
    w.clock.advance(2_500)
  }
  for (let n = 0; (await w.read(id)).state !== 'done'; n++) {
    assert.ok(n < recipients, 'it ends')
    w.clock.advance(5_000)
    await w.drain()
  }
  w.clock.advance(15 * minute)
  // What a dead process has begun counts as dead, and, as the job does, what nobody knows by now as failed.
  await w.db.sql`update dispatches set alive_until = statement_timestamp() - interval '1 millisecond'`
  while ((await settleStrandedSends(sendDeps(w))) > 0);
  await deliverAll(w)
  w.clock.advance(20 * minute)
  await w.drain()
  await assertSound(w, id, phones)
  t.diagnostic(`${recipients} recipients, ${rounds * 2} kills: ${JSON.stringify((await w.read(id)).results)}`)
})

/** The platform reports every message that it has accepted, with its price, also to who counts as failed by now. */
async function deliverAll(w: BroadcastWorld): Promise<void> {
  const pricing = { type: 'regular', category: 'marketing', isBillable: true, freeUntil: null } as const
  const csv = 'currency,market,category,price,valid_from\nUSD,Brazil,marketing,0.0625,2026-01-01\n'
  assert.equal((await w.admin.call('POST', '/rate-cards', { csv })).status, 201)
  const statuses = w.accepted().map(({ to, externalId, correlator }) => {
    const customer = { userId: null, parentUserId: null, phone: to, name: null }
    return w.status(externalId, 'delivered', { pricing, customer, correlator })
  })
  for (let at = 0; at < statuses.length; at += 100) await w.deliver(...statuses.slice(at, at + 100))
}

async function assertSound(w: BroadcastWorld, id: string, phones: readonly string[]): Promise<void> {
  const sent = Map.groupBy(w.accepted(), ({ to }) => to)
  for (const phone of phones) assert.ok((sent.get(phone)?.length ?? 0) <= 1, `${phone} got it twice`)
  const rows = await w.db.sql<{ status: string; reason: string | null; message: string | null; sentAt: Date | null }[]>`
    select r.status, r.reason, m.status as message, r.sent_at as "sentAt"
    from broadcast_recipients r
    left join messages m on m.workspace_id = r.workspace_id and m.id = r.message_id
    where r.workspace_id = ${w.workspaceId} and r.broadcast_id = ${id}`
  assert.equal(rows.length, phones.length)
  for (const { status, reason, message } of rows) {
    if (status === 'delivered' || status === 'failed') assert.equal(message, status)
    else assert.ok(status === 'skipped' && reason === 'opted_out', `lost: ${status} ${reason}`)
  }
  const count = (status: string) => rows.filter((row) => row.status === status).length
  assert.equal(count('delivered'), sent.size, 'what the platform has accepted, no more and no less')
  const ledger = (await w.admin.call('GET', '/costs?by=sender')).body.total.amount
  assert.deepEqual([(await w.read(id)).results.cost.amount, Number(ledger)], [ledger, sent.size * 0.0625])
  const times = rows.flatMap(({ sentAt }) => sentAt?.getTime() ?? []).sort((a, b) => a - b)
  times.forEach((from, n) => {
    const within = times.findIndex((time) => time >= from + minute)
    assert.ok((within < 0 ? times.length : within) - n <= perMinute + batchOf(perMinute), 'the pace')
  })
}
