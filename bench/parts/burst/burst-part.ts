import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildWebIfNeeded } from '../../../scripts/build-web.ts'
import { systemClock } from '../../../server/src/base/clock.ts'
import { type Db, openDb } from '../../../server/src/base/db.ts'
import { openKeyStore } from '../../../server/src/base/encryption/key-store.ts'
import { migrate } from '../../../server/src/base/migrate.ts'
import { findKnownIds } from '../../../server/src/inbox/conversation/message-queries.ts'
import { type Child, memoryOf } from '../../child.ts'
import { startMeter } from '../../cpu-time.ts'
import type { Database } from '../../database-address.ts'
import { cpuCell } from '../../figures.ts'
import { benchMasterKey } from '../../workspace.ts'
import { answer, type Sent } from './agents.ts'
import { type WatchedBrowser, watchInBrowser } from './browser.ts'
import { type FollowedPage, openPage } from './pages.ts'
import { type BurstWorkspace, firstCustomer, seedBurst } from './seed-burst.ts'
import { type BurstResult, externalId, sendBurst } from './send-burst.ts'
import { type ServeProcess, startServe } from './serve.ts'

export interface Burst {
  db: Db
  database: Database
  platform: Child
  /** Database process, for its CPU time. */
  postgres: { readonly pid: number }
  messages: number
  customers: number
  quietMs: number
  rounds: number
  /** Path of another checkout with a built app. */
  against?: string | undefined
}

const ownRoot = resolve(import.meta.dirname, '../../..')
const firstPort = 20_000 + (process.pid % 20_000)
/** Maximum time after the last 200 to wait for the pages. */
const showTimeoutMs = 60_000

/**
 * Measures a burst of messages to one number while people have pages open, one of them in a browser, and agents send:
 * first idle, then during the burst. Fails if a message is lost or duplicated.
 */
export async function runBurst(burst: Burst): Promise<void> {
  await buildWebIfNeeded()
  for (let round = 0; round < burst.rounds; round++) {
    for (const root of [burst.against, ownRoot].filter((root) => root !== undefined)) {
      console.log(
        `\nburst of ${burst.messages} messages, ${root === ownRoot ? 'Parley' : 'other checkout'}, round ${round + 1}`,
      )
      await runOne(burst, resolve(root), firstPort + round)
    }
  }
}

async function runOne(burst: Burst, root: string, port: number): Promise<void> {
  const name = `burst_${port}_${Date.now()}`
  await burst.db.sql.unsafe(`create database ${name}`, [])
  const database = { ...burst.database, database: name }
  const db = openDb(database)
  let served: ServeProcess | undefined
  try {
    await migrate(db)
    const place = await seedBurst(db, burst.platform.port)
    served = await startServe(root, database, port)
    await measureOne(burst, db, place, served)
  } finally {
    await served?.stop()
    await db.close()
    await burst.db.sql.unsafe(`drop database ${name} with (force)`, [])
  }
}

async function measureOne(burst: Burst, db: Db, place: BurstWorkspace, served: ServeProcess): Promise<void> {
  const { port } = served
  const { workspaceId, burstNumber, watched, cookies, agents } = place
  const threads = burstNumber.conversations.slice(0, 40)
  const pages = await Promise.all(cookies.slice(1).map((cookie) => openPage(port, { cookie, workspaceId, threads })))
  const browser = await watchInBrowser(
    `http://127.0.0.1:${port}`,
    cookies[0] ?? '',
    `/w/${workspaceId}/inbox/${watched.conversationId}`,
  )
  try {
    await sleep(3_000)
    const quietFrom = Date.now()
    const quiet = await sendBeside(port, agents, () => sleep(burst.quietMs))
    const burstFrom = Date.now()
    const before = await countInbound(db, workspaceId)
    const meter = startMeter(served, burst.postgres)
    const storm = { connection: burstNumber, messages: burst.messages, firstCustomer, customers: burst.customers }
    let result: BurstResult | undefined
    const beside = await sendBeside(port, agents, async () => {
      result = await sendBurst(port, { ...storm, watched: watched.customer })
    })
    if (result === undefined) throw new Error('The burst did not run')
    const burstTo = Date.now()
    await waitUntilShown(pages, browser, result)
    const cpu = meter(burst.messages)
    printIntake(result, cpuCell(cpu), memoryOf(served, 'VmHWM'), served.countProblems())
    printSends(quiet, beside)
    printReads(pages, quietFrom, burstFrom, burstTo)
    await printSeen(pages, browser, result)
    await checkStored(db, workspaceId, burstNumber.id, before, result)
  } finally {
    await Promise.all([browser.close(), ...pages.map((page) => page.close())])
  }
}

async function sendBeside(
  port: number,
  { ofStormed, ofOther }: BurstWorkspace['agents'],
  work: () => Promise<unknown>,
) {
  let isOver = false
  const sends = [ofStormed, ofOther].map((agents) => answer(port, agents, () => isOver))
  await work().finally(() => {
    isOver = true
  })
  const [same, other] = await Promise.all(sends)
  if (same === undefined || other === undefined) throw new Error('Nothing was sent')
  return { same, other }
}

