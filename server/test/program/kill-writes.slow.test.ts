import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '../../src/base/clock.ts'
import { type Db, openDb } from '../../src/base/db.ts'
import { startEmbeddedPostgres } from '../../src/base/embedded/embedded-postgres.ts'
import { masterKeyFrom } from '../../src/base/sealing/master-key.ts'
import { openVault } from '../../src/base/sealing/vault.ts'
import { newFolder } from '../support/folder.ts'
import { type LeadHistory, writeLeads } from '../support/leads/lead-writer.ts'
import { Acknowledgements, killRounds, type Victim } from '../support/program/kill-rounds.ts'
import { databasePidOf, freePort, newWorkspace, type Service, startService } from '../support/program/service.ts'

const rounds = Number(process.env.KILL_ROUNDS ?? 9)
const restarted = 'the embedded database was started again'
const writers = ['ada', 'ben', 'eva', 'leo']

test('of the real service, kills at random moments lose no acknowledged write, no event, and leave none without its change', async (t) => {
  const folder = await newFolder()
  const port = await freePort()
  const first = await startService({ folder, port })
  const { workspaceId, key } = await newWorkspace(first.url)

  const acknowledged = new Acknowledgements()
  let stopped = false
  const deps = { url: first.url, key, acknowledged, stopped: () => stopped }
  const writing = writers.map((name) => writeLeads(name, deps))
  let started: Service | undefined = first
  const { victim, outagesMs } = await killRounds({
    rounds,
    start: async () => {
      const service = started ?? (await startService({ folder, port }))
      started = undefined
      return victimOf(service, folder)
    },
    acknowledged: (count) => acknowledged.more(count),
  })
  stopped = true
  const leads = (await Promise.all(writing)).flat()
  await victim.killProgram()

  await withDatabase(folder, async (db) => {
    assert.deepEqual(differences(await storedEvents(db, folder, workspaceId), eventsOf(leads)), [])
    assert.deepEqual(differences(await storedValues(db, workspaceId), valuesOf(leads)), [])
  })
  outagesMs.sort((a, b) => a - b)
  const at = (share: number) => Math.round(outagesMs[Math.floor(outagesMs.length * share)] ?? 0)
  t.diagnostic(`${acknowledged.ids.length} acknowledged; outage median ${at(0.5)} ms, p95 ${at(0.95)} ms`)
  assert.ok(acknowledged.ids.length > rounds * 5)
})

async function victimOf(service: Service, folder: string): Promise<Victim> {
  let databasePid = await databasePidOf(folder)
  const restarts = () => service.count(restarted)
  let seen = restarts()
  return {
    databasePid: () => databasePid,
    databaseBack: async () => {
      await service.logged(restarted, seen)
      seen = restarts()
      databasePid = await databasePidOf(folder)
    },
    killProgram: async () => {
      service.kill()
      await service.gone
    },
  }
}

async function withDatabase(folder: string, work: (db: Db) => Promise<void>): Promise<void> {
  const server = await startEmbeddedPostgres({ folder, log: () => {} })
  const db = openDb(server)
  try {
    await work(db)
  } finally {
    await db.close()
    await server.stop()
  }
}

/** What each lead's events say, in their order. */
async function storedEvents(db: Db, folder: string, workspaceId: string): Promise<Record<string, string>> {
  const masterKey = masterKeyFrom(await readFile(join(folder, 'master.key'), 'utf8'))
  const keyring = await openVault(db, { current: masterKey }, systemClock).keyring(workspaceId)
  const rows = await db.sql<{ id: string; subject_id: string; name: string; payload: Buffer }[]>`
    select id, subject_id, name, payload
    from events
    where workspace_id = ${workspaceId}
    order by id`
  const events: Record<string, string[]> = {}
  for (const { id, subject_id, name, payload } of rows) {
    const body = JSON.parse(keyring.openText({ table: 'events', row: id, column: 'payload' }, payload))
    events[subject_id] ??= []
    events[subject_id].push(`${name} ${body.estimatedValue}`)
  }
  return Object.fromEntries(Object.entries(events).map(([id, told]) => [id, told.join(', ')]))
}

async function storedValues(db: Db, workspaceId: string): Promise<Record<string, string>> {
  const rows = await db.sql<{ id: string; estimated_value: number; deleted: boolean }[]>`
    select id, estimated_value, deleted_at is not null as deleted
    from leads
    where workspace_id = ${workspaceId}`
  return Object.fromEntries(rows.map((row) => [row.id, `${row.estimated_value} ${row.deleted}`]))
}

function eventsOf(leads: LeadHistory[]): Record<string, string> {
  return Object.fromEntries(leads.map(({ id, events }) => [id, events.join(', ')]))
}

function valuesOf(leads: LeadHistory[]): Record<string, string> {
  return Object.fromEntries(leads.map(({ id, value, deleted }) => [id, `${value} ${deleted}`]))
}

/** The first few leads of which the service and its clients think differently. */
function differences(stored: Record<string, string>, known: Record<string, string>): string[] {
  const ids = [...new Set([...Object.keys(stored), ...Object.keys(known)])].filter((id) => stored[id] !== known[id])
  return ids.slice(0, 5).map((id) => `${id} is ${stored[id]} and should be ${known[id]}`)
}
