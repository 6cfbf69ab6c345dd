import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deleteExpiredRows } from '../../../src/app/erasure.ts'
import { newId } from '../../../src/base/id.ts'
import { purgeDeletedLeads } from '../../../src/leads/write/restore.ts'
import { auditOf } from '../../support/audit.ts'
import { customerMessage } from '../../support/inbox/inbox-world.ts'
import { eventCounts, leadPath, leadsPath, quotaUsed } from '../../support/leads/leads.ts'
import { mergeWorld } from '../../support/leads/merge-world.ts'
import { signedInMember } from '../../support/member.ts'
import { pick } from '../../support/pick.ts'

const dayMs = 86_400_000
const older = {
  firstName: 'Marina',
  phone: '5581991234567',
  email: 'marina@example.com',
  notes: 'Prefers mornings',
  status: 'contacted',
  customFieldValues: { k_city: 'Recife' },
}
const newer = {
  firstName: 'Marina',
  lastName: 'Duarte',
  phone: '5511987650001',
  email: 'm.duarte@work.example',
  externalRef: 'crm-2',
  notes: 'Met at the fair',
  estimatedValue: 1200,
  customFieldValues: { k_city: 'Olinda', company: 'Duarte & Co' },
}

async function duartes() {
  const world = await mergeWorld(older, newer)
  const { w } = world
  const list = async () => (await w.call('GET', leadsPath)).body
  const audit = () => auditOf(w, 'lead.')
  return { ...world, list, audit }
}

test('a merge keeps one lead, fills its empty fields from the other, joins notes, deletes the other, and emits events', async () => {
  const { w, member, one, two, merged, list, audit } = await duartes()
  const used = await quotaUsed(w)
  const { merge, lead } = await merged()
  assert.deepEqual(
    [lead.id, lead.lastName, lead.phone, lead.email, lead.externalRef, lead.estimatedValue, lead.status],
    [one.id, 'Duarte', older.phone, older.email, 'crm-2', 1200, 'contacted'],
  )
  assert.equal(lead.notes, 'Prefers mornings\n\nMet at the fair')
  assert.deepEqual(lead.customFieldValues, {
    k_city: 'Recife',
    city: 'Recife',
    company: 'Duarte & Co',
  })
  assert.deepEqual(
    [merge.keptId, merge.otherId, merge.otherName, merge.mergedBy, merge.undoneAt, merge.left],
    [one.id, two.id, 'Marina Duarte', { type: 'user', id: member.userId }, null, []],
  )
  assert.equal(merge.undoUntil, new Date(w.clock.now().getTime() + 30 * dayMs).toISOString())
  const { data, pagination } = await list()
  assert.deepEqual([pick(data, 'id'), pagination.total], [[one.id], 1])
  for (const name of [two.id, two.uniqueCode]) assert.equal((await w.call('GET', leadPath(name))).status, 404)
  assert.equal((await w.events(two.id)).at(-1)?.name, 'lead.deleted')
  const told = (await w.events(one.id)).at(-1)
  assert.deepEqual([told?.name, told?.payload.lastName, told?.payload.contacts], ['lead.updated', 'Duarte', undefined])
  assert.deepEqual(await audit(), [['lead.merged', `merge:${merge.id}`]])
  assert.equal(await quotaUsed(w), used)
  const { merges, otherPhones, otherEmails } = (await member.call('GET', `/leads/${one.id}/merges`)).body
  assert.deepEqual([merges, otherPhones, otherEmails], [[merge], [newer.phone], [newer.email]])
})

test('chosen values are kept, field by field, also empty ones', async () => {
  const { merged, two } = await duartes()
  const { lead } = await merged(undefined, undefined, {
    fields: {
      lastName: 'kept',
      phone: 'other',
      status: 'other',
      notes: 'other',
      externalRef: 'kept',
      uniqueCode: 'other',
    },
    customFields: { k_city: 'other', company: 'none' },
  })
  assert.deepEqual(
    [lead.lastName, lead.phone, lead.status, lead.notes, lead.externalRef, lead.uniqueCode],
    [null, newer.phone, 'new', newer.notes, null, two.uniqueCode],
  )
  assert.deepEqual(lead.customFieldValues, { k_city: 'Olinda', city: 'Olinda' })
})

