import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findExclusion, type RecipientFacts } from '../../src/broadcasts/audience.ts'
import {
  allowanceOf,
  batchOf,
  findPauseReason,
  findReactionReason,
  localMoment,
  pauseAfterMs,
  perMinuteOf,
  zoneOf,
} from '../../src/broadcasts/pacing.ts'
import { nextRefreshAt } from '../../src/broadcasts/results.ts'
import {
  fillVariant,
  type Variable,
  type Variant,
  variableText,
  variantOf,
  variantProblem,
} from '../../src/broadcasts/variables.ts'
import type { Hold, Stops } from '../../src/channels/health/holds.ts'
import { mergeFacts, type NumberFacts } from '../../src/channels/health/number-status.ts'
import type { Template } from '../../src/channels/templates/templates.ts'
import type { Consent } from '../../src/consents/consent.ts'

const emptyVariant: Variant = {
  ...{ template: { name: 'sale', language: 'en' }, weight: 1 },
  ...{ body: [], header: null, buttons: [] },
}
const approved = {
  ...{
    id: 'a',
    connectionId: 'b',
    name: 'sale',
    language: 'en',
    category: 'MARKETING',
    status: 'APPROVED',
    body: 'Hi',
    parameterNames: null,
  },
  ...{ bodyOnly: true, header: null },
}
const at = (text: string) => new Date(text)
const now = at('2026-03-10T12:00:00Z')

const hold = (stops: Stops): Hold => ({
  ...{ stops, reason: 'r', since: now.toISOString(), attempts: 1, probe: 'send', nextTryAt: null },
  ...{ triedAt: null, until: null, liftedAt: null },
})
const status = (facts: Partial<NumberFacts>) => mergeFacts(null, facts, now)

test('a broadcast pauses by itself for what stops everyone, and only for that', () => {
  type Number = Parameters<typeof findPauseReason>[0]
  const fine: Number = { state: 'active', holds: [], numberStatus: status({ quality: 'green' }) }
  const table: [what: string, number: Number, baseline: 'green' | 'yellow' | null, reason: string | null][] = [
    ['a good number', fine, 'green', null],
    ['nothing reported', { ...fine, numberStatus: null }, null, null],
    ['disconnected', { ...fine, state: 'unavailable' }, 'green', 'connection'],
    ['paused by people', { ...fine, state: 'paused' }, 'green', 'connection'],
    ['no payment', { ...fine, holds: [hold('billable')] }, 'green', 'payment'],
    ['restricted', { ...fine, holds: [hold('initiated')] }, 'green', 'restricted'],
    ['locked', { ...fine, state: 'unavailable', holds: [hold('all')] }, 'green', 'restricted'],
    ['no replies, which it does not send', { ...fine, holds: [hold('replies')] }, 'green', null],
    ['a hold that has ended', { ...fine, holds: [{ ...hold('all'), liftedAt: now.toISOString() }] }, 'green', null],
    ['blocked', { ...fine, numberStatus: status({ canSend: 'blocked' }) }, null, 'restricted'],
    ['lower quality', { ...fine, numberStatus: status({ quality: 'yellow' }) }, 'green', 'quality'],
    ['the quality at which people resumed', { ...fine, numberStatus: status({ quality: 'yellow' }) }, 'yellow', null],
    ['better quality', fine, 'yellow', null],
    ['red in any case', { ...fine, numberStatus: status({ quality: 'red' }) }, null, 'quality'],
  ]
  for (const [what, number, baseline, reason] of table) {
    assert.equal(findPauseReason(number, baseline, now), reason, what)
  }
})

test('the pace is half of what the number can send, less at lower quality, and at most what its author wants', () => {
  const number = (isOnPhone: boolean, quality: 'green' | 'yellow' | null) => ({
    isOnPhone,
    numberStatus: quality === null ? null : { quality },
  })
  const table: [number: ReturnType<typeof number>, wanted: number | null, perMinute: number][] = [
    [number(false, 'green'), null, 2400],
    [number(false, null), null, 2400],
    [number(false, 'yellow'), null, 600],
    [number(true, 'green'), null, 600],
    [number(true, 'yellow'), null, 150],
    [number(false, 'green'), 30, 30],
    [number(true, 'yellow'), 2000, 150],
  ]
  for (const [one, wanted, perMinute] of table) assert.equal(perMinuteOf(one, wanted), perMinute)
  for (const perMinute of [1, 7, 30, 150, 600, 2400]) {
    const batch = batchOf(perMinute)
    assert.ok(batch >= 1 && batch <= 100)
    assert.ok((batch / pauseAfterMs(batch, perMinute)) * 60_000 <= perMinute, `${perMinute} a minute`)
  }
})

test('a tenth of the messaging limit is left for conversations that people start', () => {
  const table: [limit: number | 'unlimited' | null, used: number, left: number][] = [
    [250, 0, 225],
    [250, 224, 1],
    [250, 225, 0],
    [250, 400, 0],
    [100_000, 50, 89_950],
    ['unlimited', 1_000_000, Number.POSITIVE_INFINITY],
    [null, 10, Number.POSITIVE_INFINITY],
  ]
  for (const [limit, used, left] of table) assert.equal(allowanceOf(limit, used), left, `${limit} ${used}`)
})

