import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../server/src/base/clock.ts'
import { announce, type Db } from '../server/src/base/db.ts'
import { newId } from '../server/src/base/id.ts'
import { relayNews } from '../server/src/base/relay.ts'
import { openVault } from '../server/src/base/vault.ts'
import { placedTopic, placeEvents } from '../server/src/events/place.ts'
import { type NewEvent, recordEvents } from '../server/src/events/record.ts'
import { makeSecret } from '../server/src/webhooks/secrets.ts'
import { insertEndpoint } from '../server/test/support/insert-endpoint.ts'
import type { Child } from './child.ts'
import { measure, requestBytes } from './load.ts'
import { person } from './people.ts'
import type { FloorTask } from './webhook-floor.ts'
import type { Received } from './webhook-receiver.ts'
import { type BenchWorkspace, benchMasterKey, makeWorkspace } from './workspace.ts'

export interface WebhookCourse {
  db: Db
  rounds: number
  /** Of the usual number of events: less than 1 for a run whose figures are not looked at. */
  share: number
  receiver: Child
  floor: Child
}

/** What the product sends at once to a healthy endpoint; the floors get as many. */
const widthOfOne = 16
const sizes = [
  { endpoints: 1, events: 4_000 },
  { endpoints: 10, events: 1_000 },
]
const later = new Date('2100-01-01')

/** Prints how fast events reach a receiver, beside bare requests and beside a plain queue of jobs. */
export async function runWebhooks(course: WebhookCourse): Promise<void> {
  const stopRelay = await relayNews(course.db, () => {})
  await makeFloorJobs(course.db)
  console.log(
    '\n| webhooks | Parley | bare requests | job table | of bare | of jobs (spread) |\n|---|---|---|---|---|---|',
  )
  for (const { endpoints, events } of sizes) {
    await printThroughput(course, { endpoints, events: Math.ceil(events * course.share) })
  }
  console.log('\n| from the commit to the receiver | p50 | p99 |\n|---|---|---|')
  for (const { endpoints } of sizes) await printDelay(course, endpoints)
  stopRelay()
}

async function printThroughput(course: WebhookCourse, size: { endpoints: number; events: number }): Promise<void> {
  const count = size.endpoints * size.events
  const width = size.endpoints * widthOfOne
  const runs: { product: number; bare: number; jobs: number }[] = []
  // One more round than asked for: the first one warms all three up.
  for (let round = 0; round <= course.rounds; round++) {
    const product = (await drain(course, size)).perSecond
    const bare = (await runFloor(course, { kind: 'bare', count, width })).perSecond
    await fillFloorJobs(course.db, count)
    const jobs = (await runFloor(course, { kind: 'leases', count, width })).perSecond
    if (round > 0) runs.push({ product, bare, jobs })
  }
  const of = (figure: (run: (typeof runs)[number]) => number) => runs.map(figure).sort((a, b) => a - b)
  const middle = (sorted: number[]) => sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const rate = (figure: (run: (typeof runs)[number]) => number) => `${Math.round(middle(of(figure)))}/s`
  const ofJobs = of(({ product, jobs }) => product / jobs)
  const cells = [
    `${size.events} events, ${size.endpoints} endpoint${size.endpoints > 1 ? 's' : ''}`,
    rate(({ product }) => product),
    rate(({ bare }) => bare),
    rate(({ jobs }) => jobs),
    middle(of(({ product, bare }) => product / bare)).toFixed(2),
    `${middle(ofJobs).toFixed(2)} (${ofJobs[0]?.toFixed(2)}–${ofJobs.at(-1)?.toFixed(2)})`,
  ]
  console.log(`| ${cells.join(' | ')} |`)
}

/** Lets the worker loose on events that wait already. */
async function drain(course: WebhookCourse, size: { endpoints: number; events: number }): Promise<Received> {
  const workspace = await addReceivers(course, size.endpoints, later)
  await recordBacklog(course.db, workspace, size.events)
  await release(course.db, workspace)
  return received(course, size.endpoints * size.events)
}

async function printDelay(course: WebhookCourse, endpoints: number): Promise<void> {
  const workspace = await addReceivers(course, endpoints, null)
  const keyring = await vaultOf(course.db).keyring(workspace.workspaceId)
  const [count, everyMs] = [Math.ceil(500 * course.share), 10]
  const startedAt = performance.now()
  for (let n = 0; n < count; n++) {
    await sleep(Math.max(0, startedAt + n * everyMs - performance.now()))
    const events = [eventOf(newId(systemClock.now()), 0)]
    await course.db.tx((tx) => recordEvents(tx, keyring, workspace.workspaceId, events, systemClock.now()))
  }
  const { p50Ms, p99Ms } = await received(course, endpoints * count)
  const head = `${1000 / everyMs} events a second, ${endpoints} endpoint${endpoints > 1 ? 's' : ''}`
  console.log(`| ${head} | ${p50Ms.toFixed(1)} ms | ${p99Ms.toFixed(1)} ms |`)
}

