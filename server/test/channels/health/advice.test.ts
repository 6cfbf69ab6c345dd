import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { inboxReceive } from '../../../src/app/inbox.ts'
import type { Channel, StoredConnection } from '../../../src/channels/connection/connection.ts'
import { findConnection } from '../../../src/channels/connection/queries.ts'
import { adviceFor, findAdvice } from '../../../src/channels/health/advice.ts'
import { listAdvice, silentSince } from '../../../src/channels/health/health.ts'
import { mergeFacts } from '../../../src/channels/health/number-status.ts'
import { errorMeanings } from '../../../src/channels/waba/errors.ts'
import { parseAccountUpdate } from '../../../src/channels/waba/parse/parse-callback.ts'
import { activityReasons } from '../../../src/inbox/conversation/commit-change.ts'
import { inboxWorld } from '../../support/inbox/inbox-world.ts'

const source = fileURLToPath(new URL('../../../src', import.meta.url))

/** All files in which a channel or the inbox can set a reason or an error code. */
const files = ['channels', 'inbox'].flatMap((room) =>
  readdirSync(join(source, room), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(source, room, name)),
)

// An unknown send result is reported as `outcome_unknown`, whatever code the connector returns.
const writtenCodes = /(?<!outcome: 'unknown', )\b(?:errorCode|reason|problem): '([a-z][a-z0-9_]*)'/g

/** Reasons for files that failed to download are texts of the web app. */
function codesOfFiles(): string[] {
  const words = new URL('../../../../web/src/inbox/parts/file-failures.ts', import.meta.url)
  const lists = [...readFileSync(words, 'utf8').matchAll(/^ {2}\w+: \[(.*)\],$/gm)]
  return lists.flatMap(([, list = '']) => [...list.matchAll(/'(\w+)'/g)].map(([, code = '']) => code))
}

test('every reason and error code in the source has its own advice', () => {
  const codes = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(writtenCodes)].map(([, code]) => code ?? ''),
  )
  for (const known of ['no_address', 'not_sent', 'account_disabled', 'logged_out', 'baileys_missing']) {
    assert.ok(codes.includes(known), `the search misses ${known}`)
  }
  // Reasons for which a connection is available again, and those of activity in a conversation.
  const harmless: readonly string[] = ['account_reinstated', ...activityReasons]
  const ofFiles = codesOfFiles()
  assert.ok(ofFiles.includes('hash_mismatch'), 'the search misses files')
  const without = codes.filter((code) => ![...harmless, ...ofFiles].includes(code) && findAdvice(code) === null)
  assert.deepEqual([...new Set(without)], [])
})

test('every known platform code has advice, also as a reason', () => {
  for (const code of errorMeanings.keys()) {
    assert.ok(findAdvice(String(code)) !== null, `no advice on ${code}`)
    assert.equal(findAdvice(`platform_error_${code}`), findAdvice(String(code)))
  }
})

test('every event that ends an account has advice', () => {
  for (const event of ['PARTNER_REMOVED', 'ACCOUNT_OFFBOARDED', 'ACCOUNT_DELETED', 'DISABLED_UPDATE']) {
    const told = parseAccountUpdate({ event }, now)
    const isEnd = told?.type === 'connection_state' && !told.available
    assert.ok(isEnd && findAdvice(told.reason) !== null, event)
  }
})

test('every account restriction has advice, also unknown kinds', () => {
  const types = ['BIZ_INITIATED_MESSAGING', 'CUSTOMER_INITIATED_MESSAGING', 'ADD_PHONE_NUMBER_ACTION', 'X']
  const restriction_info = types.map((type) => ({ restriction_type: `RESTRICTED_${type}` }))
  const violation_info = { violation_type: 'ADULT' }
  for (const update of [
    { event: 'ACCOUNT_RESTRICTION', restriction_info },
    { event: 'ACCOUNT_VIOLATION', violation_info },
  ]) {
    const told = parseAccountUpdate(update, now)
    assert.ok(told?.type === 'account_restricted')
    for (const { reason } of told.all ?? told.added) assert.ok(findAdvice(reason) !== null, reason)
  }
})

