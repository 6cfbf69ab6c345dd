import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseEvent } from '../../../src/channels/unofficial/parse/parse-event.ts'
import type { SocketEvent, SocketEventName } from '../../../src/channels/unofficial/transport/transport.ts'
import {
  at,
  closed,
  customerDigits,
  customerJid,
  customerLid,
  socketMessage,
  statusUpdate,
  upsert,
} from '../../support/channels/session-events.ts'

const now = new Date('2026-11-01T00:00:00.000Z')
const both = { userId: customerLid, parentUserId: null, phone: customerDigits }

const updates: [data: unknown, update: unknown][] = [
  [{ connection: 'connecting', receivedPendingNotifications: false }, { state: 'connecting' }],
  [{ qr: '2@abc' }, { qr: '2@abc' }],
  [{ isNewLogin: true, qr: undefined }, { isNewLogin: true }],
  [{ connection: 'open' }, { state: 'open' }],
  [
    { connection: 'open', me: { id: '5511900000001:7@s.whatsapp.net' } },
    { state: 'open', phone: '5511900000001' },
  ],
  [
    { connection: 'open', me: { id: 'nonsense' } },
    { state: 'open', phone: null },
  ],
  [closed(515).data, { state: 'closed', code: 515 }],
  [closed().data, { state: 'closed', code: null }],
  [closed('401').data, { state: 'closed', code: null }],
  [{ connection: 'close' }, { state: 'closed', code: null }],
  [{ connection: 'closing' }, null],
  [{ receivedPendingNotifications: true }, null],
  [null, null],
]

test('connection updates of a socket are parsed', () => {
  for (const [data, update] of updates) {
    assert.deepEqual(parseEvent({ event: 'connection.update', data }, now), { update, events: [], skipped: [] })
  }
})

const statusRows: [number: unknown, status: string | null][] = [
  [0, 'failed'],
  [1, null],
  [2, 'sent'],
  [3, 'delivered'],
  [4, 'read'],
  [5, 'read'],
  [6, null],
  ['4', null],
  [undefined, null],
]

test('statuses of our messages map to ours or to none', () => {
  for (const [number, status] of statusRows) {
    const { events, skipped } = parseEvent(statusUpdate(number), now)
    assert.equal(events.length + skipped.length, 1)
    assert.equal(events[0]?.type === 'status' ? events[0].status : null, status, `${number}`)
  }
})

test('a status has the message id and time, whatever the address', () => {
  const { events } = parseEvent(statusUpdate(4, {}, { remoteJid: customerLid }), now)
  const customer = { userId: customerLid, parentUserId: null, phone: null, name: null }
  const told = { externalId: '3EB0AA', status: 'read', errorCode: null, at: new Date(at * 1000), correlator: null }
  assert.deepEqual(events, [{ type: 'status', ...told, customer }])
})

test('a failed status has its error code', () => {
  const codeOf = (parameters: unknown) => {
    const [event] = parseEvent(statusUpdate(0, { messageStubParameters: parameters }), now).events
    return event?.type === 'status' ? event.errorCode : undefined
  }
  assert.equal(codeOf(['463', 'Your account has been restricted']), '463')
  assert.equal(codeOf([479]), '479')
  assert.equal(codeOf(undefined), 'unknown')
  assert.equal(codeOf(['9'.repeat(80)])?.length, 50)
})

const text = { conversation: 'Anew' }
const noStatus: [what: string, event: SocketEvent][] = [
  ["a customer's message", statusUpdate(4, {}, { fromMe: false })],
  ['a group', statusUpdate(3, {}, { remoteJid: '1203630469@g.us' })],
  ['a message without an id', statusUpdate(3, {}, { id: '' })],
  ['an edit without words', statusUpdate(undefined, { message: { editedMessage: { message: {} } } })],
  ['an edit of nothing', statusUpdate(undefined, { message: { editedMessage: { message: text } } }, { id: '' })],
  ['an edit in a group', statusUpdate(undefined, { message: null, messageStubType: 1 }, { remoteJid: '120@g.us' })],
  ['another notice', statusUpdate(undefined, { message: null, messageStubType: 40 })],
]

test('other updates are skipped', () => {
  for (const [what, event] of noStatus) {
    const { events, skipped } = parseEvent(event, now)
    assert.deepEqual([events.length, skipped.length], [0, 1], what)
  }
})

const contactRows: [contact: unknown, name: string | null | undefined][] = [
  [{ id: customerJid, name: 'Ana Souza', notify: 'ana' }, 'Ana Souza'],
  [{ id: customerJid, notify: ' ana ' }, 'ana'],
  [{ id: customerJid, verifiedName: 'Shop', name: '' }, 'Shop'],
  [{ id: customerLid, phoneNumber: customerJid }, null],
  [{ id: customerJid, lid: customerLid, name: 'Ana' }, 'Ana'],
  [{ id: customerJid, imgUrl: 'changed' }, undefined],
  [{ id: '1203630469@g.us', name: 'Family' }, undefined],
  [null, undefined],
]

test("a name in the phone's contacts is reported", () => {
  for (const [contact, name] of contactRows) {
    const { events, skipped } = parseEvent({ event: 'contacts.upsert', data: [contact] }, now)
    assert.equal(events.length + skipped.length, 1)
    const [event] = events
    assert.equal(event?.type === 'contact_named' ? event.customer.name : undefined, name, JSON.stringify(contact))
  }
})