test('opt-outs and failures stop it once there are enough to say something', () => {
  const table: [accepted: number, failed: number, optedOut: number, reason: string | null][] = [
    [49, 0, 49, null],
    [50, 0, 1, null],
    [50, 0, 2, 'complaints'],
    [1000, 0, 20, null],
    [1000, 0, 21, 'complaints'],
    [25, 25, 0, null],
    [24, 26, 0, 'failures'],
    [10, 39, 0, null],
    [40, 60, 40, 'complaints'],
  ]
  for (const [accepted, failed, optedOut, reason] of table) {
    assert.equal(findReactionReason({ accepted, failed, optedOut }), reason, `${accepted} ${failed} ${optedOut}`)
  }
})

test('a local time is reached in each country at its own moment, on the next day where it has passed', () => {
  const table: [country: string | null, localAt: string, notBefore: string, moment: string][] = [
    ['BR', '2026-03-11T09:00', '2026-03-10T12:00:00Z', '2026-03-11T12:00:00Z'],
    ['IN', '2026-03-11T09:00', '2026-03-10T12:00:00Z', '2026-03-11T03:30:00Z'],
    ['NZ', '2026-03-11T09:00', '2026-03-10T21:00:00Z', '2026-03-11T20:00:00Z'],
    ['BR', '2026-03-10T09:00', '2026-03-10T12:00:00Z', '2026-03-10T12:00:00Z'],
    ['BR', '2026-03-10T09:00', '2026-03-10T12:00:01Z', '2026-03-11T12:00:00Z'],
    ['BR', '2026-03-01T09:00', '2026-03-10T12:00:01Z', '2026-03-11T12:00:00Z'],
    // The clocks change in the night.
    ['DE', '2026-03-29T09:00', '2026-03-28T00:00:00Z', '2026-03-29T07:00:00Z'],
    ['DE', '2026-03-28T09:00', '2026-03-28T12:00:00Z', '2026-03-29T07:00:00Z'],
    ['PT', '2026-03-11T09:00', '2026-03-10T12:00:00Z', '2026-03-11T09:00:00Z'],
  ]
  for (const [country, localAt, notBefore, moment] of table) {
    const zone = zoneOf(country) ?? assert.fail(`no zone for ${country}`)
    assert.deepEqual(localMoment(localAt, zone, at(notBefore)), at(moment), `${country} ${localAt}`)
  }
  for (const country of [null, '', 'XX1', 'br']) assert.equal(zoneOf(country), null)
})

const decided = (decision: Consent['decision']) => ({ decision }) as Consent

test('a lead is left out for the first reason that applies', () => {
  const facts: RecipientFacts = {
    ...{ category: 'MARKETING', country: 'BR', isRefused: false, isWrittenTo: false, isComplete: true },
    consents: { marketing: null, utility: null },
  }
  const out = { marketing: decided('opted_out'), utility: null }
  const outOfAll = { marketing: decided('opted_out'), utility: decided('opted_out') }
  const phone = '5581991234567'
  const table: [phone: string | null, facts: Partial<RecipientFacts>, optInOnly: boolean, reason: string | null][] = [
    [phone, {}, false, null],
    [null, { isComplete: false }, false, 'no_number'],
    [phone, { isComplete: false, consents: out }, false, 'missing_value'],
    [phone, { consents: out }, false, 'opted_out'],
    [phone, { consents: out, category: 'UTILITY' }, false, null],
    [phone, { consents: outOfAll, category: 'UTILITY' }, false, 'opted_out'],
    [phone, {}, true, 'not_opted_in'],
    [phone, { consents: { marketing: decided('opted_in'), utility: null } }, true, null],
    [phone, { country: 'US' }, false, 'country'],
    [phone, { country: 'US', category: 'UTILITY' }, false, null],
    [phone, { isRefused: true, isWrittenTo: true }, false, 'recently_refused'],
    [phone, { isRefused: true, category: 'UTILITY' }, false, null],
    [phone, { isWrittenTo: true }, false, 'recently_written'],
  ]
  for (const [number, more, optInOnly, reason] of table) {
    assert.equal(findExclusion(number, { ...facts, ...more }, { optInOnly }), reason, JSON.stringify(more))
  }
})

const lead = {
  ...{
    firstName: 'Marina',
    lastName: null,
    email: null,
    phone: '5581991234567',
    status: 'new',
    source: 'ads' as const,
  },
  ...{ estimatedValue: 12.5, actualValue: null, uniqueCode: 'L-1', externalRef: null },
  customFields: [
    { key: 'city', label: 'City', type: 'text' as const, value: 'Recife' },
    { key: 'vip', label: 'VIP', type: 'boolean' as const, value: true },
    { key: 'notes', label: 'Notes', type: 'textarea' as const, value: ' two\n\tlines      apart ' },
  ],
}

