import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditOf } from '../../support/audit.ts'
import { signedInMember, type TestMember } from '../../support/member.ts'
import { pick } from '../../support/pick.ts'
import { world } from '../../support/world.ts'

async function withAdmin() {
  const w = await world()
  return { w, admin: await signedInMember(w, 'admin') }
}

const city = { key: 'cidade', label: 'Cidade', type: 'select', choices: ['Recife', 'Natal'] }
const define = async (admin: TestMember, field: object = city) =>
  (await admin.call('POST', '/lead-fields', field)).body.field

test('admins create, change, archive and restore fields, and everyone lists them in their order', async () => {
  const { w, admin } = await withAdmin()
  const member = await signedInMember(w)
  const made = await admin.call('POST', '/lead-fields', city)
  assert.equal(made.status, 201)
  const { field } = made.body
  const { id: _, ...told } = field
  const shownIn = ['panel', 'table', 'forms']
  assert.deepEqual(told, { ...city, required: false, shownIn, isArchived: false })
  const visit = await define(admin, { key: 'visita', label: 'Visita', type: 'date' })
  const path = `/lead-fields/${field.id}`
  assert.equal((await admin.call('PATCH', path, { label: ' City ' })).body.field.label, 'City')
  assert.equal((await admin.call('PATCH', path, { isArchived: true })).body.field.isArchived, true)
  assert.deepEqual((await admin.call('PATCH', path, { type: 'text', isArchived: false })).body.field.choices, [])
  const ordered = await admin.call('PUT', '/lead-fields/order', { ids: [visit.id, field.id.toUpperCase()] })
  assert.equal(ordered.status, 200)
  const listed = (await member.call('GET', '/lead-fields')).body.fields
  assert.deepEqual(listed, ordered.body.fields)
  assert.deepEqual(pick(listed, 'key'), ['visita', 'cidade'])
  const lines = (await auditOf(w, 'lead_field.')).map(([action]) => action?.replace('lead_field.', ''))
  assert.deepEqual(lines, ['created', 'created', 'changed', 'archived', 'restored', 'reordered'])
})

test('an invalid definition is rejected with the reason', async () => {
  const { admin } = await withAdmin()
  await define(admin)
  const table: [object, number, string][] = [
    [{ key: 'Cidade', label: 'A', type: 'text' }, 400, 'key'],
    [{ key: 'a', label: 'A', type: 'select' }, 400, 'choices'],
    [{ key: 'a', label: 'A', type: 'text', choices: ['x'] }, 400, 'choices'],
    [{ key: 'cidade', label: 'A', type: 'text' }, 409, 'key'],
    [{ key: 'a', label: 'CIDADE', type: 'text' }, 409, 'label'],
  ]
  for (const [field, status, named] of table) {
    const { status: answered, body } = await admin.call('POST', '/lead-fields', field)
    assert.deepEqual([answered, body.data.field ?? body.data.issues[0].path], [status, named], JSON.stringify(field))
  }
  for (const ids of [[], ['01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e']]) {
    assert.equal((await admin.call('PUT', '/lead-fields/order', { ids })).status, 422)
  }
  const nowhere = '/lead-fields/01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'
  assert.equal((await admin.call('PATCH', nowhere, { label: 'x' })).status, 404)
})

test('a workspace has at most 50 fields in use, also under concurrency; archived fields do not count', async () => {
  const { w, admin } = await withAdmin()
  const first = await define(admin)
  await w.db.tx(
    (tx) => tx`
      insert into lead_fields (
        workspace_id, id, key, label, type, choices, required, shown_in, place, created_at
      )
      select ${w.workspaceId}, gen_random_uuid(), 'f' || n, 'F' || n, 'text', '{}', false, '{}', n, now()
      from generate_series(1, 48) n`,
  )
  const two = await Promise.all(
    ['a', 'b'].map((key) => admin.call('POST', '/lead-fields', { key, label: key, type: 'text' })),
  )
  assert.deepEqual(two.map(({ status }) => status).sort(), [201, 409])
  await admin.call('PATCH', `/lead-fields/${first.id}`, { isArchived: true })
  assert.equal((await admin.call('POST', '/lead-fields', { key: 'c', label: 'c', type: 'text' })).status, 201)
  assert.equal((await admin.call('PATCH', `/lead-fields/${first.id}`, { isArchived: false })).status, 409)
})

