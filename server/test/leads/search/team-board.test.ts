import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signedInMember } from '../../support/member.ts'
import { world } from '../../support/world.ts'

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

test("the board has the workspace's statuses in its order, the empty ones too, then the others by name", async () => {
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

test('the board takes the filters of the list, and agrees with it in every column', async () => {
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
