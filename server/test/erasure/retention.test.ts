import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { deleteExpiredRows, eraseIdleConversations } from '../../src/app/erasure.ts'
import { deleteExpiredImportFiles } from '../../src/leads/retention.ts'
import { runImports } from '../../src/leads/transfer/import/run-import.ts'
import { conversationPath, type InboxWorld, inboxWorld, marina } from '../support/inbox/inbox-world.ts'
import { rotate } from '../support/key-rotation/rotate-keys.ts'
import { uploadFile } from '../support/leads/import-world.ts'
import { leadPath } from '../support/leads/leads.ts'
import { signedInMember } from '../support/member.ts'
import { pick } from '../support/pick.ts'
import { testTeamToken } from '../support/world.ts'

const dayMs = 86_400_000
const scopes = ['leads.read', 'leads.write', 'inbox.read', 'inbox.write'] as const

async function retentionWorld() {
  const w = await inboxWorld({ key: { scopes: [...scopes] } })
  const admin = await signedInMember(w, 'admin')
  const keep = (retention: object) => admin.call('PATCH', '', { retention })
  const count = async (table: string, scope = 'workspace_id') => {
    const [row] = await w.db.sql<{ count: number }[]>`
      select count(*)::integer as count from ${w.db.sql(table)} where ${w.db.sql(scope)} = ${w.workspaceId}`
    return row?.count ?? 0
  }
  return { ...w, admin, keep, count }
}

const counted = ['conversation_activities', 'sends', 'form_submissions'] as const

async function fill(w: Awaited<ReturnType<typeof retentionWorld>>): Promise<string> {
  const { id } = await w.customerWrites('Hi')
  await w.call('PATCH', conversationPath(id), { body: { owner: `agent:${w.keyId}`, status: 'pending' } })
  const headers = { 'idempotency-key': randomUUID() }
  await w.call('POST', `${conversationPath(id)}/messages`, { body: { kind: 'text', text: 'Hello' }, headers })
  const fields = [{ key: 'firstName', label: 'Name', type: 'text', required: true }]
  const { body } = await w.admin.call('POST', '/forms', { name: 'Form', title: 'Form', fields })
  await w.app.inject({ method: 'POST', url: `/f/${body.form.slug}`, payload: { firstName: 'Ana' } })
  return id
}

test('by default only audit log entries older than two years are deleted', async () => {
  const w = await retentionWorld()
  const id = await fill(w)
  const retention = (await w.admin.call('GET', '')).body.workspace.retention
  assert.deepEqual(retention, {
    conversationsDays: null,
    activitiesDays: null,
    sendsDays: null,
    submissionsDays: null,
    auditDays: 730,
  })
  const before = await Promise.all(counted.map((table) => w.count(table)))
  assert.ok(before.every((count) => count > 0) && (await w.count('audit_log', 'scope_id')) > 0)
  w.clock.advance(729 * dayMs)
  await deleteExpiredRows(w)
  assert.ok((await w.count('audit_log', 'scope_id')) > 0)
  w.clock.advance(2 * dayMs)
  await deleteExpiredRows(w)
  await eraseIdleConversations(w)
  assert.deepEqual(await Promise.all(counted.map((table) => w.count(table))), before)
  assert.equal(await w.count('audit_log', 'scope_id'), 0)
  assert.equal((await w.call('GET', conversationPath(id))).status, 200)
})

test('data is deleted the day after its retention, and other workspaces are not affected', async () => {
  const [w, other] = [await retentionWorld(), await retentionWorld()]
  await fill(w)
  await fill(other)
  const others = await Promise.all(counted.map((table) => other.count(table)))
  const patched = await w.keep({ activitiesDays: 40, sendsDays: 40, submissionsDays: 40, auditDays: 40 })
  assert.equal(patched.status, 200)
  assert.equal(patched.body.workspace.retention.sendsDays, 40)
  w.clock.advance(40 * dayMs - 1000)
  await deleteExpiredRows(w)
  assert.ok((await Promise.all(counted.map((table) => w.count(table)))).every((count) => count > 0))
  w.clock.advance(2000)
  await deleteExpiredRows(w)
  assert.deepEqual(await Promise.all(counted.map((table) => w.count(table))), [0, 0, 0])
  assert.equal(await w.count('audit_log', 'scope_id'), 0)
  assert.deepEqual(await Promise.all(counted.map((table) => other.count(table))), others)
  assert.equal((await w.messages((await w.conversations())[0].id)).length, 2)
})

