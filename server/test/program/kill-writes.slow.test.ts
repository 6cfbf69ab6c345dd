import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openDb } from '../../src/base/db.ts'
import { startEmbeddedPostgres } from '../../src/base/embedded/embedded-postgres.ts'
import { newFolder } from '../support/folder.ts'
import { Acknowledgements, killRounds, type Victim } from '../support/program/kill-rounds.ts'
import { databasePidOf, freePort, newWorkspace, type Service, startService } from '../support/program/service.ts'
import { compareLeads } from './compare-leads.ts'
import { writeLeads } from './lead-writer.ts'

/** The program, its database and both in turn. */
const rounds = Number(process.env.KILL_ROUNDS ?? 3)
const restarted = 'embedded database exited; restarted it'
const writers = ['ada', 'ben', 'eva', 'leo']

test('random kills of the real service lose no acknowledged write and no event, and leave no event without its change', async (t) => {
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
      return victimOf(service)
    },
    acknowledged: (count) => acknowledged.more(count),
  })
  stopped = true
  const leads = (await Promise.all(writing)).flat()
  await victim.killProgram()

  const server = await startEmbeddedPostgres({ folder, log: () => {} })
  const db = openDb(server)
  try {
    const masterKey = await readFile(join(folder, 'master.key'), 'utf8')
    assert.deepEqual(await compareLeads(db, masterKey, workspaceId, leads), [])
  } finally {
    await db.close()
    await server.stop()
  }
  outagesMs.sort((a, b) => a - b)
  const at = (share: number) => Math.round(outagesMs[Math.floor(outagesMs.length * share)] ?? 0)
  t.diagnostic(`${acknowledged.ids.length} acknowledged; outage median ${at(0.5)} ms, p95 ${at(0.95)} ms`)
  assert.ok(acknowledged.ids.length > rounds * 5)
})

async function victimOf(service: Service): Promise<Victim> {
  let databasePid = await databasePidOf(service.folder)
  const restarts = () => service.count(restarted)
  let seen = restarts()
  return {
    databasePid: () => databasePid,
    databaseBack: async () => {
      await service.logged(restarted, seen)
      seen = restarts()
      databasePid = await databasePidOf(service.folder)
    },
    killProgram: async () => {
      service.kill()
      await service.exited
    },
  }
}
