import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { newFolder } from '../support/folder.ts'
import { type Program, startProgram } from '../support/program/program.ts'
import { until } from '../support/until.ts'
import type { DeliveringTask } from '../support/webhooks/delivering-program.ts'
import {
  brokenPromises,
  type DeliveryHistory,
  delaysOfGood,
  type Kill,
  readGivenUp,
  repeated,
  type WrittenEvent,
} from '../support/webhooks/delivery-history.ts'
import { type DeliveryWorld, deliveryWorld, receiversOf, writeEvents } from '../support/webhooks/delivery-world.ts'
import { type Behaviour, type Receivers, startReceivers } from '../support/webhooks/receivers.ts'

// More on demand: CHAOS_EVENTS=20000 CHAOS_KILLS=20 takes some minutes.
const eventCount = Number(process.env.CHAOS_EVENTS ?? 300)
const killCount = Number(process.env.CHAOS_KILLS ?? 2)
const eventsPerSecond = Number(process.env.CHAOS_RATE ?? 100)
const isLong = eventCount >= 10_000

const workspaceCount = 10
const time = { startMs: Date.now(), speed: 30 }
const timeoutMs = 3_000
const maxWaitMs = 120_000
const program = fileURLToPath(new URL('../support/webhooks/delivering-program.ts', import.meta.url))

const calm: Mix = [[70, { kind: 'good' }]]
const faulty: Mix = [
  [70, { kind: 'good' }],
  [10, { kind: 'slow', afterMs: 300 }],
  [10, { kind: 'failing' }],
  [5, { kind: 'hanging' }],
  [5, { kind: 'flapping', spellMs: 400 }],
]

type Mix = [count: number, behaviour: Behaviour][]

test('100 endpoints, 30 of them faulty, workers killed: every event arrives, in order, signed, and nobody pays for another', async (t) => {
  const calmRun = await run(calm, 0)
  assert.deepEqual(brokenPromises(calmRun), [])
  const chaosRun = await run(faulty, killCount)
  assert.deepEqual(brokenPromises(chaosRun), [])

  const [calmDelays, delays] = [delaysOfGood(calmRun), delaysOfGood(chaosRun)]
  const p95s = [calmDelays, delays].map((all) => Math.round(share(all, 0.95)))
  t.diagnostic(`p95 of first attempts, calm and with ${killCount} kills: ${p95s.join(' and ')} ms`)
  const again = `${repeated(chaosRun).length} of them again after a kill or an answer that came too late`
  t.diagnostic(`${chaosRun.arrivals.length} deliveries, ${again}`)
  if (!isLong) return
  for (const part of [0.5, 0.95]) {
    const [least, most] = [share(calmDelays, part), share(delays, part)]
    assert.ok(most <= 2 * least, `p${part * 100} went from ${Math.round(least)} ms to ${Math.round(most)} ms`)
  }
})

async function run(mix: Mix, kills: number): Promise<DeliveryHistory> {
  const world = await deliveryWorld()
  const plain = receiversOf(mix)
  const receiving = await startReceivers({ receivers: plain, time })
  const workspaceIds = await Promise.all(Array.from({ length: workspaceCount }, () => world.addWorkspace()))
  const receivers = plain.map((one, n) => ({ ...one, workspaceId: workspaceIds[n % workspaceCount] ?? '' }))
  const endpointIds = await Promise.all(
    receivers.map(({ workspaceId, secret }, n) => world.addEndpoint(workspaceId, receiving.url(n), secret)),
  )
  const givenUpFile = join(await newFolder(), 'given-up')
  const start = () => startWorker(world, givenUpFile)
  const workers = await Promise.all([start(), start()])
  const written: WrittenEvent[] = []
  const killing = planKills(kills, start, workers)
  await writeEvents(world, workspaceIds, { count: eventCount, perSecond: eventsPerSecond, perSubject: 5 }, (event) => {
    written.push(event)
    killing.onWritten(written.length)
  })
  const killed = await killing.done()
  await allTaken(receiving, receivers, written)
  const innocent = endpointIds.filter((_, n) => ['good', 'slow'].includes(receivers[n]?.behaviour.kind ?? ''))
  // What was taken too late for its sender comes again, and is written down then.
  const unsettled = () => unsettledOf(world, workspaceIds, innocent)
  await until(async () => isDeepStrictEqual(await unsettled(), settled), 'the end of it', maxWaitMs).catch(() => {})
  for (const worker of workers) worker.kill('SIGTERM')
  assert.deepEqual(await Promise.all(workers.map(({ gone }) => gone)), [0, 0], 'a stopped worker ends by itself')

  const arrivals = await receiving.arrivals()
  await receiving.stop()
  assert.deepEqual(await unsettled(), settled)
  return { receivers, written, arrivals, kills: killed, givenUp: readGivenUp(givenUpFile) }
}

async function startWorker({ options }: DeliveryWorld, givenUpFile: string): Promise<Program> {
  const task: DeliveringTask = { database: options, time, timeoutMs, givenUpFile, dieAfter: null }
  const worker = startProgram([program, JSON.stringify(task)])
  await worker.said('ready')
  return worker
}

/** Kills one worker or the other while events are written, each time after a random share of them, and starts anew. */
function planKills(count: number, start: () => Promise<Program>, workers: Program[]) {
  const killed: Kill[] = []
  let last = Promise.resolve()
  const due = Array.from({ length: count }, (_, n) => Math.ceil(((n + Math.random()) / count) * eventCount))
  const kill = async (place: number) => {
    killed.push({ worker: workers[place]?.pid ?? 0, at: performance.timeOrigin + performance.now() })
    workers[place]?.kill()
    await workers[place]?.gone
    workers[place] = await start()
  }
  return {
    onWritten: (events: number) => {
      if (events < (due[0] ?? Number.POSITIVE_INFINITY)) return
      due.shift()
      last = last.then(() => kill(killed.length % workers.length))
    },
    done: async () => {
      await last
      return killed
    },
  }
}

async function allTaken(
  receiving: Receivers,
  receivers: DeliveryHistory['receivers'],
  written: readonly WrittenEvent[],
): Promise<void> {
  const wanted = receivers
    .map(({ workspaceId, behaviour }, receiver) => ({ workspaceId, kind: behaviour.kind, receiver }))
    .filter(({ kind }) => kind !== 'failing' && kind !== 'hanging')
    .map(({ workspaceId, receiver }) => ({
      receiver,
      events: written.filter((event) => event.workspaceId === workspaceId).length,
    }))
  // Those that never come are told with the rest of what is broken.
  await Promise.race([receiving.taken(wanted), sleep(maxWaitMs, undefined, { ref: false })])
}

const settled = { behind: 0, blamed: 0, disabled: 0, incomplete: 0 }

/** Of the endpoints that took everything: how many still wait for something, have a failure noted against them, lack an event. */
async function unsettledOf({ db }: DeliveryWorld, workspaceIds: string[], endpointIds: string[]) {
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
      and q.endpoint_id = any (${endpointIds}::uuid[])`
  return { ...wrong }
}

function share(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}