test('a customer who returns with the phone of either lead matches the kept lead, and no third lead is created', async () => {
  const { w, member, one, merged, list } = await duartes()
  await merged()
  const writer = { ...customerMessage({ at: w.clock.now() }).customer, phone: newer.phone }
  await w.db.sql`update workspaces set leads_from_chat = true where id = ${w.workspaceId}`
  await w.customerWrites('Hello again', { customer: writer })
  for (const phone of [newer.phone, older.phone, '551187650001']) {
    assert.equal((await w.call('GET', leadPath(phone))).body.data?.id, one.id, phone)
    const body = { match: { by: 'phone', value: phone }, lead: { firstName: 'Marina', phone } }
    const upserted = await w.call('POST', `${leadsPath}/upsert`, { body })
    assert.deepEqual([upserted.body.action, upserted.body.data.id], ['updated', one.id], phone)
  }
  const duplicates = (await member.call('POST', '/leads/check', { email: 'M.Duarte@work.example' })).body.duplicates
  assert.deepEqual(
    duplicates.map((found: { lead: { id: string }; same: string[] }) => [found.lead.id, found.same]),
    [[one.id, ['email']]],
  )
  assert.equal((await list()).pagination.total, 1)
  const [{ id }] = (await member.call('GET', '/inbox/conversations')).body.conversations
  assert.equal((await member.call('GET', `/inbox/conversations/${id}`)).body.lead.id, one.id)
})

test('history, submissions, import records and conversations of both are with the kept lead, and move back on undo', async () => {
  const { w, member, one, two, merged, undo } = await duartes()
  const writer = { ...customerMessage({ at: w.clock.now() }).customer, phone: newer.phone }
  await w.customerWrites('Hello', { customer: writer })
  await w.call('PATCH', leadPath(two.id), { body: { status: 'qualified' } })
  await w.call('PATCH', leadPath(one.id), { body: { status: 'won' } })
  const importId = await insertImport(w, two.id)
  await insertSubmission(w, two.id)
  const preview = (await member.call('GET', `/leads/${one.id}/merge?otherId=${two.id}`)).body
  assert.deepEqual([preview.kept.id, preview.other.id], [one.id, two.id])
  assert.deepEqual([preview.conversations, preview.submissions, preview.statusChanges], [1, 1, 1])
  const { merge } = await merged()
  assert.deepEqual([merge.submissions, merge.statusChanges], [1, 1])
  const shown = async (id: string) => ({
    history: pick((await member.call('GET', `/leads/${id}/history`)).body.history, 'to'),
    conversations: (await member.call('GET', `/leads/${id}/conversations`)).body.conversations.length,
    submissions: (await w.db.sql`select from form_submissions where lead_id = ${id}`).count,
    imported: (await member.call('GET', `/leads?importId=${importId}`)).body.leads.some(
      (lead: { id: string }) => lead.id === id,
    ),
  })
  assert.deepEqual(await shown(one.id), {
    history: ['qualified', 'won'],
    conversations: 1,
    submissions: 1,
    imported: true,
  })
  assert.equal((await undo(merge.id)).status, 200)
  assert.deepEqual(await shown(one.id), { history: ['won'], conversations: 0, submissions: 0, imported: false })
  assert.deepEqual(await shown(two.id), { history: ['qualified'], conversations: 1, submissions: 1, imported: true })
})

type MergeWorld = Awaited<ReturnType<typeof mergeWorld>>

async function insertImport({ db, workspaceId, clock }: MergeWorld['w'], leadId: string): Promise<string> {
  const id = newId(clock.now())
  await db.sql`
    insert into lead_bulk_changes (workspace_id, id, kind, state, actor_type, actor_id, created_at)
    values (${workspaceId}, ${id}, 'import', 'done', 'user', ${id}, ${clock.now()})`
  await db.sql`
    insert into lead_bulk_items (workspace_id, change_id, lead_id, outcome)
    values (${workspaceId}, ${id}, ${leadId}, 'created')`
  return id
}

async function insertSubmission(w: MergeWorld['w'], leadId: string): Promise<void> {
  const member = await signedInMember(w, 'admin')
  const fields = [{ key: 'firstName', label: 'Name', type: 'text', required: true }]
  const { form } = (await member.call('POST', '/forms', { name: 'Form', title: 'Form', fields })).body
  await w.db.sql`
    insert into form_submissions (workspace_id, id, form_id, lead_id, nonce, submitted_at)
    values (${w.workspaceId}, ${newId(w.clock.now())}, ${form.id}, ${leadId}, ${newId(w.clock.now())}, ${w.clock.now()})`
}

