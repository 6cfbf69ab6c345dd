import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leadsPath } from '../../support/leads/leads.ts'
import { bareLead } from '../../support/leads/write-paths.ts'
import { world } from '../../support/world.ts'

test('firstName is the only field required on create; other fields have the defaults of the contract', async () => {
  const { call } = await world()
  const { status, body } = await call('POST', leadsPath, { body: { firstName: '  Marina ' } })
  assert.equal(status, 201)
  assert.equal(body.success, true)
  assert.equal(body.message, 'Lead created successfully')
  assert.deepEqual(body.lead, body.data)
  const { id, uniqueCode, ...rest } = body.data
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  assert.match(uniqueCode, /^L[0-9A-Z]{11}$/)
  const moment = '2026-03-10T12:00:00.000Z'
  assert.deepEqual(rest, { ...bareLead, createdAt: moment, updatedAt: moment })
  const missing = await call('POST', leadsPath, { body: { lastName: 'Duarte' } })
  assert.deepEqual([missing.status, missing.body.data.issues], [400, [{ path: 'firstName', message: 'is required' }]])
})

test('two leads may share a phone and an e-mail', async () => {
  const { lead } = await world()
  const [a, b] = [
    await lead({ phone: '5581991234567', email: 'a@b.co' }),
    await lead({ phone: '5581991234567', email: 'a@b.co' }),
  ]
  assert.notEqual(a.id, b.id)
  assert.notEqual(a.uniqueCode, b.uniqueCode)
})
