import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../../src/base/id.ts'
import { purgeDeletedLeads } from '../../../src/leads/write/restore.ts'
import { auditOf } from '../../support/audit.ts'
import { leadPath } from '../../support/leads/leads.ts'
import { signedInMember } from '../../support/member.ts'
import { pick } from '../../support/pick.ts'
import { world } from '../../support/world.ts'

const bulkPath = '/lead-bulk-changes'

async function labelWorld() {
  const w = await world()
  const [admin, member] = [await signedInMember(w, 'admin'), await signedInMember(w)]
  const label = async (name: string): Promise<string> =>
    (await admin.call('POST', '/labels', { name, color: 'teal' })).body.label.id
  const set = (leadId: string, labelIds: string[]) => member.call('PUT', `/leads/${leadId}/labels`, { labelIds })
  const of = async (leadId: string): Promise<string[]> =>
    (await member.call('GET', `/leads/${leadId}`)).body.lead.labelIds
  const found = async (query: string): Promise<string[]> =>
    pick((await member.call('GET', `/leads?sortOrder=asc&${query}`)).body.leads, 'id')
  const begin = async (body: object) => {
    const answer = await member.call('POST', bulkPath, body)
    assert.equal(answer.status, 201, JSON.stringify(answer.body))
    return answer.body.bulkChange
  }
  const undo = async (id: string) => (await member.call('POST', `${bulkPath}/${id}/undo`)).body.bulkChange
  return { w, admin, member, label, set, of, found, begin, undo }
}

test('a lead shows its labels, also in the list, but events and API keys do not', async () => {
  const { w, member, label, set, of } = await labelWorld()
  const [vip, late] = [await label('VIP'), await label('Late')]
  const { id } = await w.lead()
  assert.deepEqual(await of(id), [])
  const before = (await w.call('GET', leadPath(id))).body
  const answer = await set(id, [late, vip.toUpperCase(), late])
  assert.deepEqual([answer.status, answer.body], [200, { labelIds: [late, vip] }])
  assert.deepEqual((await of(id)).toSorted(), [vip, late].toSorted())
  const [listed] = (await member.call('GET', '/leads')).body.leads
  assert.deepEqual(listed.labelIds.toSorted(), [vip, late].toSorted())
  assert.deepEqual((await w.call('GET', leadPath(id))).body, before)
  assert.equal((await w.events(id)).length, 1)
  await set(id, [vip])
  await set(id, [vip])
  assert.deepEqual(await of(id), [vip])
  const { labels } = (await member.call('GET', `/leads/${id}/history`)).body
  const told = pick(labels, 'added', 'removed', 'actor')
  const by = { type: 'user', id: member.userId }
  assert.deepEqual(told, [
    [[late, vip], [], by],
    [[], [late], by],
  ])
})

test('unknown labels, labels of another workspace, too many labels and an unknown lead are rejected', async () => {
  const { w, label, set, of } = await labelWorld()
  const other = await labelWorld()
  const { id } = await w.lead()
  for (const strange of [await other.label('Theirs'), newId(w.clock.now())]) {
    const { status, body } = await set(id, [strange])
    assert.deepEqual([status, body.data.issues[0].path], [400, 'labelIds'])
  }
  assert.equal(
    (
      await set(
        id,
        Array.from({ length: 21 }, () => newId(w.clock.now())),
      )
    ).status,
    400,
  )
  assert.equal((await other.set(id, [])).status, 404)
  assert.equal((await set(newId(w.clock.now()), [await label('VIP')])).status, 404)
  assert.deepEqual(await of(id), [])
})

