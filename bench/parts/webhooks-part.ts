import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../server/src/base/clock.ts'
import { newId } from '../../server/src/base/id.ts'
import { relayMessages } from '../../server/src/base/pubsub.ts'
import { recordEvents } from '../../server/src/events/record.ts'
import { measure, requestBytes } from '../load.ts'
import { person } from '../people.ts'
import { makeWorkspace } from '../workspace.ts'
import {
  addReceivers,
  eventOf,
  farFuture,
  openBenchKeyStore,
  pause,
  received,
  recordBacklog,
  release,
  resumeOnly,
  type WebhookCourse,
} from './webhook-backlog.ts'
import { printThroughput, type Throughput } from './webhook-throughput.ts'

const sizes = [
  { endpoints: 1, events: 4_000 },
  { endpoints: 10, events: 1_000 },
]

/** Prints how fast events reach a receiver, compared with bare requests and a plain job queue. */
export async function runWebhooks(course: WebhookCourse): Promise<Throughput[]> {
  const stopRelay = await relayMessages(course.db, () => {})
  const shares = sizes.map(({ endpoints, events }) => ({ endpoints, events: Math.ceil(events * course.share) }))
  const results = await printThroughput(course, shares)
  await resumeOnly(course, course.worker)
  console.log('\n| from commit to receiver | p50 | p99 |\n|---|---|---|')
  for (const { endpoints } of sizes) await printDelay(course, endpoints)
  stopRelay()
  return results
}

async function printDelay(course: WebhookCourse, endpoints: number): Promise<void> {
  const workspace = await addReceivers(course, endpoints, null)
  const keyring = await openBenchKeyStore(course.db).keyring(workspace.workspaceId)
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

/** Prints how fast a long backlog is delivered, and how much it slows down the API. */
export async function runBacklog(course: WebhookCourse, productPort: number, count: number): Promise<void> {
  const stopRelay = await relayMessages(course.db, () => {})
  await resumeOnly(course, course.worker)
  const workspace = await addReceivers(course, 1, farFuture)
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
