import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pricing } from '../../../src/channels/channel-event.ts'
import { parseCallback } from '../../../src/channels/waba/parse/parse-callback.ts'

const now = new Date('2026-11-29T12:00:00Z')
const inThreeDays = new Date('2026-12-02T12:00:00Z')
const seconds = (at: Date) => at.getTime() / 1000
const referral = (expiration: unknown) => ({
  conversation: { id: 'c', expiration_timestamp: expiration, origin: { type: 'referral_conversion' } },
})

function pricingOf(fields: object): Pricing | undefined {
  const status = { id: 'wamid.1', status: 'sent', timestamp: seconds(now), recipient_id: '5581991234567', ...fields }
  const value = { metadata: { phone_number_id: '1' }, statuses: [status] }
  const payload = { object: 'whatsapp_business_account', entry: [{ id: '2', changes: [{ field: 'messages', value }] }] }
  const [item] = parseCallback(payload, now).items
  assert.equal(item?.event.type, 'status')
  return item.event.type === 'status' ? item.event.pricing : undefined
}

const pmp = (type: unknown, category: unknown, more = {}) => ({
  pricing: { pricing_model: 'PMP', type, category, ...more },
})
const of = (
  type: Pricing['type'],
  category: Pricing['category'],
  isBillable: boolean | null = null,
  freeUntil: Date | null = null,
) => ({
  type,
  category,
  isBillable,
  freeUntil,
})

const rows: [what: string, fields: object, expected: Pricing | undefined][] = [
  ['a charged message', pmp('regular', 'marketing', { billable: true }), of('regular', 'marketing', true)],
  [
    'a message of the monthly free ones',
    pmp('free_customer_service', 'service', { billable: false }),
    of('free_customer_service', 'service', false),
  ],
  [
    'names with hyphens or capitals',
    pmp('REGULAR', 'authentication-international'),
    of('regular', 'authentication_international'),
  ],
  [
    'a free entry point, with the end of its window',
    { ...pmp('free_entry_point', 'referral_conversion'), ...referral(String(seconds(inThreeDays))) },
    of('free_entry_point', 'referral_conversion', null, inThreeDays),
  ],
  [
    'the end as a number',
    { ...pmp('free_entry_point', 'utility'), ...referral(seconds(inThreeDays)) },
    of('free_entry_point', 'utility', null, inThreeDays),
  ],
  [
    'an end that no window has',
    { ...pmp('free_entry_point', 'utility'), ...referral('9999999999') },
    of('free_entry_point', 'utility'),
  ],
  [
    'an end of another window',
    {
      ...pmp('regular', 'service'),
      conversation: { expiration_timestamp: seconds(inThreeDays), origin: { type: 'service' } },
    },
    of('regular', 'service'),
  ],
  [
    'an older status without a type',
    { pricing: { billable: true, pricing_model: 'CBP', category: 'service' } },
    of('unknown', 'service', true),
  ],
  [
    'an older status of a free entry point',
    {
      pricing: { billable: false, pricing_model: 'CBP', category: 'referral_conversion' },
      ...referral(seconds(inThreeDays)),
    },
    of('free_entry_point', 'referral_conversion', false, inThreeDays),
  ],
  ['a business that is exempt', pmp('regular', 'service', { subtype: 'paid_exempt' }), of('exempt', 'service')],
  ['a type that only this service uses', pmp('exempt', 'service'), of('unknown', 'service')],
  ['names that nobody knows', pmp('discounted', 'holiday'), of('unknown', 'unknown')],
  ['names of the wrong type', pmp({ a: 1 }, ['utility'], { billable: 'yes' }), of('unknown', 'unknown')],
  ['names that are too long', pmp('regular'.padEnd(100), 'utility'), of('unknown', 'utility')],
  ['pricing that is no object', { pricing: 'free' }, of('unknown', 'unknown')],
  ['no pricing', {}, undefined],
  ['a null', { pricing: null }, undefined],
  ['pricing of a failure', { ...pmp('regular', 'utility'), status: 'failed' }, undefined],
]
for (const [what, fields, expected] of rows) {
  test(`pricing of a status is parsed: ${what}`, () => assert.deepEqual(pricingOf(fields), expected))
}

const tierInfo = {
  ...{ tier_update_time: seconds(now), pricing_category: 'UTILITY', region: 'India', effective_month: '2026-11' },
  tier: '25000001:50000000',
}

function tierOf(more: object) {
  const value = { event: 'VOLUME_BASED_PRICING_TIER_UPDATE', volume_tier_info: { ...tierInfo, ...more } }
  const changes = [{ field: 'account_update', value }]
  const [item] = parseCallback({ object: 'whatsapp_business_account', entry: [{ id: '2', changes }] }, now).items
  assert.ok(item === undefined || item.accountId === '2')
  return item?.event
}

test('a report of a volume tier names its market, category, month and first message, for the account', () => {
  const told = { type: 'volume_tier', region: 'India', category: 'utility', month: '2026-11', at: now }
  assert.deepEqual(tierOf({}), { ...told, fromMessage: 25_000_001 })
  assert.deepEqual(tierOf({ tier: '0:250000' }), { ...told, fromMessage: 1 })
  assert.deepEqual(tierOf({ tier: '100000001:', region: 'REST_OF_AFRICA' }), {
    ...{ ...told, region: 'REST_OF_AFRICA' },
    fromMessage: 100_000_001,
  })
  for (const odd of [
    { pricing_category: 'CALLING' },
    { effective_month: '2026-13' },
    { tier: 'gold' },
    { region: ' ' },
    { region: undefined },
  ])
    assert.equal(tierOf(odd), undefined, JSON.stringify(odd))
})
