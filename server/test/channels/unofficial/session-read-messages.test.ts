import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseEvent } from '../../../src/channels/unofficial/parse/parse-event.ts'
import {
  at,
  customerDigits,
  customerJid,
  customerLid,
  socketMessage,
  upsert,
} from '../../support/channels/session-events.ts'

const now = new Date('2026-11-01T00:00:00.000Z')

function readOne(message: unknown) {
  const { events, skipped } = parseEvent(upsert(message), now)
  return { event: events[0], reason: skipped[0], count: events.length + skipped.length }
}

function written(message: unknown) {
  const { event } = readOne(message)
  assert.ok(event?.type === 'message', 'is no message')
  return event
}

const text = { conversation: 'Hello' }
const unshown = 'Message of a kind that cannot be shown'

const withCaption = { documentWithCaptionMessage: { message: { documentMessage: { caption: 'c' } } } }
const options = [{ optionName: 'Yes' }, {}, { optionName: 'No' }]
const contents: [what: string, message: unknown, kind: string, text: string][] = [
  ['text', text, 'text', 'Hello'],
  ['text with a link', { extendedTextMessage: { text: 'see x.test' }, messageContextInfo: {} }, 'text', 'see x.test'],
  ['a key beside the text', { senderKeyDistributionMessage: { groupId: 'x' }, ...text }, 'text', 'Hello'],
  ['an image', { imageMessage: { mimetype: 'image/jpeg', caption: 'mine' } }, 'image', 'mine'],
  ['an image without words', { imageMessage: {} }, 'image', ''],
  ['a video', { videoMessage: { caption: 'look' } }, 'video', 'look'],
  ['a round video', { ptvMessage: {} }, 'video', ''],
  ['a voice message', { audioMessage: { ptt: true } }, 'audio', ''],
  ['a document', { documentMessage: { fileName: 'offer.pdf' } }, 'document', 'offer.pdf'],
  ['a document with words', { documentMessage: { fileName: 'a.pdf', caption: 'Sign it' } }, 'document', 'Sign it'],
  ['a sticker', { stickerMessage: { isAnimated: true } }, 'image', ''],
  ['a place', { locationMessage: { degreesLatitude: 1.5, degreesLongitude: -2 } }, 'location', '1.5, -2'],
  ['a named place', { locationMessage: { name: 'Café', address: 'Main St 1' } }, 'location', 'Café, Main St 1'],
  ['a moving place', { liveLocationMessage: { caption: 'On my way' } }, 'location', 'On my way'],
  ['a contact', { contactMessage: { displayName: 'Bo', vcard: 'BEGIN:VCARD' } }, 'text', 'Contact: Bo'],
  ['contacts', { contactsArrayMessage: { contacts: [{ displayName: 'A' }, {}] } }, 'text', 'Contact: A'],
  ['a contact without a name', { contactMessage: {} }, 'text', 'Contact'],
  ['a reaction', { reactionMessage: { key: { id: 'x' }, text: '👍' } }, 'text', '👍'],
  ['a button', { buttonsResponseMessage: { selectedDisplayText: 'Yes', selectedButtonId: '1' } }, 'text', 'Yes'],
  ['a button without words', { buttonsResponseMessage: { selectedButtonId: 'yes' } }, 'text', 'yes'],
  ['a button of a template', { templateButtonReplyMessage: { selectedDisplayText: 'Go' } }, 'text', 'Go'],
  ['a choice', { listResponseMessage: { title: 'Blue', singleSelectReply: { selectedRowId: '2' } } }, 'text', 'Blue'],
  ['a choice by id', { listResponseMessage: { singleSelectReply: { selectedRowId: '2' } } }, 'text', '2'],
  ['a form', { interactiveResponseMessage: { body: { text: 'Sent' } } }, 'text', 'Sent'],
  ['an order', { orderMessage: { orderTitle: 'Two shirts', itemCount: 2 } }, 'text', 'Two shirts'],
  ['a disappearing text', { ephemeralMessage: { message: { extendedTextMessage: { text: 'psst' } } } }, 'text', 'psst'],
  ['an image to see once', { viewOnceMessageV2: { message: { imageMessage: { caption: 'x' } } } }, 'image', 'x'],
  ['wrapped twice', { ephemeralMessage: { message: withCaption } }, 'document', 'c'],
  ['a poll', { pollCreationMessageV3: { name: 'Lunch?', options } }, 'text', '📊 Lunch?\n• Yes\n• No'],
  ['a poll without a question', { pollCreationMessage: { options: [{ optionName: 'Yes' }] } }, 'system', unshown],
  ['a kind that is too new', { eventInviteMessage: {} }, 'system', `${unshown}: event_invite`],
  ['a kind that nobody knows', { 'x y': 1 }, 'system', unshown],
  ['text without words', { extendedTextMessage: {} }, 'system', unshown],
]

