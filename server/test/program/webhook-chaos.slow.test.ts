import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Program } from '../support/program/program.ts'
import { until } from '../support/until.ts'
import {
  type Behaviour,
  type DeliveryFaultTest,
  deliveryFaultTest,
  judge,
  realNow,
} from '../webhooks/deliver/delivery-fault-test.ts'

// More on demand: CHAOS_EVENTS=20000 CHAOS_KILLS=20 takes some minutes.
const eventCount = Number(process.env.CHAOS_EVENTS ?? 300)
const killCount = Number(process.env.CHAOS_KILLS ?? 2)
const eventsPerSecond = Number(process.env.CHAOS_RATE ?? 100)
const isLong = eventCount >= 10_000

const workspaceCount = 10
const eventsOfSubject = 5
const maxWaitMs = 120_000

const mix = (counts: Partial<Record<Behaviour, number>>): Behaviour[] =>
  Object.entries(counts).flatMap(([behaviour, count]) => Array<Behaviour>(count).fill(behaviour as Behaviour))

test('100 endpoints, 30 of them faulty, workers killed: every event arrives in order and signed, and endpoints do not delay each other', async (t) => {
  const calm = await run(mix({ good: 70 }), 0)
  assert.deepEqual(judge(calm).broken, [])
  const chaos = await run(mix({ good: 70, slow: 10, failing: 10, hanging: 5, flapping: 5 }), killCount)
  const { broken, repeats } = judge(chaos)
  assert.deepEqual(broken, [])

  const [calmDelays, delays] = [delaysOfGood(calm), delaysOfGood(chaos)]
  t.diagnostic(`calm: ${summary(calmDelays)}`)
  t.diagnostic(`faults and ${killCount} kills: ${summary(delays)}`)
  const again = `${repeats} of them again after a kill or an answer that came too late`
  t.diagnostic(`${chaos.arrivals.length} deliveries, ${again}`)
  if (!isLong) return
  for (const part of [0.5, 0.95]) {
    const [least, most] = [share(calmDelays, part), share(delays, part)]
    assert.ok(most <= 2 * least, `p${part * 100} went from ${Math.round(least)} ms to ${Math.round(most)} ms`)
  }
})

async function run(behaviours: Behaviour[], killsWanted: number): Promise<DeliveryFaultTest> {
  const trial = await deliveryFaultTest(behaviours, workspaceCount)
  const workers = [await trial.startWorker(), await trial.startWorker()]
  const killing = planKills(killsWanted, trial, workers)
  await writeEvents(trial, killing.onWritten)
  await killing.done()
  // Missing ones are reported with the other failures.
  await Promise.race([trial.allTaken(), sleep(maxWaitMs, undefined, { ref: false })])
  // What was taken too late for its sender comes again, and is written down then.
  const isSettled = async () => isDeepStrictEqual(await unsettledOf(trial), settled)
  await until(isSettled, 'the end of it', maxWaitMs).catch(() => {})
  for (const worker of workers) worker.kill('SIGTERM')
  assert.deepEqual(await Promise.all(workers.map(({ exited }) => exited)), [0, 0], 'a stopped worker ends by itself')
  assert.deepEqual(await unsettledOf(trial), settled)
  return trial
}

/** Writes events at an even pace, several to a subject, and calls back after each. */
async function writeEvents({ workspaceIds, write }: DeliveryFaultTest, onWritten: () => void): Promise<void> {
  const each = Math.ceil(eventCount / workspaceIds.length)
  const startedAt = performance.now()
  // One writer a workspace: as in the product, nobody writes two events of one subject at once.
  const writing = workspaceIds.map(async (workspaceId, writer) => {
    const subjects = Array.from({ length: Math.ceil(each / eventsOfSubject) }, () => ({ id: randomUUID(), n: 0 }))
    for (let count = 0; count < each; count++) {
      const dueAt = startedAt + ((count * workspaceIds.length + writer) / eventsPerSecond) * 1000
      await sleep(Math.max(0, dueAt - performance.now()))
      const open = subjects.filter(({ n }) => n < eventsOfSubject).slice(0, 5)
      const subject = open[Math.floor(Math.random() * open.length)] ?? assert.fail()
      await write(workspaceId, subject.id, subject.n++)
      onWritten()
    }
  })
  await Promise.all(writing)
}

/** Kills one worker or the other while events are written, each time after a random share of them, and restarts it. */
function planKills(count: number, { startWorker, written, kills }: DeliveryFaultTest, workers: Program[]) {
  let last = Promise.resolve()
  const due = Array.from({ length: count }, (_, n) => Math.ceil(((n + Math.random()) / count) * eventCount))
  const kill = async (place: number) => {
    kills.push({ worker: workers[place]?.pid ?? 0, at: realNow() })
    workers[place]?.kill()
    await workers[place]?.exited
    workers[place] = await startWorker()
  }
  return {
    onWritten: () => {
      if (written.length < (due[0] ?? Number.POSITIVE_INFINITY)) return
      due.shift()
      last = last.then(() => kill(kills.length % workers.length))
    },
    done: () => last,
  }
}

const settled = { behind: 0, blamed: 0, disabled: 0, incomplete: 0 }

/** Of the endpoints that took everything: how many still wait for something, have a failure noted against them, lack an event. */
async function unsettledOf({ db, workspaceIds, endpoints }: DeliveryFaultTest) {
  const innocent = endpoints.filter(({ behaviour }) => behaviour === 'good' || behaviour === 'slow')
  const [wrong] = await db.sql`
    select
      count(*) filter (where q.cursor <> f.last_position) as behind,
      count(*) filter (where q.failing_since is not null or q.failures_in_a_row > 0) as blamed,
      count(*) filter (where e.state <> 'active') as disabled,
      count(*) filter (where d.delivered <> f.last_position or d.all_rows <> d.delivered) as incomplete
    from webhook_queues q
    join webhook_endpoints e
      on e.workspace_id = q.workspace_id
      and e.id = q.endpoint_id
    join event_feeds f on f.workspace_id = q.workspace_id
    cross join lateral (
      select count(*) filter (where state = 'delivered') as delivered, count(*) as all_rows
      from webhook_deliveries d
      where d.workspace_id = q.workspace_id
        and d.endpoint_id = q.endpoint_id
    ) d
    where q.workspace_id = any (${workspaceIds}::uuid[])
      and q.endpoint_id = any (${innocent.map(({ id }) => id)}::uuid[])`
  return { ...wrong }
}

/** From the commit of an event to its first arrival at each good endpoint, ascending. */
function delaysOfGood({ endpoints, written, arrivals }: DeliveryFaultTest): number[] {
  const committedAt = new Map(written.map(({ subject, n, committedAt }) => [`${subject} ${n}`, committedAt]))
  const first = new Map<string, number>()
  for (const { endpoint, subject, n, at } of arrivals) {
    const place = `${endpoint} ${subject} ${n}`
    if (endpoints[endpoint]?.behaviour !== 'good' || first.has(place)) continue
    first.set(place, at - (committedAt.get(`${subject} ${n}`) ?? Number.NaN))
  }
  return [...first.values()].sort((a, b) => a - b)
}

function share(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

function summary(delays: readonly number[]): string {
  const at = (part: number) => Math.round(share(delays, part))
  return `${delays.length} first attempts, p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`
}
