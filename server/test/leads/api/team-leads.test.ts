import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quotaUsed, storedRows } from '../../support/leads/leads.ts'
import { signedInMember } from '../../support/member.ts'
import { pick } from '../../support/pick.ts'
import { world } from '../../support/world.ts'

async function withMember() {
  const w = await world()
  return { w, member: await signedInMember(w) }
}

const fields = {
  firstName: 'Marina',
  lastName: 'Duarte',
  phone: '+55 81 99123-4567',
  email: 'marina@example.com',
  customFieldValues: { k_city: 'Recife' },
}

test('a member creates a lead by the rules of the leads interface, and it counts towards the quota', async () => {
  const { w, member } = await withMember()
  const { status, body } = await member.call('POST', '/leads', fields)
  assert.equal(status, 201)
  const { lead } = body
  assert.deepEqual([lead.status, lead.priority, lead.source, lead.phone], ['new', 'medium', 'other', '5581991234567'])
  assert.deepEqual(lead.customFieldValues, { k_city: 'Recife', city: 'Recife' })
  assert.equal(await quotaUsed(w), 1)
  assert.deepEqual(pick(await w.events(lead.id), 'name'), ['lead.created'])
  const before = await storedRows(w)
  const refused = await member.call('POST', '/leads', { lastName: 'Duarte' })
  assert.equal(refused.status, 400)
  assert.equal(refused.body.data.issues[0].path, 'firstName')
  const taken = await member.call('POST', '/leads', { firstName: 'Ana', uniqueCode: lead.uniqueCode })
  assert.deepEqual([taken.status, taken.body.data], [409, { field: 'uniqueCode' }])
  assert.deepEqual(await storedRows(w), before)
})

test('the list for members supports the filters, search and cursor of the leads interface, with custom fields', async () => {
  const { w, member } = await withMember()
  const { lead } = (await member.call('POST', '/leads', fields)).body
  w.clock.advance(1000)
  const other = await w.lead({ firstName: 'Bruno', status: 'won' })
  assert.deepEqual((await member.call('GET', '/leads?search=duarte')).body, {
    leads: [lead],
    total: 1,
    nextCursor: null,
  })
  assert.equal((await member.call('GET', '/leads?status=won')).body.leads[0].id, other.id)
  const first = (await member.call('GET', '/leads?limit=1')).body
  assert.deepEqual([first.leads[0].id, first.total], [other.id, 2])
  const second = (await member.call('GET', `/leads?limit=1&cursor=${first.nextCursor}`)).body
  assert.deepEqual([second.leads[0].id, second.nextCursor], [lead.id, null])
  assert.equal((await member.call('GET', '/leads?limit=101')).status, 400)
  assert.equal((await member.call('GET', '/leads?cursor=x')).status, 400)
})

test('a change by a member is recorded with the member as author; no change leaves no record', async () => {
  const { w, member } = await withMember()
  const { id } = await w.lead()
  const changed = await member.call('PATCH', `/leads/${id}`, { status: 'qualified', assignedTo: member.userId })
  assert.equal(changed.status, 200)
  assert.deepEqual([changed.body.lead.status, changed.body.lead.assignedTo], ['qualified', member.userId])
  const { history } = (await member.call('GET', `/leads/${id}/history`)).body
  assert.deepEqual(pick(history, 'from', 'to', 'actor'), [['new', 'qualified', { type: 'user', id: member.userId }]])
  const before = await storedRows(w)
  assert.equal((await member.call('PATCH', `/leads/${id}`, { status: 'qualified' })).status, 200)
  assert.equal((await member.call('PATCH', `/leads/${id}`, { assignedTo: w.keyId })).status, 400)
  assert.deepEqual(await storedRows(w), before)
})

interface Column {
  status: string
  count: number
  estimatedValue: number
  actualValue: number
  value: number
}

const row = ({ status, count, estimatedValue, actualValue, value }: Column) => [
  status,
  count,
  estimatedValue,
  actualValue,
  value,
]

test('the board has the statuses of the workspace in their order, also empty ones, then others by name', async () => {
  const w = await world()
  const admin = await signedInMember(w, 'admin')
  const set = await admin.call('PATCH', '', { leadStatuses: ['won', 'new', 'lost'] })
  assert.equal(set.status, 200, JSON.stringify(set.body))
  await w.lead({ estimatedValue: 0.1 })
  await w.lead({ estimatedValue: 0.2 })
  await w.lead({ status: 'zebra', actualValue: 12.5, estimatedValue: 10 })
  await w.lead({ status: 'archived' })
  await w.lead({ status: 'won', actualValue: 999_999_999_999.99 })
  const { id } = await w.lead({ status: 'won', actualValue: 5 })
  await admin.call('DELETE', `/leads/${id}`)
  const { status, body } = await admin.call('GET', '/leads/board')
  assert.equal(status, 200)
  assert.deepEqual(body.columns.map(row), [
    ['won', 1, 0, 999_999_999_999.99, 999_999_999_999.99],
    ['new', 2, 0.3, 0, 0.3],
    ['lost', 0, 0, 0, 0],
    ['archived', 1, 0, 0, 0],
    ['zebra', 1, 10, 12.5, 12.5],
  ])
})

test('the board supports the filters of the list, and agrees with it in every column', async () => {
  const w = await world()
  const member = await signedInMember(w)
  await w.lead({ source: 'ads', priority: 'high' })
  await w.lead({ source: 'ads' })
  w.clock.advance(1000)
  await w.lead({ source: 'website', assignedTo: member.userId })
  await w.lead({ source: 'ads', status: 'won' })
  const now = w.clock.now().toISOString()
  const filters = [
    'source=ads',
    'priority=high',
    `assignedTo=${member.userId}`,
    `createdFrom=${now}`,
    `createdTo=${now}`,
  ]
  for (const filter of filters) {
    const { columns } = (await member.call('GET', `/leads/board?${filter}`)).body
    for (const column of columns as Column[]) {
      const list = await member.call('GET', `/leads?${filter}&status=${column.status}`)
      assert.equal(list.body.total, column.count, `${filter} ${column.status}`)
    }
  }
  for (const wrong of ['status=new', 'search=x', 'source=none', 'createdFrom=soon']) {
    assert.equal((await member.call('GET', `/leads/board?${wrong}`)).status, 400, wrong)
  }
})