test('an undo restores the other lead and the former values of the kept one, except values changed since, which it lists', async () => {
  const { w, one, two, merged, undo, read, list, audit } = await duartes()
  const before = [await read(one.id), await read(two.id)]
  const { merge } = await merged(undefined, undefined, { fields: { status: 'other' } })
  w.clock.advance(dayMs)
  await w.call('PATCH', leadPath(one.id), { body: { lastName: 'Duarte Lima', customFieldValues: { company: 'DL' } } })
  const answer = await undo(merge.id)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  assert.deepEqual(answer.body.merge.left, ['lastName', 'customFields.company'])
  assert.deepEqual([answer.body.merge.undoUntil, answer.body.merge.otherName], [null, null])
  const [kept, other] = [await read(one.id), await read(two.id)]
  const { updatedAt: _, ...was } = before[0]
  const { updatedAt: __, ...is } = kept
  assert.deepEqual(is, {
    ...was,
    lastName: 'Duarte Lima',
    customFields: [...was.customFields, { key: 'company', label: 'company', type: 'text', value: 'DL' }],
    customFieldValues: { ...was.customFieldValues, company: 'DL' },
  })
  assert.deepEqual({ ...other, updatedAt: null }, { ...before[1], updatedAt: null })
  assert.equal((await list()).pagination.total, 2)
  assert.equal((await w.call('GET', leadPath(newer.phone))).body.data.id, two.id)
  assert.equal((await w.events(one.id)).at(-1)?.name, 'lead.updated')
  assert.equal((await w.events(two.id)).at(-1)?.name, 'lead.restored')
  assert.deepEqual(pick(await audit(), '0'), ['lead.merged', 'lead.merge_undone'])
  const repeated = await undo(merge.id)
  assert.deepEqual([repeated.status, repeated.body.merge], [200, answer.body.merge])
})

test('a repeated request returns the existing merge, and of two concurrent merges in either direction one is done', async () => {
  const { w, one, two, merge } = await duartes()
  const same = await Promise.all([merge(), merge(), merge()])
  assert.deepEqual(
    same.map(({ status, body }) => [status, body.merge.id]),
    same.map(() => [200, same[0]?.body.merge.id]),
  )
  assert.equal((await eventCounts(w))['lead.deleted'], 1)
  assert.equal((await merge(two.id, one.id)).status, 404)
  const [three, four] = [await w.lead({ phone: '5521990000001' }), await w.lead({ phone: '5521990000002' })]
  const crossed = await Promise.all([merge(three.id, four.id), merge(four.id, three.id)])
  assert.deepEqual(crossed.map(({ status }) => status).sort(), [200, 404])
})

test('upserts by the phone of the merged lead during a merge or its undo create no third lead', async () => {
  const { w, merge, undo, list } = await duartes()
  const upsert = () =>
    w.call('POST', `${leadsPath}/upsert`, {
      body: { match: { by: 'phone', value: newer.phone }, lead: { firstName: 'M' } },
    })
  const [first] = await Promise.all([merge(), ...Array.from({ length: 8 }, upsert)])
  assert.equal((await list()).pagination.total, 1)
  await Promise.all([undo(first.body.merge.id), ...Array.from({ length: 8 }, upsert)])
  assert.equal((await list()).pagination.total, 2)
})

test('invalid merges are rejected with the reason: itself, unknown leads, too many custom fields, notes that are too long', async () => {
  const { w, one, two, merge } = await duartes()
  const issues = async (body: object) => {
    const answer = await merge(undefined, undefined, body)
    assert.equal(answer.status, 400, JSON.stringify(answer.body))
    return pick(answer.body.data.issues, 'path')
  }
  assert.deepEqual(await issues({ otherId: one.id }), ['otherId'])
  assert.equal((await merge(one.id, newId(w.clock.now()))).status, 404)
  assert.equal((await merge(newId(w.clock.now()), two.id)).status, 404)
  const many = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`field_${n}`, `${n}`]))
  await w.call('PATCH', leadPath(one.id), {
    body: { notes: 'x'.repeat(9_990), customFieldValues: { ...many, k_city: null } },
  })
  assert.deepEqual(await issues({ fields: { notes: 'both' } }), ['customFields', 'fields.notes'])
  const fits = await merge(undefined, undefined, { customFields: { k_city: 'none', company: 'none' } })
  assert.deepEqual(
    [fits.status, fits.body.lead.notes.length],
    [200, 9_990],
    'notes that do not fit are those of the kept one',
  )
})