/** Prints how a long backlog drains, and how much the API is slowed by it. */
export async function runBacklog(course: WebhookCourse, productPort: number, count: number): Promise<void> {
  const stopRelay = await relayNews(course.db, () => {})
  const workspace = await addReceivers(course, 1, later)
  await recordBacklog(course.db, workspace, count)
  const done = received(course, count)
  const slowed: number[] = []
  const { key } = await makeWorkspace(course.db)
  await creates(productPort, key, course.share)
  for (let round = 0; round < course.rounds; round++) {
    const alone = await creates(productPort, key, course.share)
    await release(course.db, workspace)
    const beside = await creates(productPort, key, course.share)
    await pause(course.db, workspace)
    slowed.push(beside / alone)
  }
  await release(course.db, workspace)
  const { tenths } = await done
  slowed.sort((a, b) => a - b)
  const [least = 0, middle = 0, most = 0] = [slowed[0], slowed[Math.floor(slowed.length / 2)], slowed.at(-1)]
  console.log(
    `\ncreates beside a draining backlog: ${middle.toFixed(2)} of those alone (${least.toFixed(2)}–${most.toFixed(2)})`,
  )
  console.log(`a backlog of ${count}, deliveries a second by tenths: ${tenths.map(Math.round).join(' ')}`)
  stopRelay()
}

let leads = 0

async function creates(port: number, key: string, share: number): Promise<number> {
  const request = () => {
    const { firstName, lastName, email, phone, status } = person(1_000_000 + leads++)
    return requestBytes(
      'POST',
      '/api/v1/leads',
      { authorization: `Bearer ${key}` },
      { firstName, lastName, email, phone, status },
    )
  }
  const run = await measure({ host: '127.0.0.1', port, connections: 16, durationMs: 2_000 * share, request })
  if (run.failures > 0) throw new Error('creates: answers other than 2xx')
  return run.perSecond
}

async function addReceivers(
  { db, receiver }: WebhookCourse,
  count: number,
  pausedUntil: Date | null,
): Promise<BenchWorkspace> {
  const workspace = await makeWorkspace(db)
  const keyring = await vaultOf(db).keyring(workspace.workspaceId)
  const url = `http://127.0.0.1:${receiver.port}/`
  for (let n = 0; n < count; n++) {
    await insertEndpoint(db, keyring, workspace.workspaceId, { url, secret: makeSecret().value, pausedUntil })
  }
  return workspace
}

/** Five events to a subject, as a conversation or a lead has some, and all with their places in the feed. */
async function recordBacklog(db: Db, { workspaceId }: BenchWorkspace, count: number): Promise<void> {
  const keyring = await vaultOf(db).keyring(workspaceId)
  const subjects = Array.from({ length: Math.ceil(count / 5) }, () => newId(systemClock.now()))
  for (let done = 0; done < count; done += 1000) {
    const events = Array.from({ length: Math.min(1000, count - done) }, (_, n) =>
      eventOf(subjects[(done + n) % subjects.length] ?? '', n),
    )
    await db.tx((tx) => recordEvents(tx, keyring, workspaceId, events, systemClock.now()))
  }
  while ((await placeEvents(db, workspaceId)) > 0);
}

const release = (db: Db, workspace: BenchWorkspace) => setPause(db, workspace, null)
const pause = (db: Db, workspace: BenchWorkspace) => setPause(db, workspace, later)

async function setPause(db: Db, { workspaceId }: BenchWorkspace, until: Date | null): Promise<void> {
  await db.tx(async (tx) => {
    announce(tx, placedTopic, workspaceId)
    await tx`
      update webhook_queues
      set paused_until = ${until}
      where workspace_id = ${workspaceId}`
  })
}

function eventOf(subjectId: string, n: number): NewEvent {
  const payload = { at: performance.timeOrigin + performance.now(), n, text: 'x'.repeat(600) }
  return { name: 'lead.updated', subjectId, connectionId: null, payload }
}

async function makeFloorJobs(db: Db): Promise<void> {
  await db.sql
    .unsafe(`
      create table floor_jobs (
        id bigint generated always as identity primary key,
        body text not null,
        lease_until timestamptz,
        done_at timestamptz
      );
      create index on floor_jobs (id) where done_at is null;
    `)
    .simple()
}

async function fillFloorJobs(db: Db, count: number): Promise<void> {
  const body = JSON.stringify({ at: 0, text: 'x'.repeat(600) })
  await db.sql`insert into floor_jobs (body) select ${body} from generate_series(1, ${count}::integer)`
}

async function runFloor(course: WebhookCourse, task: Omit<FloorTask, 'port'>): Promise<Received> {
  const body = JSON.stringify({ ...task, port: course.receiver.port })
  await fetch(`http://127.0.0.1:${course.floor.port}/`, { method: 'POST', body })
  return received(course, task.count)
}

async function received({ receiver }: WebhookCourse, count: number): Promise<Received> {
  const response = await fetch(`http://127.0.0.1:${receiver.port}/${count}`)
  return (await response.json()) as Received
}

const vaultOf = (db: Db) => openVault(db, { current: benchMasterKey }, systemClock)
