import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../../src/base/id.ts'
import { storedRows } from '../../support/leads/leads.ts'
import { signedInMember } from '../../support/member.ts'
import { pick } from '../../support/pick.ts'
import { world } from '../../support/world.ts'

const path = '/leads/bulk-change'

async function withMember() {
  const w = await world()
  return { w, member: await signedInMember(w) }
}

test('a bulk change writes, emits and records each lead as a single change does', async () => {
  const { w, member } = await withMember()
  const [first, second] = [await w.lead({ status: 'won' }), await w.lead({ priority: 'high' })]
  const missing = newId(w.clock.now())
  w.clock.advance(1000)
  const changes = { status: 'qualified', assignedTo: member.userId }
  const ids = [second.id, missing, first.id.toUpperCase(), first.id]
  const { status, body } = await member.call('POST', path, { ids, changes })
  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual(body, {
    done: 2,
    failed: 1,
    results: [
      { id: second.id, outcome: 'changed' },
      { id: missing, outcome: 'failed', error: { statusCode: 404, statusMessage: 'Lead not found' } },
      { id: first.id, outcome: 'changed' },
    ],
  })
  for (const [lead, from] of [
    [first, 'won'],
    [second, 'new'],
  ]) {
    const expected = { ...lead, ...changes, updatedAt: w.clock.now().toISOString() }
    const shown = (await member.call('GET', `/leads/${lead.id}`)).body.lead
    assert.deepEqual(shown, { ...expected, labelIds: [] })
    const [, told] = await w.events(lead.id)
    assert.deepEqual([told?.name, told?.payload], ['lead.updated', { ...expected, previousStatus: from }])
    const { history } = (await member.call('GET', `/leads/${lead.id}/history`)).body
    assert.deepEqual(pick(history, 'from', 'to', 'actor'), [[from, 'qualified', { type: 'user', id: member.userId }]])
  }
})

test('a lead whose name was taken stays deleted, and of two with one name the first is restored', async () => {
  const { w, member } = await withMember()
  const take = async (fields: object) => {
    const { id } = await w.lead({ ...fields })
    await member.call('DELETE', `/leads/${id}`)
    return id
  }
  const ids = [await take({ externalRef: 'a' }), await take({ externalRef: 'b' }), await take({ externalRef: 'b' })]
  const code = await take({ uniqueCode: 'code' })
  await w.lead({ externalRef: 'a' })
  await w.lead({ uniqueCode: 'code' })
  const { body } = await member.call('POST', path, { ids: [...ids, code], restore: true })
  assert.deepEqual(
    body.results.map(({ id, outcome, error }: Record<string, { data?: { field?: string } }>) => [
      id,
      outcome,
      error?.data?.field,
    ]),
    [
      [ids[0], 'failed', 'externalRef'],
      [ids[1], 'restored', undefined],
      [ids[2], 'failed', 'externalRef'],
      [code, 'failed', 'uniqueCode'],
    ],
  )
  assert.equal((await member.call('GET', '/leads/trash')).body.total, 3)
})

const { w: shared, member: asked } = await withMember()
const { id: sharedId } = await shared.lead()

const refusals: [why: string, body: object][] = [
  ['nothing to do', { ids: [sharedId] }],
  ['two things to do', { ids: [sharedId], delete: true, changes: { status: 'won' } }],
  ['no change', { ids: [sharedId], changes: {} }],
  ['a field that is each lead’s own', { ids: [sharedId], changes: { phone: '5581991234567' } }],
  ['a status that is none', { ids: [sharedId], changes: { status: 'Not so' } }],
  ['delete: false', { ids: [sharedId], delete: false }],
  ['no lead', { ids: [], delete: true }],
  ['501 leads', { ids: Array.from({ length: 501 }, () => newId(new Date(0))), delete: true }],
  ['something that is no id', { ids: ['code-1'], delete: true }],
]

test('an invalid bulk change is rejected, an assignee who is not a member fails every lead, and nothing is written', async () => {
  const before = await storedRows(shared)
  for (const [why, body] of refusals) assert.equal((await asked.call('POST', path, body)).status, 400, why)
  const { body } = await asked.call('POST', path, { ids: [sharedId], changes: { assignedTo: shared.keyId } })
  const issues = [{ path: 'changes.assignedTo', message: 'must be a member of the workspace' }]
  assert.deepEqual(body.results, [
    {
      id: sharedId,
      outcome: 'failed',
      error: { statusCode: 400, statusMessage: 'Validation failed', data: { issues } },
    },
  ])
  assert.deepEqual(await storedRows(shared), before)
})