const call = (fields: object) => ({ message: { callLogMesssage: fields } })
const calls: [what: string, item: object, said: string][] = [
  ['rang out', { messageStubType: 40 }, 'Missed call'],
  ['with video rang out', { messageStubType: 'CALL_MISSED_VIDEO' }, 'Missed video call'],
  ['was answered', call({ callOutcome: 'CONNECTED', durationSecs: 125 }), 'Call (2:05)'],
  ['with video was answered', call({ isVideo: true, callOutcome: 0, durationSecs: '3609' }), 'Video call (1:00:09)'],
  ['was declined', call({ callOutcome: 3 }), 'Declined call'],
  ['was silenced', call({ callOutcome: 'SILENCED_BY_DND', durationSecs: 0 }), 'Missed call'],
]

test('a call is a system message and opens no window', () => {
  for (const [what, item, said] of calls) {
    const event = written({ ...socketMessage(undefined), ...item })
    assert.deepEqual([event.kind, event.text, event.opensWindow], ['system', said, false], what)
  }
})

test('a message of every kind is parsed and opens the window', () => {
  for (const [what, message, kind, said] of contents) {
    const event = written(socketMessage(message))
    assert.deepEqual([event.kind, event.text, event.opensWindow], [kind, said, true], what)
  }
})

const passedOver: [what: string, message: unknown, reason: RegExp][] = [
  ['a withdrawal of nothing', socketMessage({ protocolMessage: { type: 0, key: {} } }), /unsupported change/],
  ['a setting', socketMessage({ protocolMessage: { type: 3, key: { id: 'x' } } }), /unsupported change/],
  ['an edit without words', socketMessage({ protocolMessage: { type: 14, key: { id: 'x' } } }), /without content/],
  [
    'an edit',
    socketMessage({ editedMessage: { message: { protocolMessage: { editedMessage: text } } } }),
    /unsupported change/,
  ],
  ['a lifted reaction', socketMessage({ reactionMessage: { text: '' } }), /unsupported change/],
  ['a call that rings', socketMessage({ call: { callKey: 'eA==' } }), /unsupported change/],
  ['a vote', socketMessage({ pollUpdateMessage: {} }), /unsupported change/],
  ['the head of an album', socketMessage({ albumMessage: { expectedImageCount: 2 } }), /unsupported change/],
  ['what is not decrypted', socketMessage(undefined, { messageStubType: 2 }), /not decrypted/],
  ['a notice without content', socketMessage(null, { messageStubType: 38 }), /not decrypted/],
  ['keys alone', socketMessage({ senderKeyDistributionMessage: {} }), /not decrypted/],
  ['a group', socketMessage(text, {}, { remoteJid: '1203630469@g.us', participant: customerJid }), /two people/],
  ['a story', socketMessage(text, {}, { remoteJid: 'status@broadcast', participant: customerJid }), /two people/],
  ['a broadcast', socketMessage(text, {}, { remoteJid: '17000@broadcast' }), /two people/],
  ['a channel', socketMessage(text, {}, { remoteJid: '17000111@newsletter' }), /two people/],
  ['a number hosted elsewhere', socketMessage(text, {}, { remoteJid: '5511987650001@hosted' }), /two people/],
  ['a notice of the network', socketMessage(text, {}, { remoteJid: '0@s.whatsapp.net' }), /two people/],
  ['what has no id', socketMessage(text, {}, { id: undefined }), /without an id/],
  ['wrappers without an end', socketMessage(nested(40)), /not decrypted/],
]

function nested(depth: number): unknown {
  return depth === 0 ? text : { ephemeralMessage: { message: nested(depth - 1) } }
}

test('items without an event are skipped with a reason', () => {
  for (const [what, message, reason] of passedOver) {
    const read = readOne(message)
    assert.equal(read.count, 1, what)
    assert.match(read.reason ?? '', reason, what)
  }
})

