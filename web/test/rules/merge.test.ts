import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Lead } from '../../src/data/leads.ts'
import { excessFields, mergeRows, toRequestChoices } from '../../src/leads/merge/merge-rows.ts'

const nothing = { externalRef: null, lastName: null, email: null, phone: null, adPlatform: null, assignedTo: null }
const usual = { firstName: 'Ana', status: 'new', priority: 'medium', source: 'other' }
const blank = { uniqueCode: 'L1', ...usual, ...nothing, estimatedValue: null, actualValue: null, notes: null } as Lead
const field = (key: string, value: string) => ({ key, label: key, type: 'text' as const, value })
const kept: Lead = { ...blank, notes: 'One', customFields: [field('plan', 'Basic')] }
const other: Lead = {
  ...blank,
  uniqueCode: 'L2',
  lastName: 'Lima',
  notes: 'Two',
  customFields: [field('city', 'Recife')],
}
const { conflicts, filled, same } = mergeRows(kept, other)
const all = [...conflicts, ...filled, ...same]
const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)

test('conflicts come first, then values that only one has; equal values are separate, and empty ones hidden', () => {
  assert.deepEqual(ids(conflicts), ['notes', 'uniqueCode'])
  assert.deepEqual(ids(filled), ['lastName', 'custom:plan', 'custom:city'])
  assert.deepEqual(ids(same), ['firstName', 'status', 'priority', 'source'])
})

test('the kept lead is completed from the other, and notes are joined while they fit', () => {
  assert.deepEqual(
    all.filter(({ defaultChoice }) => defaultChoice !== 'kept').map(({ id, defaultChoice }) => [id, defaultChoice]),
    [
      ['notes', 'both'],
      ['lastName', 'other'],
      ['custom:city', 'other'],
    ],
  )
  const long = mergeRows({ ...kept, notes: 'x'.repeat(9_998) }, other).conflicts[0]
  assert.deepEqual([long?.defaultChoice, long?.options], ['kept', ['kept', 'other']])
})

test('only choices that differ from the default are sent, each by its name', () => {
  const choices = { notes: 'other', uniqueCode: 'kept', 'custom:plan': 'none', 'custom:city': 'other' } as const
  assert.deepEqual(toRequestChoices(all, choices), { fields: { notes: 'other' }, customFields: { plan: 'none' } })
})

test('the number of custom fields above ten follows from the choices', () => {
  const many = (from: number) => Array.from({ length: 6 }, (_, n) => field(`field_${from + n}`, 'x'))
  const rows = mergeRows({ ...kept, customFields: many(0) }, { ...other, customFields: many(6) }).filled
  assert.equal(excessFields(rows, {}), 2)
  assert.equal(excessFields(rows, { 'custom:field_0': 'none' }), 1)
  assert.equal(
    excessFields(rows, { 'custom:field_0': 'none', 'custom:field_6': 'kept' }),
    0,
    'an empty value gives it up too',
  )
})
