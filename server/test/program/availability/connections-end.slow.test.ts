import assert from 'node:assert/strict'
import { test } from 'node:test'
import { goDirect, testDatabase } from '../../support/database.ts'
import { writeLeads } from '../../support/leads/lead-writer.ts'
import { startCallers } from '../../support/program/callers.ts'
import { compareLeads } from '../../support/program/compare-leads.ts'
import { Acknowledgements } from '../../support/program/kill-rounds.ts'
import { newWorkspace, startService } from '../../support/program/service.ts'
import { nodeSettings } from '../../support/program/two-nodes.ts'

goDirect('it ends the very sessions that the service has')

const rounds = Number(process.env.CUT_ROUNDS ?? 5)

// How each statement and each commit is done again, `server/test/base/postgres/done-again.test.ts` tests moment by moment.
test(`while the database ends all sessions, ${rounds} times, callers see next to nothing of it, and nothing is done twice`, async (t) => {
  const database = await testDatabase()
  const settings = nodeSettings(database)
  const { url } = await startService({ env: { ...settings, PARLEY_SIMULATOR: '0' } })
  const { workspaceId, key } = await newWorkspace(url)
  const other = await newWorkspace(url)
  const acknowledged = new Acknowledgements()
  let stopped = false
  const changing = ['ada', 'ben'].map((name) => writeLeads(name, { url, key, acknowledged, stopped: () => stopped }))
  const callers = startCallers({ url, key: other.key, reads: ['/api/v1/leads?limit=1'] })
  for (let round = 0; round < rounds; round++) {
    await Promise.all([callers.more(20), acknowledged.more(10)])
    await database.db.sql`
      select pg_terminate_backend(pid)
      from pg_stat_activity
      where datname = current_database()
        and pid <> pg_backend_pid()`
  }
  await Promise.all([callers.more(20), acknowledged.more(10)])
  stopped = true
  const leads = (await Promise.all(changing)).flat()
  await callers.stop()
  const { written, counts, faults } = callers
  t.diagnostic(`${JSON.stringify(counts)}; ${acknowledged.ids.length} changes of ${leads.length} leads`)
  assert.deepEqual(faults, [])
  // Of a commit that was under way at that moment nobody knows; all else is done again.
  assert.ok((counts[503] ?? 0) <= rounds)
  assert.deepEqual(await compareLeads(database.db, settings.PARLEY_MASTER_KEY ?? '', workspaceId, leads), [])
  const rows = await database.db.sql<{ id: string; created: number }[]>`
    select l.id, count(e.id)::integer as created
    from leads l
      left join events e
        on e.workspace_id = l.workspace_id
        and e.subject_id = l.id
        and e.name = 'lead.created'
    where l.workspace_id = ${other.workspaceId}
    group by l.id`
  assert.ok(rows.every(({ created }) => created === 1))
  const stored = new Set(rows.map(({ id }) => id))
  assert.deepEqual(
    written.filter(({ id }) => !stored.has(id)),
    [],
  )
})