test('a conversation is erased as a whole when its last message is older than the retention', async () => {
  const w = await retentionWorld()
  const id = await fill(w)
  await w.admin.call('POST', `/inbox/conversations/${id}/notes`, { text: 'n' }, { 'idempotency-key': 'k' })
  const { id: active } = await w.customerWrites('Hi', { customer: { ...marina, phone: '5511900000000' } })
  await w.keep({ conversationsDays: 60 })
  w.clock.advance(50 * dayMs)
  await w.customerWrites('Still here', { customer: { ...marina, phone: '5511900000000' } })
  w.clock.advance(9 * dayMs)
  assert.equal(await eraseIdleConversations(w), 0)
  w.clock.advance(2 * dayMs)
  assert.equal(await eraseIdleConversations(w), 1)
  assert.equal((await w.call('GET', conversationPath(id))).status, 404)
  assert.deepEqual(pick(await w.conversations(), 'id'), [active])
  for (const table of [
    'messages',
    'conversation_notes',
    'conversation_activities',
    'sends',
    'message_parts',
  ] as const) {
    assert.ok((await rowsOf(w, table, id)) === 0, table)
  }
  assert.deepEqual(await w.events(id), [])
  assert.ok((await w.events(active)).length > 0)
  // The customer may come back, as anybody may.
  assert.notEqual((await w.customerWrites('Me again')).id, id)
})

async function rowsOf(w: InboxWorld, table: string, conversationId: string): Promise<number> {
  const [row] = await w.db.sql<{ count: number }[]>`
    select count(*)::integer as count from ${w.db.sql(table)} t
    where t.workspace_id = ${w.workspaceId} and to_jsonb(t)::text like ${`%${conversationId}%`}`
  return row?.count ?? 0
}

test('imports, day counters, rotations and ended tokens have fixed retention', async () => {
  const w = await retentionWorld()
  await w.lead()
  const importId = await uploadFile(w, 'name\nAna\n')
  const key = testTeamToken
  const path = `/api/team/v1/workspaces/${w.workspaceId}`
  await w.call('POST', `${path}/lead-imports/${importId}/start`, { key, body: { match: 'none' } })
  await runImports(w, new AbortController().signal)
  await rotate(w, 'data')
  const made = async (name: string) =>
    (await w.call('POST', `${path}/tokens`, { key, body: { name, role: 'member' } })).body.token.id
  const [revoked, kept] = [await made('Old'), await made('New')]
  await w.call('DELETE', `${path}/tokens/${revoked}`, { key })

  const counts = async () => [
    await w.count('lead_imports'),
    await w.count('lead_quota'),
    await w.count('lead_quota_slots').then(Boolean),
    await w.count('key_rotations', 'scope_id'),
    await w.count('team_tokens'),
  ]
  assert.deepEqual(await counts(), [1, 1, true, 1, 2])
  w.clock.advance(2 * dayMs)
  await deleteExpiredRows(w)
  assert.deepEqual(await counts(), [1, 0, false, 1, 2], 'a day is over')
  w.clock.advance(90 * dayMs)
  await deleteExpiredImportFiles(w.db, w.clock)
  await deleteExpiredRows(w)
  assert.deepEqual(await counts(), [0, 0, false, 1, 2])
  w.clock.advance(280 * dayMs)
  await deleteExpiredRows(w)
  assert.deepEqual(await counts(), [0, 0, false, 0, 1])
  const { tokens } = (await w.call('GET', `${path}/tokens`, { key })).body
  assert.deepEqual(pick(tokens, 'id'), [kept])
  assert.equal((await w.call('GET', leadPath('none'))).status, 404)
})

test('retention outside 30 to 3650 days is refused, and members cannot set it', async () => {
  const w = await retentionWorld()
  for (const retention of [{}, { sendsDays: 29 }, { auditDays: 3651 }, { auditDays: 1.5 }, { leadsDays: 40 }]) {
    assert.equal((await w.keep(retention)).status, 400, JSON.stringify(retention))
  }
  const member = await signedInMember(w)
  assert.equal((await member.call('PATCH', '', { retention: { sendsDays: 40 } })).status, 403)
  assert.equal((await w.keep({ auditDays: null })).body.workspace.retention.auditDays, null)
})
