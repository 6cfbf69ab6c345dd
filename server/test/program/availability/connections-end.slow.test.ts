import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Db } from '../../../src/base/db.ts'
import { goDirect, testDatabase } from '../../support/database.ts'
import { newFolder } from '../../support/folder.ts'
import { databaseByProxy } from '../../support/postgres/cutting-proxy.ts'
import { freePort, newWorkspace, startService } from '../../support/program/service.ts'
import { nodeSettings } from '../../support/program/two-nodes.ts'
import { until } from '../../support/until.ts'

goDirect('it ends the very sessions that the service has')

const rounds = Number(process.env.CUT_ROUNDS ?? 20)

test(`while the database ends all sessions, ${rounds} times, callers see next to nothing of it, and nothing is done twice`, async (t) => {
  const database = await testDatabase()
  const env = { ...nodeSettings(database), PARLEY_SIMULATOR: '0' }
  const service = await startService({ folder: await newFolder(), port: await freePort(), env })
  const { workspaceId, key } = await newWorkspace(service.url)
  const callers = startCallers(service.url, key)
  for (let round = 0; round < rounds; round++) {
    await callers.more(20)
    await endSessions(database.db)
  }
  await callers.more(20)
  const { changes, counts, faults } = await callers.stop()
  t.diagnostic(`${JSON.stringify(counts)} from ${changes.size} leads`)
  assert.deepEqual(faults, [])
  // Of a commit that was under way at that moment nobody knows; all else is done again.
  assert.ok((counts['503'] ?? 0) <= rounds)

  const rows = await database.db.sql<{ id: string; step: number; created: number; updated: number }[]>`
    select
      l.id,
      l.estimated_value as step,
      count(*) filter (where e.name = 'lead.created')::integer as created,
      count(*) filter (where e.name = 'lead.updated')::integer as updated
    from leads l
      join events e on e.workspace_id = l.workspace_id and e.subject_id = l.id
    where l.workspace_id = ${workspaceId}
    group by l.id, l.estimated_value`
  for (const { id, step, created, updated } of rows) {
    const { acknowledged, attempted } = changes.get(id) ?? { acknowledged: 0, attempted: 0 }
    assert.deepEqual([created, updated], [1, step], `events of a lead at ${step}`)
    assert.ok(step >= acknowledged && step <= attempted, `${acknowledged} ≤ ${step} ≤ ${attempted}`)
  }
  const stored = new Set(rows.map(({ id }) => id))
  assert.deepEqual(
    [...changes.keys()].filter((id) => !stored.has(id)),
    [],
  )
})

test('a lead is created and changed once, whenever its connection ends', async () => {
  const database = await testDatabase()
  const { proxy, options } = await databaseByProxy(database.options)
  const env = { ...nodeSettings({ ...database, options }), PARLEY_SIMULATOR: '0' }
  const service = await startService({ folder: await newFolder(), port: await freePort(), env })
  const { workspaceId, key } = await newWorkspace(service.url)
  const count = async (externalRef: string) =>
    (
      await database.db.sql`
        select
        from leads
        where workspace_id = ${workspaceId}
          and external_ref = ${externalRef}`
    ).length

  const ids: string[] = []
  for (const when of ['answered', 'unheard', 'heard'] as const) {
    const externalRef = `ref-${when}`
    proxy.cutAtWord(externalRef, when)
    const { status, body } = await call(service.url, key, 'POST', '', { firstName: 'Kim', externalRef })
    assert.deepEqual([status, await count(externalRef)], [201, 1], when)
    ids.push(body.data.id)
  }
  // A change is sent with its commit. What its statements answered goes with the connection, and then the caller is told to come again.
  for (const [n, { when, expected }] of [
    { when: 'unheard', expected: [200, null, 1] },
    { when: 'answered', expected: [503, '5', 1] },
    { when: 'heard', expected: [503, '5', 1] },
  ].entries()) {
    const externalRef = `changed-${when}`
    proxy.cutAtWord(externalRef, when as 'heard')
    const { status, retryAfter } = await call(service.url, key, 'PATCH', `/${ids[n]}`, { externalRef })
    assert.deepEqual([status, retryAfter, await count(externalRef)], expected, when)
  }
  const events = await database.db.sql`select from events where workspace_id = ${workspaceId} and name like 'lead.%'`
  assert.equal(events.length, 6)
})

interface Callers {
  /** Resolves after so many further answers that say it is done. */
  more(count: number): Promise<void>
  stop(): Promise<{ changes: Map<string, Changes>; counts: Record<string, number>; faults: string[] }>
}

/** How many changes of a lead were acknowledged, and asked for. */
interface Changes {
  acknowledged: number
  attempted: number
}

const changesEach = 3

/** Four that create leads and change each some times, and one that reads. */
function startCallers(url: string, key: string): Callers {
  const changes = new Map<string, Changes>()
  const counts: Record<string, number> = {}
  const faults: string[] = []
  let done = 0
  let isOver = false
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await call(url, key, method, path, body)
    counts[answer.status] = (counts[answer.status] ?? 0) + 1
    const isDone = answer.status < 300
    if (isDone) done++
    else if (method === 'GET' || answer.status !== 503 || answer.retryAfter === null)
      faults.push(`${method} ${answer.status} ${JSON.stringify(answer.body)}`)
    return isDone ? answer.body : null
  }
  const write = async () => {
    while (!isOver) {
      const created = await ask('POST', '', { firstName: 'Kim', estimatedValue: 0 })
      if (created === null) continue
      const entry = { acknowledged: 0, attempted: 0 }
      changes.set(created.data.id, entry)
      while (entry.attempted < changesEach) {
        entry.attempted++
        const changed = await ask('PATCH', `/${created.data.id}`, { estimatedValue: entry.attempted })
        // It may be there: the same again would be no change then.
        if (changed === null) break
        entry.acknowledged = entry.attempted
      }
    }
  }
  const read = async () => {
    while (!isOver) await ask('GET', '?limit=1')
  }
  const running = Promise.all([write(), write(), write(), write(), read()])
  running.catch(() => {})
  return {
    more: (count) => {
      const enough = done + count
      return until(() => done >= enough, `${count} answers`)
    },
    stop: async () => {
      isOver = true
      await running
      return { changes, counts, faults }
    },
  }
}

async function call(url: string, key: string, method: string, path: string, body?: object) {
  const headers = {
    authorization: `Bearer ${key}`,
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
  const reply = await fetch(`${url}/api/v1/leads${path}`, init)
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape; a test fails where one is wrong
  const answer = (await reply.json()) as any
  return { status: reply.status, retryAfter: reply.headers.get('retry-after'), body: answer }
}

const endSessions = (db: Db) => db.sql`
  select pg_terminate_backend(pid)
  from pg_stat_activity
  where datname = current_database()
    and pid <> pg_backend_pid()`