const rows: [code: string, advice: RegExp][] = [
  ['platform_error_190', /token is no longer valid/],
  ['platform_error_200', /lacks a permission/],
  ['299', /lacks a permission/],
  ['131047', /approved template/],
  ['131026', /cannot be delivered/],
  ['outcome_unknown', /before you send again/],
  ['unreachable', /every 10 minutes/],
  ['http_502', /could not be reached/],
  ['http_401', /API key/],
  ['econnrefused', /could not be reached/],
  ['timeout', /could not be reached/],
  ['463', /message new people/],
  ['replaced', /Another program/],
  ['131999', /list of error codes/],
  ['everything', /list of error codes/],
]

test('advice for known codes, and where to look up unknown ones', () => {
  for (const [code, advice] of rows) assert.match(adviceFor(code, 'waba'), advice, code)
  assert.match(adviceFor('x', 'partner'), /partner's documentation/)
  assert.match(adviceFor('x', 'unofficial'), /the phone/)
})

const now = new Date('2026-03-10T12:00:00.000Z')
const url = 'https://parley.example/channels/waba/x/webhook'
const connection = (changes: object) =>
  ({
    stateChangedAt: new Date(0),
    holds: [] as StoredConnection['holds'],
    ...{ id: 'c', channel: 'waba', numberId: '1', state: 'active', stateReason: null, acknowledgedAt: null },
    ...{ numberStatus: null, lastEventInAt: null, createdAt: now },
    ...changes,
  }) as StoredConnection
const codesOf = (changes: object, isSilent = false) =>
  listAdvice(connection(changes), isSilent, null, url, now).map(({ code }) => code)

const lowQuality = mergeFacts(null, { quality: 'red' }, now)
const advised: [what: string, changes: object, isSilent: boolean, codes: string[]][] = [
  ['all is well', {}, false, []],
  ['a member paused it', { state: 'paused' }, false, ['paused']],
  ['the token ended', { state: 'unavailable', stateReason: 'platform_error_190' }, false, ['platform_error_190']],
  ['it is down without a reason', { state: 'unavailable' }, false, ['unreachable']],
  ['the platform lowered its quality', { numberStatus: lowQuality }, true, ['quality_red', 'nothing_arrives']],
  ['nothing arrives', {}, true, ['nothing_arrives']],
  ['both', { state: 'paused' }, true, ['paused', 'nothing_arrives']],
  [
    'no phone is linked',
    { channel: 'unofficial', numberId: 'c', state: 'unavailable', stateReason: 'never_paired' },
    false,
    ['never_paired'],
  ],
  ['nobody confirmed the risk', { channel: 'unofficial' }, false, ['acknowledgement_required']],
  ['a person did', { channel: 'unofficial', acknowledgedAt: now }, false, []],
]

test('a connection has advice for each of its problems', () => {
  for (const [what, changes, isSilent, codes] of advised) assert.deepEqual(codesOf(changes, isSilent), codes, what)
})

test('advice on silence names the webhook URL, if there is one', () => {
  const textOf = (changes: object, webhookUrl: string | null) =>
    listAdvice(connection(changes), true, null, webhookUrl, now).at(-1)?.text ?? ''
  assert.ok(textOf({}, url).includes(url))
  assert.match(textOf({ channel: 'partner' }, url), /the partner reports nothing/)
  assert.match(textOf({ channel: 'unofficial', acknowledgedAt: now }, url), /phone is on/)
})

test('silence counts from the last event, which may be a minute behind', () => {
  const later = (ms: number) => new Date(now.getTime() + ms)
  assert.deepEqual(silentSince(connection({})), now)
  assert.deepEqual(silentSince(connection({ lastEventInAt: later(5) })), later(60_005))
})

const channels: [Channel, string, string | null][] = [
  ['waba', 'unavailable', 'platform_error_190'],
  ['partner', 'unavailable', 'platform_error_190'],
  // QR sessions have other error codes.
  ['unofficial', 'active', null],
]

for (const [channel, state, reason] of channels) {
  test(`a failed status with the code of an invalid token leaves the ${channel} connection ${state}`, async () => {
    const w = await inboxWorld()
    const id = await w.addConnection(channel)
    const keyring = await w.keyStore.keyring(w.workspaceId)
    const find = () => findConnection(w.db.sql, keyring, w.workspaceId, id)
    const connection = await find()
    assert.ok(connection !== undefined)
    await inboxReceive(w)(connection, [w.status('unknown', 'failed', { errorCode: '190' })])
    const after = await find()
    assert.deepEqual([after?.state, after?.stateReason], [state, reason])
  })
}
