import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Lead } from '../../../src/leads/lead/lead.ts'
import {
  type PlanContext,
  planUpserts,
  type UpsertItem,
  type UpsertOutcome,
} from '../../../src/leads/write/upsert-plan.ts'

const now = new Date('2026-03-01T12:00:00Z')
const context: PlanContext = { now, continueOnError: true, quotaLeft: 100, nonMembers: new Set() }

function item(
  by: UpsertItem['by'],
  value: string,
  fields: UpsertItem['patch']['fields'],
  createIfMissing = true,
): UpsertItem {
  return { by, value, patch: { fields, phoneAsSent: null, typed: [], values: {} }, createIfMissing, at: 'lead' }
}

const shown = (outcome: UpsertOutcome) =>
  outcome.action === 'failed' ? `${outcome.error.statusCode} ${outcome.error.message}` : outcome.action

test('a name that another lead of the batch has just taken or freed counts as it stands then', () => {
  const outcomes = planUpserts(
    [
      item('externalRef', 'a', { firstName: 'A', uniqueCode: 'one' }),
      item('externalRef', 'b', { firstName: 'B', uniqueCode: 'one' }),
      item('uniqueCode', 'one', { uniqueCode: 'two' }),
      item('externalRef', 'b', { firstName: 'B', uniqueCode: 'one' }),
    ],
    [],
    context,
  )
  assert.deepEqual(outcomes.map(shown), [
    'created',
    '409 Lead with this uniqueCode already exists',
    'updated',
    'created',
  ])
})

test('a batch means what its items mean one by one', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd')
  const phone = fc.constantFrom('5581991234567', '558191234567', '5215512345678', '525512345678')
  const fields = fc.record(
    {
      firstName: fc.constantFrom('Ana', 'Bia'),
      status: fc.constantFrom('new', 'won'),
      externalRef: fc.option(name, { nil: null }),
      uniqueCode: name,
      phone: fc.option(phone, { nil: null }),
    },
    { requiredKeys: [] },
  )
  const match = fc.oneof(
    fc.record({ by: fc.constantFrom('externalRef' as const, 'uniqueCode' as const), value: name }),
    fc.record({ by: fc.constant('phone' as const), value: phone }),
  )
  const items = fc.array(
    fc.tuple(match, fields, fc.boolean()).map(([{ by, value }, changes, create]) => item(by, value, changes, create)),
    { maxLength: 30 },
  )
  fc.assert(
    fc.property(items, fc.nat(8), (batch, quota) => {
      const together = planUpserts(batch, [], { ...context, quotaLeft: quota })
      const store = new Map<string, Lead>()
      let left = quota
      for (const [n, single] of batch.entries()) {
        const [alone] = planUpserts([single], [...store.values()], { ...context, quotaLeft: left })
        assert.ok(alone)
        if (alone.action !== 'failed') store.set(alone.lead.id, alone.lead)
        if (alone.action === 'created') left--
        assert.deepEqual(visible(together[n]), visible(alone))
      }
    }),
    { numRuns: 150 },
  )
})

// Ids and generated codes are random: two runs agree in everything else.
function visible(outcome: UpsertOutcome | undefined) {
  if (outcome === undefined || outcome.action === 'failed') return outcome && shown(outcome)
  const { externalRef, firstName, phone, status } = outcome.lead
  return { action: outcome.action, externalRef, firstName, phone, status }
}
