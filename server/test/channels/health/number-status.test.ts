import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findAdvice } from '../../../src/channels/health/advice.ts'
import {
  findWorsened,
  mergeFacts,
  type NumberFacts,
  numberProblems,
} from '../../../src/channels/health/number-status.ts'
import { parseEvent } from '../../../src/channels/unofficial/parse/parse-event.ts'
import { parseMessagingLimit, parseNumberFacts } from '../../../src/channels/waba/parse/number-status.ts'
import { parseCallback } from '../../../src/channels/waba/parse/parse-callback.ts'

const now = new Date('2026-11-20T10:00:00Z')
const later = '2026-11-21T10:00:00.000Z'
const statusOf = (facts: Partial<NumberFacts>) => mergeFacts(null, facts, now)
const chats = (level: 'normal' | 'first_warning' | 'second_warning' | 'capped') => ({
  newChats: { level, used: null, total: null, endsAt: null },
})

const changes: [name: string, before: Partial<NumberFacts> | null, after: Partial<NumberFacts>, told: string[]][] = [
  ['a first report without problems', null, { quality: 'green', messagingLimit: 250, canSend: 'available' }, []],
  ['a first report of a problem', null, { quality: 'red', canSend: 'blocked' }, ['sending_blocked', 'quality_red']],
  ['quality falls', { quality: 'green' }, { quality: 'yellow' }, ['quality_yellow']],
  ['quality falls further', { quality: 'yellow' }, { quality: 'red' }, ['quality_red']],
  ['quality stays low', { quality: 'red' }, { quality: 'red' }, []],
  ['quality improves', { quality: 'red' }, { quality: 'yellow' }, []],
  ['quality is no longer reported', { quality: 'red' }, { quality: null }, []],
  ['the limit is lowered', { messagingLimit: 2000 }, { messagingLimit: 250 }, ['messaging_limit_lowered']],
  [
    'the limit is no longer unlimited',
    { messagingLimit: 'unlimited' },
    { messagingLimit: 100_000 },
    ['messaging_limit_lowered'],
  ],
  ['the limit is raised', { messagingLimit: 250 }, { messagingLimit: 'unlimited' }, []],
  ['the limit becomes known', { messagingLimit: null }, { messagingLimit: 250 }, []],
  ['the limit becomes unknown', { messagingLimit: 250 }, { messagingLimit: null }, []],
  ['throughput is lowered', { throughput: 'high' }, { throughput: 'standard' }, ['throughput_lowered']],
  ['throughput is raised', { throughput: 'standard' }, { throughput: 'high' }, []],
  ['the name is declined', { nameStatus: 'pending' }, { nameStatus: 'declined' }, ['name_declined']],
  ['sending is limited', { canSend: 'available' }, { canSend: 'limited' }, ['sending_limited']],
  ['sending is limited instead of blocked', { canSend: 'blocked' }, { canSend: 'limited' }, []],
  ['new chats are nearly used up', chats('normal'), chats('first_warning'), ['new_chats_warning']],
  ['a second warning', chats('first_warning'), chats('second_warning'), []],
  ['new chats are used up', chats('second_warning'), chats('capped'), ['new_chats_capped']],
  ['counting starts again', chats('capped'), chats('normal'), []],
  ['new chats are locked', {}, { newChatsLockedUntil: later }, ['new_chats_locked']],
  ['a lock in the past', {}, { newChatsLockedUntil: '2026-11-20T09:59:59.000Z' }, []],
]

for (const [name, before, after, told] of changes) {
  test(`the team is notified of what worsens: ${name}`, () => {
    assert.deepEqual(findWorsened(before && statusOf(before), statusOf(after), now), told)
  })
}

test('every problem of a number has advice', () => {
  const worst = statusOf({ ...chats('capped'), canSend: 'blocked', quality: 'red', nameStatus: 'expired' })
  const bad = statusOf({ ...chats('first_warning'), canSend: 'limited', quality: 'yellow', nameStatus: 'declined' })
  const codes = [
    ...numberProblems({ ...worst, newChatsLockedUntil: later }, now),
    ...numberProblems(bad, now),
    ...['messaging_limit_lowered', 'throughput_lowered'],
  ]
  assert.equal(new Set(codes).size, 11)
  assert.deepEqual(
    codes.filter((code) => findAdvice(code) === null),
    [],
  )
})

test('facts that a report does not contain are kept', () => {
  const first = statusOf({ quality: 'green', messagingLimit: 250 })
  const second = mergeFacts(first, { messagingLimit: 2000 }, new Date(later))
  assert.deepEqual(second, { ...first, messagingLimit: 2000, checkedAt: later })
})