test('input by people is validated: valid values are stored with label and type, others return 422 with the format', async () => {
  const { admin } = await withAdmin()
  await define(admin)
  await define(admin, { key: 'orcamento', label: 'Orçamento', type: 'amount' })
  const refused = await admin.call('POST', '/leads', { firstName: 'Ana', customFieldValues: { cidade: 'Olinda' } })
  assert.equal(refused.status, 422)
  assert.equal(refused.body.statusMessage, 'Cidade must be one of Recife, Natal')
  assert.equal(refused.body.data.issues[0].path, 'customFieldValues.cidade')
  const { lead } = (await admin.call('POST', '/leads', { firstName: 'Ana', customFieldValues: { cidade: 'Natal' } }))
    .body
  assert.deepEqual(lead.customFields, [{ key: 'cidade', label: 'Cidade', type: 'select', value: 'Natal' }])
  const path = `/leads/${lead.id}`
  assert.equal((await admin.call('PATCH', path, { customFieldValues: { orcamento: '1,5' } })).status, 422)
  const changed = await admin.call('PATCH', path, { customFieldValues: { orcamento: '1500.50', outra: 'x' } })
  assert.deepEqual(changed.body.lead.customFields.slice(1), [
    { key: 'orcamento', label: 'Orçamento', type: 'number', value: '1500.50' },
    { key: 'outra', label: 'outra', type: 'text', value: 'x' },
  ])
})

test('people must fill required fields of a new lead, and cannot clear them', async () => {
  const { admin } = await withAdmin()
  await define(admin, { ...city, required: true })
  const without = await admin.call('POST', '/leads', { firstName: 'Ana' })
  assert.deepEqual([without.status, without.body.data.issues[0].path], [422, 'customFieldValues.cidade'])
  const made = await admin.call('POST', '/leads', { firstName: 'Ana', customFieldValues: { cidade: 'Natal' } })
  assert.equal(made.status, 201)
  const path = `/leads/${made.body.lead.id}`
  assert.equal((await admin.call('PATCH', path, { customFieldValues: { cidade: null } })).status, 422)
  assert.equal((await admin.call('PATCH', path, { lastName: 'Lima' })).status, 200)
})

test('API keys are not bound by field definitions; people may send such values back unchanged', async () => {
  const { w, admin } = await withAdmin()
  await define(admin, { ...city, required: true })
  const made = await w.call('POST', '/api/v1/leads', {
    body: { firstName: 'Ana', customFieldValues: { cidade: 'Olinda' } },
  })
  assert.equal(made.status, 201)
  const path = `/api/v1/leads/${made.body.data.id}`
  const { body } = await w.call('GET', path)
  assert.deepEqual(body.data.customFields, [{ key: 'cidade', label: 'cidade', type: 'text', value: 'Olinda' }])
  const { customFieldValues } = body.data
  const back = await admin.call('PATCH', `/leads/${made.body.data.id}`, { customFieldValues, lastName: 'Lima' })
  assert.equal(back.status, 200)
  assert.equal((await w.call('PATCH', path, { body: { customFieldValues: { cidade: null } } })).status, 200)
})

test('archived fields and fields of other workspaces are not validated', async () => {
  const { admin } = await withAdmin()
  const { id } = await define(admin, { ...city, required: true })
  await admin.call('PATCH', `/lead-fields/${id}`, { isArchived: true })
  const { admin: other } = await withAdmin()
  for (const member of [admin, other]) {
    const lead = { firstName: 'Ana', customFieldValues: { cidade: 'Olinda' } }
    assert.equal((await member.call('POST', '/leads', lead)).status, 201)
  }
  assert.equal((await other.call('PATCH', `/lead-fields/${id}`, { label: 'x' })).status, 404)
})
