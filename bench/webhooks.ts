// `node bench/webhooks.ts`: deliveries a second of a backlog at one endpoint, against a plain lease loop that claims 200
// rows, posts each and marks them; and the delay from commit to receipt of single events.
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../server/src/base/clock.ts'
import { type Db, openDb } from '../server/src/base/db.ts'
import { startEmbeddedPostgres } from '../server/src/base/embedded-postgres.ts'
import { openOutgoing } from '../server/src/base/guarded-fetch.ts'
import { newId } from '../server/src/base/id.ts'
import { createLog } from '../server/src/base/log.ts'
import { migrate } from '../server/src/base/migrate.ts'
import { openVault, type Vault } from '../server/src/base/vault.ts'
import { createPlacer } from '../server/src/events/placer.ts'
import { recordEvents } from '../server/src/events/record.ts'
import { sealSettings } from '../server/src/webhooks/endpoint.ts'
import { makeSecret } from '../server/src/webhooks/secrets.ts'
import { createDeliveryWorker } from '../server/src/webhooks/worker.ts'
import { startChild } from './child.ts'
import { benchMasterKey, makeWorkspace } from './workspace.ts'

const backlog = 10_000
const rounds = 3
const singles = 300
const floorBatch = 200
const floorConcurrency = 16

interface Course {
  db: Db
  vault: Vault
  workspaceId: string
  url: string
}

const folder = await mkdtemp(join(tmpdir(), 'parley-bench-'))
const postgres = await startEmbeddedPostgres({ folder, log: () => {} })
const db = openDb(postgres)
const receiver = await startChild('webhook-receiver.ts', {})
const outgoing = openOutgoing({ allowCidrs: ['127.0.0.0/8'] })
try {
  await migrate(db)
  const vault = openVault(db, { current: benchMasterKey }, systemClock)
  const { workspaceId } = await makeWorkspace(db)
  const course = { db, vault, workspaceId, url: `http://127.0.0.1:${receiver.port}/` }
  await addEndpoint(course)
  await db.sql`create table floor_jobs (id bigint generated always as identity primary key, body text, lease_until timestamptz, done_at timestamptz)`
  await db.sql`create index on floor_jobs (id) where done_at is null`
  for (let round = 0; round < rounds; round++) {
    const product = await productRound(course)
    const floor = await floorRound(course)
    console.log(`product ${product}/s, floor ${floor}/s, ratio ${(product / floor).toFixed(2)}`)
  }
  await singleEvents(course)
} finally {
  outgoing.close()
  await receiver.stop()
  await db.close()
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
}

function worker({ db, vault }: Course) {
  const log = createLog('info', { write: () => {} })
  return createDeliveryWorker({ db, vault, clock: systemClock, log, outgoing, present: (_name, payload) => payload })
}

async function productRound(course: Course): Promise<number> {
  for (let n = 0; n < backlog; n += 500) await record(course, 500, {})
  // The floor's rows have their order already.
  await createPlacer(course.db).place(course.workspaceId)
  const delivering = worker(course)
  await counted(course)
  const startedAt = performance.now()
  await delivering.drain()
  const seconds = (performance.now() - startedAt) / 1000
  const { count } = await counted(course)
  if (count !== backlog) throw new Error(`${count} of ${backlog} came`)
  return Math.round(backlog / seconds)
}

async function floorRound({ db, url }: Course): Promise<number> {
  const body = JSON.stringify(payload({}))
  await db.sql`insert into floor_jobs (body) select ${body} from generate_series(1, ${backlog})`
  const agent = new Agent({ keepAlive: true, maxSockets: floorConcurrency })
  const startedAt = performance.now()
  for (;;) {
    const jobs = await db.sql<{ id: number; body: string }[]>`
      update floor_jobs
      set lease_until = now() + interval '15 seconds'
      where id in (
        select id
        from floor_jobs
        where done_at is null
        order by id
        limit ${floorBatch}
        for update skip locked
      )
      returning id, body`
    if (jobs.length === 0) break
    const left = [...jobs]
    const post = async () => {
      for (let job = left.pop(); job !== undefined; job = left.pop()) await postPlain(agent, url, job.body)
    }
    await Promise.all(Array.from({ length: floorConcurrency }, post))
    await db.sql`update floor_jobs set done_at = now() where id = any (${jobs.map(({ id }) => id)}::bigint[])`
  }
  agent.destroy()
  return Math.round(backlog / ((performance.now() - startedAt) / 1000))
}

function postPlain(agent: Agent, url: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const call = request(url, { agent, method: 'POST', headers }, (response) => {
      response.resume().on('end', resolve)
    })
    call.on('error', reject).end(body)
  })
}

async function singleEvents(course: Course): Promise<void> {
  const running = worker(course)
  running.start()
  await counted(course)
  for (let n = 0; n < singles; n++) {
    await record(course, 1, { sentAt: Date.now() })
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  await running.stop()
  const { count, delays } = await counted(course)
  delays.sort((a, b) => a - b)
  console.log(
    `single events: ${count}, p50 ${delays[Math.floor(count / 2)]} ms, p99 ${delays[Math.floor(count * 0.99)]} ms`,
  )
}

async function counted({ url }: Course): Promise<{ count: number; delays: number[] }> {
  return (await fetch(url)).json() as Promise<{ count: number; delays: number[] }>
}

function payload(more: object): object {
  return { ...more, id: randomUUID(), firstName: 'Marina', lastName: 'Duarte', notes: 'x'.repeat(600) }
}

async function record({ db, vault, workspaceId }: Course, count: number, more: object): Promise<void> {
  const keyring = await vault.keyring(workspaceId)
  const events = Array.from({ length: count }, () => ({
    name: 'lead.updated' as const,
    subjectId: randomUUID(),
    connectionId: null,
    payload: payload(more),
  }))
  await db.tx((tx) => recordEvents(tx, keyring, workspaceId, events, systemClock.now()))
}

async function addEndpoint({ db, vault, workspaceId, url }: Course): Promise<void> {
  const id = newId(systemClock.now())
  const settings = sealSettings(await vault.keyring(workspaceId), id, { url, headers: {}, secrets: [makeSecret()] })
  await db.sql`
    insert into webhook_endpoints (
      workspace_id, id, events, phone_visibility, settings, state, state_changed_at, created_at, updated_at
    )
    values (${workspaceId}, ${id}, ${['lead.*']}, 'full', ${settings}, 'active', now(), now(), now())`
  await db.sql`insert into webhook_queues (workspace_id, endpoint_id, cursor) values (${workspaceId}, ${id}, 0)`
}