const limits: [unknown, NumberFacts['messagingLimit']][] = [
  ['TIER_50', 50],
  ['TIER_250', 250],
  ['TIER_2K', 2000],
  ['tier_10k', 10_000],
  ['TIER_100K', 100_000],
  ['TIER_UNLIMITED', 'unlimited'],
  ['UNLIMITED', 'unlimited'],
  [-1, 'unlimited'],
  [2000, 2000],
  ['2000', 2000],
  ['TIER_NOT_SET', null],
  ['', null],
  [0, null],
  [1.5, null],
  [1e12, null],
  ['TIER_999999999K', null],
  [null, null],
  [{}, null],
]

for (const [value, limit] of limits) {
  test(`a messaging limit of ${JSON.stringify(value)} is ${limit}`, () => {
    assert.equal(parseMessagingLimit(value), limit)
  })
}

test('what the platform returns about a number is read; what it says of its problems is bounded', () => {
  const error = { error_code: 141_000, error_description: 'x'.repeat(2000), possible_solution: 'Do this.' }
  const facts = parseNumberFacts({
    quality_rating: 'YELLOW',
    whatsapp_business_manager_messaging_limit: 'TIER_2K',
    throughput: { level: 'HIGH' },
    name_status: 'AVAILABLE_WITHOUT_REVIEW',
    health_status: {
      can_send_message: 'LIMITED',
      entities: [
        { entity_type: 'PHONE_NUMBER', id: '1', can_send_message: 'AVAILABLE' },
        { entity_type: 'WABA', errors: Array.from({ length: 30 }, (_, n) => ({ ...error, error_code: n })) },
        { entity_type: 'BUSINESS', errors: 'none' },
        null,
      ],
    },
  })
  const { problems = [], ...rest } = facts
  assert.deepEqual(rest, {
    ...{ quality: 'yellow', messagingLimit: 2000, throughput: 'high', nameStatus: 'approved', canSend: 'limited' },
  })
  assert.deepEqual([problems.length, problems[1]?.code, problems[1]?.text.length], [10, '1', 500])
  const nothing = parseNumberFacts({ quality_rating: 7, throughput: [], name_status: 'NEW', health_status: 'x' })
  assert.deepEqual(nothing, {
    ...{ quality: null, messagingLimit: null, throughput: null, nameStatus: null, canSend: null, problems: [] },
  })
})

const callback = (field: string, value: object) => ({
  object: 'whatsapp_business_account',
  entry: [{ id: 'acc-1', changes: [{ field, value }] }],
})

for (const [field, value, messagingLimit] of [
  ['phone_number_quality_update', { event: 'DOWNGRADE', max_daily_conversations_per_business: 'TIER_250' }, 250],
  ['phone_number_quality_update', { event: 'UPGRADE', current_limit: 'TIER_10K' }, 10_000],
  ['phone_number_quality_update', { event: 'THROUGHPUT_UPGRADE', current_limit: 'TIER_UNLIMITED' }, null],
  ['business_capability_update', { max_daily_conversations_per_business: 2000 }, 2000],
  ['phone_number_name_update', { decision: 'REJECTED' }, null],
  ['account_review_update', { decision: 'APPROVED' }, null],
] as const) {
  test(`the change ${field} ${JSON.stringify(value)} concerns all numbers of the account`, () => {
    const facts = messagingLimit === null ? {} : { messagingLimit }
    const event = { type: 'number_status', facts, isHint: true }
    assert.deepEqual(parseCallback(callback(field, value), now).items, [{ numberId: null, accountId: 'acc-1', event }])
  })
}

test('a linked phone reports its limits on new chats', () => {
  const facts = (event: 'connection.update' | 'message-capping.update', data: unknown) =>
    parseEvent({ event, data }, now).events.map((one) => (one.type === 'number_status' ? one.facts : one))
  const lockedUntil = (newChatsLockedUntil: string | null) => [{ newChatsLockedUntil }]
  const ends = new Date(later)
  const locks: [unknown, object[]][] = [
    [{ isActive: true, timeEnforcementEnds: ends, enforcementType: 'BIZ_QUALITY' }, lockedUntil(later)],
    [{ isActive: true, timeEnforcementEnds: later }, lockedUntil(later)],
    [{ isActive: true, timeEnforcementEnds: 'soon' }, lockedUntil(null)],
    [{ isActive: false, enforcementType: 'DEFAULT' }, lockedUntil(null)],
    [undefined, []],
  ]
  for (const [reachoutTimeLock, expected] of locks) {
    assert.deepEqual(facts('connection.update', { reachoutTimeLock }), expected)
  }
  const seconds = String(ends.getTime() / 1000)
  const capped = { capping_status: 'CAPPED', used_quota: 50, total_quota: 50, cycle_end_timestamp: seconds }
  assert.deepEqual(facts('message-capping.update', capped), [
    { newChats: { level: 'capped', used: 50, total: 50, endsAt: later } },
  ])
  for (const odd of [{}, null, { capping_status: 5, used_quota: -1, total_quota: -1, cycle_end_timestamp: '0' }]) {
    assert.deepEqual(facts('message-capping.update', odd), [
      { newChats: { level: 'normal', used: null, total: null, endsAt: null } },
    ])
  }
})
