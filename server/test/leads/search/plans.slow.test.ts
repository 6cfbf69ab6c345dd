import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fillActivityTraces, fillLeads } from '../../../../bench/fill.ts'
import { indexLeads } from '../../../src/leads/search/index-leads.ts'
import { statementsOf, vacuum } from '../../support/database.ts'
import { addMember, leadPath, leadsPath } from '../../support/leads/leads.ts'
import { signedInMember } from '../../support/member.ts'
import { clearStatistics, findBadPlans, findWorkspaceScans } from '../../support/query-plans.ts'
import { makeTokens } from '../../support/tokens.ts'
import { type Answer, type World, world } from '../../support/world.ts'

async function filled(count: number): Promise<World> {
  const w = await world({ dailyLeadQuota: 0 })
  const filling = { ...w, keyring: await w.keyStore.keyring(w.workspaceId), now: w.clock.now() }
  await fillLeads(filling, count)
  await fillActivityTraces(filling)
  await w.db.sql`insert into event_feeds (workspace_id, last_position) values (${w.workspaceId}, ${count})`
  await makeTokens(w)
  return w
}

async function succeed(answer: Promise<Answer>): Promise<Answer> {
  const done = await answer
  assert.ok(done.status >= 200 && done.status < 300, JSON.stringify(done.body))
  return done
}

async function readEveryWay(w: World): Promise<void> {
  const list = (query: Record<string, string>) => succeed(w.call('GET', leadsPath, { query }))
  const noon = w.clock.now().toISOString()
  const dayBefore = new Date(w.clock.now().getTime() - 86_400_000).toISOString()
  for (const query of [
    { status: 'won' },
    { status: 'won,lost' },
    { priority: 'urgent' },
    { source: 'ads' },
    { adPlatform: 'meta' },
    { assignedTo: await addMember(w) },
    { createdFrom: dayBefore, createdTo: noon },
    { updatedFrom: dayBefore, updatedTo: noon },
    { search: 'Marina Duarte' },
    { search: '+55 81 99123-4567' },
    { search: 'SE' },
  ] as Record<string, string>[]) {
    await list(query)
  }
  for (const sortBy of ['createdAt', 'updatedAt']) {
    for (const sortOrder of ['asc', 'desc']) {
      const { body } = await list({ sortBy, sortOrder, limit: '3' })
      await list({ sortBy, sortOrder, limit: '3', cursor: body.pagination.nextCursor })
    }
  }
  await list({ page: '3' })
}

async function writeEveryWay(w: World): Promise<void> {
  const lead = await w.lead({ lastName: 'Duarte', phone: '+5581991234567', externalRef: 'crm-1' })
  for (const identifier of [lead.id, lead.uniqueCode, 'crm-1', '+5581991234567']) {
    await succeed(w.call('GET', leadPath(identifier)))
  }
  await succeed(w.call('PATCH', leadPath(lead.id), { body: { status: 'qualified', lastName: 'Dias' } }))
  const items = ['externalRef', 'phone', 'email', 'uniqueCode'].map((by, n) => ({
    match: { by, value: ['crm-2', '+5581991234568', 'marina@example.com', 'SEED00000003'][n] },
    lead: { firstName: 'Marina', notes: 'Called' },
  }))
  for (const body of items) await w.call('POST', `${leadsPath}/upsert`, { body })
  await w.call('POST', `${leadsPath}/bulk-upsert`, { body: { items } })
  await w.sequencer.sequence(w.workspaceId)
  await indexLeads(w)
  await succeed(w.call('DELETE', leadPath(lead.id)))
  await succeed(w.call('POST', `${leadPath(lead.id)}/restore`))
}

/** Queries that only people send. */
async function askAsMember(w: World): Promise<void> {
  const [admin, member] = [await signedInMember(w, 'admin'), await signedInMember(w)]
  const { id } = await w.lead({ phone: '5581991234567', email: 'marina@example.com' })
  for (const path of [`/leads/${id}/duplicates`, '/leads/trash']) await succeed(member.call('GET', path))
  await succeed(member.call('POST', '/leads/check', { phone: '(81) 99123-4567' }))
  const label = (await admin.call('POST', '/labels', { name: 'Often', color: 'teal' })).body.label.id
  await w.db.sql`
    insert into lead_labels (workspace_id, lead_id, label_id)
    select workspace_id, id, ${label} from leads where workspace_id = ${w.workspaceId} and id <> ${id}`
  for (const labelIds of [[label], []]) await succeed(member.call('PUT', `/leads/${id}/labels`, { labelIds }))
  for (const filter of ['labels', 'withoutLabels']) {
    await succeed(member.call('GET', `/leads?limit=10&${filter}=${label}`))
  }
}

const tables = ['leads', 'lead_search', 'lead_status_changes', 'lead_labels', 'events']

test('no leads route scans a large table, in a large workspace or in a small one beside it', async () => {
  const large = await filled(20_000)
  const small = await filled(300)
  await vacuum()
  for (const w of [large, small]) {
    const statements = await statementsOf(async () => {
      await readEveryWay(w)
      await writeEveryWay(w)
      await askAsMember(w)
    })
    assert.ok(statements.length > 30, `${statements.length} statements`)
    assert.deepEqual(await findBadPlans(w.db, statements, tables), [])
  }
})

test('a search reads leads by id, even before the database has statistics', async () => {
  const w = await filled(3_000)
  await clearStatistics(w.db, tables)
  const statements = await statementsOf(async () => {
    for (const search of ['Marina Duarte', 'Silva 12']) {
      await succeed(w.call('GET', leadsPath, { query: { search, status: 'won' } }))
    }
  })
  assert.deepEqual(await findWorkspaceScans(w.db, statements, 'leads'), [])
})