/** Waits until every page has been notified of all messages and the browser shows its thread's, or the timeout. */
async function waitUntilShown(
  pages: readonly FollowedPage[],
  browser: WatchedBrowser,
  { acknowledged }: BurstResult,
): Promise<void> {
  const watched = [...acknowledged].filter(([, { isWatched }]) => isWatched).map(([number]) => number)
  for (const end = Date.now() + showTimeoutMs; Date.now() < end; await sleep(250)) {
    const shown = await browser.threadTimes()
    const areTold = pages.every(({ seen, frames }) => seen.size === acknowledged.size || (frames.reset ?? 0) > 0)
    if (areTold && watched.every((number) => shown.has(number))) return
  }
}

function printIntake(
  { latencies, acknowledged, seconds, refused, repeats }: BurstResult,
  cpu: string,
  memory: number,
  complaints: object,
) {
  console.log(
    `${Math.round(acknowledged.size / seconds)} messages/s in ${seconds.toFixed(1)} s, callbacks ${spread(latencies)}, ` +
      `refused ${JSON.stringify(refused)}, ${repeats} sent twice; Node + PostgreSQL ${cpu} µs a message, ` +
      `Node at most ${memory} MB; complaints ${JSON.stringify(complaints)}`,
  )
}

function printSends(quiet: Record<'same' | 'other', Sent>, beside: Record<'same' | 'other', Sent>): void {
  for (const kind of ['same', 'other'] as const) {
    const [before, during] = [quiet[kind], beside[kind]]
    const ratio = at(during.latencies, 0.95) / at(before.latencies, 0.95)
    console.log(
      `sends of ${kind === 'same' ? 'the same number' : 'another number'}: quiet ${spread(before.latencies)}, ` +
        `beside ${spread(during.latencies)}, p95 ${ratio.toFixed(1)} ×; refused ${JSON.stringify(during.refused)}`,
    )
  }
}

function printReads(pages: readonly FollowedPage[], quietFrom: number, burstFrom: number, burstTo: number): void {
  const between = (from: number, to: number) =>
    pages.flatMap(({ reads }) => reads.filter((read) => read.at >= from && read.at < to).map(({ tookMs }) => tookMs))
  const refused = pages.map((page) => JSON.stringify(page.refused)).filter((one) => one !== '{}')
  console.log(
    `reads of people: quiet ${spread(between(quietFrom, burstFrom))}, beside ${spread(between(burstFrom, burstTo))}; ` +
      `refused ${refused.join(' ') || 'none'}`,
  )
}

async function printSeen(
  pages: readonly FollowedPage[],
  browser: WatchedBrowser,
  { acknowledged }: BurstResult,
): Promise<void> {
  const delays = (seen: ReadonlyMap<number, number>, of: (isWatched: boolean) => boolean) =>
    [...acknowledged].flatMap(([number, { at, isWatched }]) => {
      const seenAt = seen.get(number)
      return seenAt === undefined || !of(isWatched) ? [] : [Math.max(0, seenAt - at)]
    })
  const [first] = pages
  const stream = pages.flatMap(({ seen }) => delays(seen, () => true))
  console.log(
    `after the 200, on the stream ${spread(stream)} (${stream.length} of ${pages.length * acknowledged.size}); ` +
      `frames of a page ${JSON.stringify(first?.frames)}, ${Math.round((first?.bytes ?? 0) / 1e6)} MB`,
  )
  const watched = [...acknowledged.values()].filter(({ isWatched }) => isWatched).length
  const thread = delays(await browser.threadTimes(), (isWatched) => isWatched)
  const { list: lists, thread: threads } = browser.readDurations
  console.log(
    `in the browser's thread ${spread(thread)} (${thread.length} of ${watched}); ` +
      `it read ${threads.length} times, ${spread(threads)}, and its list ${lists.length} times, ${spread(lists)}`,
  )
  const reached = await browser.listTimes()
  const list = [...acknowledged].flatMap(([number, { at }]) => {
    const shown = reached.find(([highest]) => highest >= number)
    return shown === undefined ? [] : [Math.max(0, shown[1] - at)]
  })
  console.log(
    `in its list, it or a later one, ${spread(list)} (${list.length} of ${acknowledged.size}); problems ${JSON.stringify(browser.problems)}`,
  )
}

async function countInbound(db: Db, workspaceId: string): Promise<number> {
  const [row] = await db.sql<{ count: number }[]>`
    select count(*)::integer as count
    from messages
    where workspace_id = ${workspaceId}
      and direction = 'inbound'`
  return row?.count ?? 0
}

async function checkStored(
  db: Db,
  workspaceId: string,
  connectionId: string,
  before: number,
  { acknowledged }: BurstResult,
) {
  const stored = (await countInbound(db, workspaceId)) - before
  const keyring = await openKeyStore(db, { current: benchMasterKey }, systemClock).keyring(workspaceId)
  const ids = [...acknowledged.keys()].map((number) => ({ connectionId, externalId: externalId(number) }))
  const found = (await findKnownIds({ sql: db.sql, keyring, workspaceId }, ids)).known.length
  console.log(`stored ${stored} of ${ids.length}; lost ${ids.length - found}, duplicated ${stored - found}`)
  if (stored !== ids.length || found !== ids.length) throw new Error('A message was lost or duplicated')
}

const at = (numbers: readonly number[], share: number): number => {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

const spread = (ms: readonly number[]): string =>
  `p50/p95/p99 ${[0.5, 0.95, 0.99].map((share) => at(ms, share).toFixed(at(ms, share) < 10 ? 1 : 0)).join('/')} ms`