test('leads are filtered by any of some labels and by none of others, with other filters and search, and on the board', async () => {
  const { w, member, label, set, found } = await labelWorld()
  const [vip, late, other] = [await label('VIP'), await label('Late'), await label('Other')]
  const leads: string[] = []
  for (const [labels, status] of [
    [[vip], 'new'],
    [[late, vip], 'won'],
    [[late], 'new'],
    [[], 'new'],
  ] as const) {
    w.clock.advance(1000)
    const { id } = await w.lead({ status, firstName: 'Marina' })
    leads.push(id)
    await set(id, [...labels])
  }
  const [a = '', b = '', c = '', d = ''] = leads
  for (const [query, those] of [
    [`labels=${vip}`, [a, b]],
    [`labels=${vip.toUpperCase()},${late}`, [a, b, c]],
    [`labels=${other}`, []],
    [`withoutLabels=${vip}`, [c, d]],
    [`withoutLabels=${vip},${late}`, [d]],
    [`labels=${late}&withoutLabels=${vip}`, [c]],
    [`labels=${vip}&status=won&search=marina`, [b]],
  ] as const) {
    assert.deepEqual(await found(query), those, query)
  }
  const first = (await member.call('GET', `/leads?sortOrder=asc&limit=1&labels=${vip}`)).body
  assert.equal(first.total, 2)
  assert.deepEqual(await found(`limit=1&labels=${vip}&cursor=${first.nextCursor}`), [b])
  assert.equal((await member.call('GET', `/leads?labels=${late}&cursor=${first.nextCursor}`)).status, 400)
  const { columns } = (await member.call('GET', `/leads/board?labels=${vip}`)).body
  const counted = columns.filter(({ count }: { count: number }) => count > 0)
  assert.deepEqual(pick(counted, 'status', 'count'), [
    ['new', 1],
    ['won', 1],
  ])
  for (const query of ['labels=x', `labels=${vip},`, `withoutLabels=${'x'.repeat(36)}`]) {
    assert.equal((await member.call('GET', `/leads?${query}`)).status, 400, query)
  }
})

test('a deleted lead keeps its labels while it can be restored, and loses them when it is purged', async () => {
  const { w, member, label, set, of } = await labelWorld()
  const { id } = await w.lead()
  await set(id, [await label('VIP')])
  const labels = await of(id)
  await member.call('DELETE', `/leads/${id}`)
  await member.call('POST', `/leads/${id}/restore`)
  assert.deepEqual(await of(id), labels)
  await member.call('DELETE', `/leads/${id}`)
  w.clock.advance(31 * 86_400_000)
  await purgeDeletedLeads(w.db, w.clock)
  const rows = await w.db.sql`select from lead_labels where workspace_id = ${w.workspaceId}`
  assert.equal(rows.length, 0)
})

test('a bulk change adds and removes labels of many leads, keeps their other labels, and can be undone', async () => {
  const { w, label, set, of, begin, undo } = await labelWorld()
  const [vip, late, own] = [await label('VIP'), await label('Late'), await label('Own')]
  const leads = [await w.lead(), await w.lead(), await w.lead(), await w.lead()].map(({ id }) => id)
  const [a = '', b = '', c = '', full = ''] = leads
  await set(a, [late, own])
  await set(b, [vip])
  const many: string[] = []
  for (let n = 0; n < 20; n++) many.push(await label(`Label ${n}`))
  await set(full, many)
  const labels = { addLabelIds: [vip, vip.toUpperCase()], removeLabelIds: [late] }
  const change = await begin({ ids: [...leads, newId(w.clock.now())], labels })
  const { state, kind, total, changed, unchanged, failed } = change
  assert.deepEqual([state, kind, total, changed, unchanged, failed], ['done', 'labels', 5, 2, 1, 2])
  assert.deepEqual([change.changes, change.labels], [null, { addLabelIds: [vip], removeLabelIds: [late] }])
  assert.deepEqual((await of(a)).toSorted(), [vip, own].toSorted())
  assert.deepEqual([await of(b), await of(c)], [[vip], [vip]])
  assert.equal((await of(full)).length, 20)
  assert.deepEqual(await auditOf(w, 'leads.'), [['leads.bulk_changed', `bulk_change:${change.id} labels leads:2`]])

  await set(c, [own])
  const undone = await undo(change.id)
  assert.deepEqual([undone.state, undone.undone, undone.kept], ['undone', 1, 1])
  assert.deepEqual((await of(a)).toSorted(), [late, own].toSorted())
  assert.deepEqual([await of(b), await of(c)], [[vip], [own]])
})

test('concurrent changes cannot give a lead more than 20 labels', async () => {
  const { w, label, set, of, begin } = await labelWorld()
  const { id } = await w.lead()
  const ids: string[] = []
  for (let n = 0; n < 22; n++) ids.push(await label(`Label ${n}`))
  await set(id, ids.slice(0, 19))
  await Promise.all(ids.slice(19, 22).map((one) => begin({ ids: [id], labels: { addLabelIds: [one] } })))
  assert.equal((await of(id)).length, 20)
})