test('a variable is filled from the lead, on one line, with its fallback, or not at all', () => {
  const table: [variable: Variable, value: string | null][] = [
    [{ from: 'field', value: 'firstName' }, 'Marina'],
    [{ from: 'field', value: 'fullName' }, 'Marina'],
    [{ from: 'field', value: 'phone' }, '+5581991234567'],
    [{ from: 'field', value: 'estimatedValue' }, '12.5'],
    [{ from: 'field', value: 'lastName' }, null],
    [{ from: 'field', value: 'lastName', fallback: '' }, null],
    [{ from: 'field', value: 'lastName', fallback: 'friend' }, 'friend'],
    [{ from: 'field', value: 'notes' }, null],
    [{ from: 'field', value: 'constructor' }, null],
    [{ from: 'custom', value: 'city' }, 'Recife'],
    [{ from: 'custom', value: 'vip' }, 'true'],
    [{ from: 'custom', value: 'notes' }, 'two lines apart'],
    [{ from: 'custom', value: 'gone', fallback: 'here' }, 'here'],
    [{ from: 'text', value: '10%\noff' }, '10% off'],
    [{ from: 'text', value: ' ', fallback: 'x' }, 'x'],
  ]
  for (const [variable, value] of table) assert.equal(variableText(variable, lead), value, JSON.stringify(variable))
  const variant = {
    ...{
      template: { name: 'sale', language: 'en' },
      weight: 1,
      body: [{ from: 'field' as const, value: 'firstName' }],
    },
    ...{ header: { from: 'text' as const, value: 'Sale' }, buttons: [{ from: 'custom' as const, value: 'city' }] },
  }
  assert.deepEqual(fillVariant(variant, lead), {
    ...{ name: 'sale', language: 'en', body_params: ['Marina'], header_param: 'Sale', button_params: ['Recife'] },
  })
  assert.equal(fillVariant({ ...variant, header: { from: 'field', value: 'email' } }, lead), null)
})

test('what a template needs decides which variants can be sent', () => {
  const text = (value: string) => ({ from: 'text' as const, value })
  const template = { ...approved, parameterCount: 0, inputs: null }
  const image = { ...template, bodyOnly: false, header: 'image' as const }
  const place = { ...template, bodyOnly: false, inputs: { headerLocation: true as const } }
  const location = { latitude: 1, longitude: 2 }
  const table: [template: Template | undefined, variant: Partial<Variant>, problem: RegExp | null][] = [
    [undefined, {}, /does not have/],
    [{ ...template, status: 'PAUSED' }, {}, /has not approved/],
    [{ ...template, category: 'Authentication' }, {}, /for codes/],
    [{ ...template, bodyOnly: false }, {}, /with parts that broadcasts cannot send/],
    [template, {}, null],
    [template, { body: [text('a')] }, /must have 0 variables/],
    [template, { header: text('a') }, /variable in its header/],
    [template, { buttons: [text('a')] }, /must have 0 variables in its buttons/],
    [template, { file: text('https://shop.example/a.jpg') }, /address of a file/],
    [template, { location }, /must have a location/],
    [image, {}, /address of a file/],
    [image, { file: text('https://shop.example/a.jpg') }, null],
    [image, { file: { from: 'custom', value: 'picture' } }, null],
    [image, { file: text('http://shop.example/a.jpg') }, /https address of its file/],
    [image, { file: text('https://user:word@shop.example/a.jpg') }, /https address of its file/],
    [image, { file: text('https://shop.example/a b.jpg') }, /https address of its file/],
    [place, {}, /must have a location/],
    [place, { location }, null],
  ]
  for (const [one, variant, problem] of table) {
    const found = variantProblem({ ...emptyVariant, ...variant }, one)
    const label = JSON.stringify([one, variant])
    if (problem === null) assert.equal(found, null, label)
    else assert.match(found ?? '', problem, label)
  }
})

test('recipients are split in shares of the weights, and each always gets the same variant', () => {
  const variants = [{ weight: 1 }, { weight: 3 }]
  const counts = [0, 0]
  for (let n = 0; n < 4000; n++) {
    const variant = variantOf(`key ${n}`, variants)
    assert.equal(variantOf(`key ${n}`, variants), variant)
    counts[variant] = (counts[variant] ?? 0) + 1
  }
  const [first = 0] = counts
  assert.ok(first > 850 && first < 1150, `${counts}`)
  assert.equal(variantOf('any', [{ weight: 7 }]), 0)
})

test('results are read more rarely as time passes, and are final after a week', () => {
  const ended = at('2026-03-10T12:00:00Z')
  const table: [now: string, next: string | null][] = [
    ['2026-03-10T12:00:00Z', '2026-03-10T12:00:30Z'],
    ['2026-03-10T13:00:00Z', '2026-03-10T13:10:00Z'],
    ['2026-03-12T12:00:00Z', '2026-03-12T18:00:00Z'],
    ['2026-03-17T11:00:00Z', '2026-03-17T12:00:00Z'],
    ['2026-03-17T12:00:00Z', null],
  ]
  for (const [time, next] of table) assert.deepEqual(nextRefreshAt(ended, at(time)), next && at(next), time)
})
