import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { invalid } from '../../../src/base/errors.ts'
import { type Keyring, makeKeyring } from '../../../src/base/sealing/keyring.ts'
import { openLead, sealLead } from '../../../src/leads/lead/sealed.ts'
import { asPrefetched, prefetchPlan } from '../../../src/leads/write/prefetched-plan.ts'
import type { UpsertItem } from '../../../src/leads/write/upsert-plan.ts'

const [made, written] = [new Date('2026-03-01T12:00:00Z'), new Date('2026-03-01T12:00:01Z')]

function keyringOf(): Keyring {
  const secrets = [{ version: 1, bytes: randomBytes(32), current: true }]
  return makeKeyring('0198c0de-0000-7000-8000-000000000001', { data: secrets, index: secrets, stable: secrets })
}

function item(value: string, fields: UpsertItem['patch']['fields'], createIfMissing = true): UpsertItem {
  const patch = { fields, phoneAsSent: null, typed: [], values: {} }
  return { by: 'externalRef', value, patch, createIfMissing, at: 'lead' }
}

test('a batch of new leads is planned and sealed ahead, and created when it is written', () => {
  const keyring = keyringOf()
  const email = 'ana@example.com'
  const items = [item('a', { firstName: 'Ana', email }), invalid('phone', 'is none'), item('b', {}, false)]
  const foreseen = asPrefetched(prefetchPlan(keyring, items, made), keyring, written)
  assert.deepEqual(
    foreseen?.outcomes.map(({ action }) => action),
    ['created', 'failed', 'failed'],
  )
  const [first] = foreseen?.outcomes ?? []
  assert.ok(first?.action === 'created')
  assert.deepEqual([first.lead.createdAt, first.lead.updatedAt], [written, written])
  const row = sealLead(keyring, first.lead, foreseen?.seals.get(first.lead.id))
  assert.equal(row.person, foreseen?.seals.get(first.lead.id)?.person)
  assert.deepEqual(openLead(keyring, row), first.lead)
})

test('nothing is foreseen of a batch that changes its own leads, nor with keys that are no longer those', () => {
  const keyring = keyringOf()
  const twice = [item('a', { firstName: 'Ana' }), item('a', { firstName: 'Bia' })]
  assert.equal(prefetchPlan(keyring, twice, made), null)
  const foresight = prefetchPlan(keyring, twice.slice(0, 1), made)
  assert.notEqual(foresight, null)
  assert.equal(asPrefetched(foresight, keyringOf(), written), null)
  assert.equal(asPrefetched(null, keyring, written), null)
})