test('an invalid item does not affect others', () => {
  const { events, skipped } = parseEvent(upsert(socketMessage(null), 'x', socketMessage(text)), now)
  assert.deepEqual([events.length, skipped.length], [1, 2])
})

test('a message that could not be decrypted is stored when it arrives again with its id', () => {
  const key = { id: '3A0COMES0LATER' }
  assert.equal(readOne(socketMessage(undefined, { messageStubType: 2 }, key)).event, undefined)
  assert.equal(written(socketMessage(text, {}, key)).externalId, '3A0COMES0LATER')
})

test("a message from the phone is an echo to the customer, without the author's name", () => {
  const { event } = readOne(socketMessage(text, { pushName: 'The shop', status: 2 }, { fromMe: true }))
  assert.ok(event?.type === 'echo')
  assert.deepEqual(event.customer, { userId: null, parentUserId: null, phone: customerDigits, name: null })
})

const long = { low: at, high: 0, unsigned: true }
const times: [what: string, value: unknown, at: Date][] = [
  ['a number', at, new Date(at * 1000)],
  ['text', String(at), new Date(at * 1000)],
  ['two halves', long, new Date(at * 1000)],
  ['two halves of which the lower is negative, a time to come', { low: -2_000_000_000, high: 0 }, now],
  ['two halves beyond all times', { low: 0, high: 2 ** 31 }, now],
  ['nothing', undefined, now],
  ['nonsense', { low: 'x' }, now],
]

test('the time of a message is parsed in every form', () => {
  for (const [what, value, moment] of times) {
    assert.deepEqual(written(socketMessage(text, { messageTimestamp: value })).at, moment, what)
  }
})

const people: [what: string, key: Record<string, unknown>, userId: string | null, phone: string | null][] = [
  ['by phone', {}, null, customerDigits],
  ['by phone, on one of several devices', { remoteJid: `${customerDigits}:12@s.whatsapp.net` }, null, customerDigits],
  ['by an old address', { remoteJid: `${customerDigits}@c.us` }, null, customerDigits],
  ['hidden', { remoteJid: customerLid }, customerLid, null],
  ['hidden, on one of several devices', { remoteJid: '70011223344556:3@lid' }, customerLid, null],
  ['hidden, with the phone', { remoteJid: customerLid, remoteJidAlt: customerJid }, customerLid, customerDigits],
  ['by phone, with the hidden one', { remoteJidAlt: customerLid }, customerLid, customerDigits],
  ['hidden, with nonsense', { remoteJid: customerLid, remoteJidAlt: 7 }, customerLid, null],
]

test('a customer is identified by every form of address', () => {
  for (const [what, key, userId, phone] of people) {
    const { customer } = written(socketMessage(text, {}, key))
    assert.deepEqual(customer, { userId, parentUserId: null, phone, name: 'Ana' }, what)
  }
})

test('a referral has every field, null if absent', () => {
  const said = { title: 'Spring', sourceType: 'ad', sourceId: '120', sourceUrl: 'https://x.test', ctwaClid: 'c1' }
  const ad = { ctwa_clid: 'c1', source_id: '120', source_type: 'ad', source_url: 'https://x.test', headline: 'Spring' }
  const content = { extendedTextMessage: { text: 'Hi', contextInfo: { externalAdReply: said } } }
  assert.deepEqual(written(socketMessage(content)).referral, ad)
  assert.deepEqual(written(socketMessage({ ephemeralMessage: { message: content } })).referral, ad)
  const post = { sourceType: 'post', sourceId: 7 }
  const { referral } = written(socketMessage({ imageMessage: { contextInfo: { externalAdReply: post } } }))
  const none = { ctwa_clid: null, source_url: null, headline: null }
  assert.deepEqual(referral, { ...none, source_id: '7', source_type: 'post' })
})

test('a link preview is not a referral', () => {
  const contextInfo = { externalAdReply: { title: 'A page', sourceUrl: 'https://x.test' } }
  assert.equal(written(socketMessage({ extendedTextMessage: { text: 'x', contextInfo } })).referral, null)
})

test("a device's own message is ignored until the network acknowledges it", () => {
  const ours = (status: number) => readOne(socketMessage(text, { status }, { fromMe: true }))
  assert.equal(ours(1).event, undefined)
  assert.equal(ours(1).reason, 'message not sent yet')
  assert.equal(ours(2).event?.type, 'echo')
})