test('a merge unites labels and records it in the history; its undo restores them, except labels changed since', async () => {
  const { w, member, one, two, merge, merged, undo, read } = await duartes()
  const admin = await signedInMember(w, 'admin')
  const make = async (name: string): Promise<string> =>
    (await admin.call('POST', '/labels', { name, color: 'teal' })).body.label.id
  const [both, own, others, gone, later] = [
    await make('Both'),
    await make('Own'),
    await make('Others'),
    await make('Gone'),
    await make('Later'),
  ]
  const set = async (id: string, labelIds: string[]) =>
    assert.equal((await member.call('PUT', `/leads/${id}/labels`, { labelIds })).status, 200)
  const of = async (id: string): Promise<string[]> => (await read(id)).labelIds.toSorted()
  await set(one.id, [both, own])
  await set(two.id, [both, others, gone])
  const { merge: done } = await merged()
  assert.deepEqual(await of(one.id), [both, own, others, gone].toSorted())
  const { labels } = (await member.call('GET', `/leads/${one.id}/history`)).body
  assert.deepEqual([labels.at(-1).added.toSorted(), labels.at(-1).removed], [[others, gone].toSorted(), []])
  await set(one.id, [both, others, later])
  assert.equal((await admin.call('DELETE', `/labels/${gone}`)).status, 200)
  assert.equal((await undo(done.id)).status, 200)
  assert.deepEqual([await of(one.id), await of(two.id)], [[both, later].toSorted(), [both, others].toSorted()])

  const many = await Promise.all(Array.from({ length: 19 }, (_, n) => make(`Label ${n}`)))
  await set(one.id, [both, ...many])
  const refused = await merge()
  assert.deepEqual(
    [refused.status, refused.body.data.issues],
    [400, [{ path: 'otherId', message: 'would give the lead more than 20 labels' }]],
  )
  await set(two.id, [both])
  assert.equal((await merge()).status, 200)
  assert.deepEqual(await of(one.id), [both, ...many].toSorted())
})

test('a merge can be undone for 30 days; then former values are deleted, and the phones of both still find the kept lead', async () => {
  const { w, one, merged } = await duartes()
  const { merge } = await merged()
  w.clock.advance(30 * dayMs)
  const member = await signedInMember(w)
  assert.equal((await member.call('POST', `/lead-merges/${merge.id}/undo`)).status, 409)
  await deleteExpiredRows(w)
  await purgeDeletedLeads(w.db, w.clock)
  const [row] = await w.db.sql<{ former: Buffer | null }[]>`select former from lead_merges where id = ${merge.id}`
  assert.equal(row?.former, null)
  assert.equal((await w.call('GET', leadPath(newer.phone))).body.data.id, one.id)
  const { merges } = (await member.call('GET', `/leads/${one.id}/merges`)).body
  assert.deepEqual([merges[0].otherName, merges[0].undoUntil], [null, null])
})

test('merging a merged lead again moves everything, and each merge can be undone separately', async () => {
  const { w, one, two, merged, merge, undo, read } = await duartes()
  const first = await merged()
  const third = await w.lead({ firstName: 'M', phone: '5531990000003' })
  const second = await merge(third.id, one.id)
  assert.equal(second.status, 200, JSON.stringify(second.body))
  for (const phone of [older.phone, newer.phone, '5531990000003']) {
    assert.equal((await w.call('GET', leadPath(phone))).body.data.id, third.id, phone)
  }
  const wrong = await undo(first.merge.id)
  assert.equal(wrong.status, 409)
  assert.match(wrong.body.statusMessage, /undo the merge that deleted it/)
  assert.equal((await undo(second.body.merge.id)).status, 200)
  for (const phone of [older.phone, newer.phone]) {
    assert.equal((await w.call('GET', leadPath(phone))).body.data.id, one.id, phone)
  }
  assert.equal((await undo(first.merge.id)).status, 200)
  assert.equal((await w.call('GET', leadPath(newer.phone))).body.data.id, two.id)
  assert.equal((await read(third.id)).firstName, 'M')
})

test('an undo is rejected while a third lead has a name of the other, or the kept lead is deleted', async () => {
  const { w, one, merged, undo } = await duartes()
  const { merge } = await merged(undefined, undefined, { fields: { externalRef: 'kept' } })
  const third = await w.lead({ externalRef: 'crm-2' })
  const taken = await undo(merge.id)
  assert.deepEqual([taken.status, taken.body.data], [409, { field: 'externalRef' }])
  await w.call('DELETE', leadPath(third.id))
  await w.call('DELETE', leadPath(one.id))
  assert.equal((await undo(merge.id)).status, 409)
  assert.equal((await undo(newId(w.clock.now()))).status, 404)
})