test('the phone behind a hidden address is reported as one customer with both', () => {
  const mapping = { lid: customerLid, pn: customerJid }
  for (const data of [mapping, [mapping]]) {
    const { events } = parseEvent({ event: 'lid-mapping.update', data }, now)
    assert.deepEqual(events, [{ type: 'contact_named', customer: { ...both, name: null } }])
  }
  assert.deepEqual(parseEvent({ event: 'lid-mapping.update', data: { lid: customerLid } }, now).events, [])
})

test('history is parsed as history, with mapped phones', () => {
  const data = {
    chats: [{ id: customerLid }],
    messages: [
      socketMessage({ conversation: 'Before' }, {}, { remoteJid: customerLid }),
      socketMessage({ conversation: 'Answer' }, { status: 4 }, { remoteJid: customerJid, fromMe: true }),
      socketMessage({ conversation: 'Group' }, {}, { remoteJid: '1203630469@g.us' }),
      socketMessage({ protocolMessage: { type: 0 } }),
    ],
    contacts: [{ id: customerJid, name: 'Ana Souza' }],
    lidPnMappings: [{ lid: customerLid, pn: customerJid }],
    progress: 100,
  }
  const { events, skipped } = parseEvent({ event: 'messaging-history.set', data }, now)
  assert.deepEqual(
    events.map((event) => event.type),
    ['history', 'history', 'contact_named', 'contact_named'],
  )
  const [theirs, ours] = events
  assert.ok(theirs?.type === 'history' && ours?.type === 'history')
  assert.deepEqual([theirs.direction, theirs.status, theirs.text], ['inbound', 'delivered', 'Before'])
  assert.deepEqual(theirs.customer, { ...both, name: 'Ana' })
  assert.deepEqual([ours.direction, ours.status, ours.customer.name], ['outbound', 'read', null])
  assert.equal(skipped.length, 2)
})

const names: SocketEventName[] = [
  'connection.update',
  'messages.upsert',
  'messages.update',
  'messaging-history.set',
  'contacts.upsert',
  'contacts.update',
  'lid-mapping.update',
]

const lookedAt = [
  'key id remoteJid remoteJidAlt fromMe message messages update status text lid conversation extendedTextMessage',
  'ephemeralMessage editedMessage imageMessage contextInfo protocolMessage reactionMessage type timestampMs mediaKey',
  'waveform fileLength vcard stanzaId quotedMessage contactMessage locationMessage audioMessage contactsArrayMessage',
  'contacts messageTimestamp low high lidPnMappings pn pushName messageStubParameters externalAdReply connection',
  'lastDisconnect error output me qr __proto__ constructor toString',
].flatMap((line) => line.split(' '))

// Invalid values in the fields that the parser reads.
const { value: nonsense } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, -1, 0, 2, 1e300, '', '\0', '\ud800', customerJid, customerLid, 'x@g.us', {}, []),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...lookedAt), tie('value'), { maxKeys: 5 }),
  ),
}))

test('no input makes the parser throw: invalid data affects only its own item', () => {
  const good = socketMessage({ conversation: 'Hello' })
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.oneof(nonsense, fc.jsonValue()), (name, value) => {
      for (const data of [value, [value], { messages: [value, good] }]) {
        const { events } = parseEvent({ event: name, data }, now)
        for (const event of events) if ('externalId' in event) assert.ok(event.externalId.length > 0)
      }
      const { events, skipped } = parseEvent(upsert(value, good), now)
      assert.ok(events.some((event) => event.type === 'message' && event.text === 'Hello'))
      assert.ok(!skipped.includes('item that could not be parsed'))
    }),
    { numRuns: 300 },
  )
})

// Third-party samples, not part of the repository: pass their folder to test them.
const folder = join(process.env.PAYLOAD_SAMPLES ?? '', 'baileys')
const hasSamples = process.env.PAYLOAD_SAMPLES !== undefined && existsSync(folder)

/** Expected result by the sample's name: the first matching pattern applies. */
const outcomes: [pattern: RegExp, types: string][] = [
  // Our own send is a copy of a message that is not sent yet.
  [/group|broadcast|decrypt-failed|own-send/, ''],
  [/revoke/, 'withdrawn'],
  [/fromme/, 'echo'],
  [/^update-delivered-read/, 'status status'],
  [/^update-/, 'status'],
  [/^upsert-/, 'message'],
]

test('samples of a session', { skip: hasSamples ? false : 'PAYLOAD_SAMPLES names no folder of samples' }, () => {
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
    const sample = JSON.parse(readFileSync(join(folder, file), 'utf8'))
    if (file === 'connection-sequence.json') {
      const told = sample.map((data: unknown) => parseEvent({ event: 'connection.update', data }, now).update)
      const states = told.flatMap(
        (update: { state?: string; code?: number } | null) => update?.code ?? update?.state ?? [],
      )
      assert.deepEqual(states, ['connecting', 515, 'connecting', 'open', 428, 'connecting', 'open', 440, 401])
      continue
    }
    const { events } = parseEvent(sample, now)
    const expected = outcomes.find(([pattern]) => pattern.test(file))?.[1]
    assert.equal(events.map((event) => event.type).join(' '), expected, file)
    const [event] = events
    if (event?.type !== 'message') continue
    assert.equal(event.referral !== null, file.includes('ctwa'), file)
    assert.equal(event.customer.phone === null, file.includes('no-alt'), file)
    assert.equal(event.at.getUTCFullYear(), 2026, file)
  }
})
