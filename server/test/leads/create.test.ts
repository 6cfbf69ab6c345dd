import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../support/world.ts'

test('firstName is the only field required on create; the rest has the defaults of the contract', async () => {
  const { call } = await world()
  const { status, body } = await call('POST', '/api/v1/leads', { body: { firstName: '  Marina ' } })
  assert.equal(status, 201)
  assert.equal(body.success, true)
  assert.equal(body.message, 'Lead created successfully')
  assert.deepEqual(body.lead, body.data)
  const { id, uniqueCode, ...rest } = body.data
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  assert.match(uniqueCode, /^L[0-9A-Z]{11}$/)
  assert.deepEqual(rest, {
    externalRef: null,
    firstName: 'Marina',
    lastName: null,
    email: null,
    phone: null,
    status: 'new',
    priority: 'medium',
    source: 'other',
    adPlatform: null,
    assignedTo: null,
    estimatedValue: null,
    actualValue: null,
    notes: null,
    createdAt: '2026-03-10T12:00:00.000Z',
    updatedAt: '2026-03-10T12:00:00.000Z',
    deletedAt: null,
  })
})
