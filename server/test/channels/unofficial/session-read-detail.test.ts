import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChannelEvent } from '../../../src/channels/channel-event.ts'
import { parseEvent } from '../../../src/channels/unofficial/parse/parse-event.ts'
import { at, customerDigits, socketMessage, statusUpdate, upsert } from '../../support/channels/session-events.ts'
import { declaredPicture } from '../../support/inbox/declared-files.ts'

const now = new Date('2026-11-01T00:00:00.000Z')

function only(message: unknown): ChannelEvent {
  const { events, skipped } = parseEvent(upsert(message), now)
  assert.deepEqual([events.length, skipped], [1, []])
  const [event] = events
  assert.ok(event)
  return event
}

function detailOf(content: unknown): unknown {
  const event = only(socketMessage(content))
  return 'detail' in event ? event.detail : undefined
}

const key = Buffer.alloc(32, 5)
const hash = Buffer.alloc(32, 7)
const told = {
  mediaKey: key,
  directPath: '/v/x',
  url: 'https://mmg.test/x',
  fileEncSha256: hash,
  fileSha256: hash,
  fileLength: { low: 4000, high: 0, unsigned: true },
  jpegThumbnail: Buffer.from('tiny'),
}
const media = (type: string, fields: object) => ({
  media: {
    ...declaredPicture,
    mimeType: null,
    source: {
      by: 'linked',
      type,
      url: 'https://mmg.test/x',
      directPath: '/v/x',
      mediaKey: key.toString('base64'),
      fileEncSha256: hash.toString('base64'),
    },
    sha256: hash.toString('base64'),
    size: 4000,
    thumbnail: Buffer.from('tiny').toString('base64'),
    ...fields,
  },
})

const picture = { ...told, mimetype: 'image/jpeg', width: 640, height: 480 }
const shown = media('image', { kind: 'image', mimeType: 'image/jpeg', width: 640, height: 480 })
const changed = (fields: object) => ({ imageMessage: { ...picture, ...fields } })
const bytesAsJson = { type: 'Buffer', data: hash.toString('base64') }
const inBase64 = changed({ mediaKey: key.toString('base64'), fileSha256: bytesAsJson, fileLength: '4000' })
const sound = { ...told, ptt: true, seconds: 9, mimetype: 'audio/ogg; codecs=opus' }
const heard = { kind: 'voice', seconds: 9, waveform: [0, 50, 100], mimeType: 'audio/ogg' }
const vcard = [
  'BEGIN:VCARD',
  'VERSION:3.0',
  'FN:Bea\\, Sol',
  'ORG:Sol;;',
  'item1.TEL;type=CELL;waid=551198765:+55 11 98765',
  'TEL:12 34',
  'EMAIL:bea@sol.test',
  'no field',
  'END:VCARD',
].join('\r\n')
const phones = [
  { phone: '551198765', label: 'cell' },
  { phone: '12 34', label: null },
]
const bea = { name: 'Bea, Sol', organisation: 'Sol', phones, emails: ['bea@sol.test'] }
const none = { organisation: null, phones: [], emails: [] }
const answer = (quotedMessage: unknown) => ({
  extendedTextMessage: { text: 'Yes', contextInfo: { stanzaId: '3AQ', quotedMessage } },
})

const quoted = (text: string | null) => ({ quoted: { externalId: '3AQ', text } })
const moving = { degreesLatitude: 1.5, degreesLongitude: -2, caption: 'On my way' }
const forwarded = { text: 'x', contextInfo: { isForwarded: true } }
const details: [what: string, content: unknown, detail: unknown][] = [
  ['words alone', { conversation: 'Hi' }, undefined],
  ['a picture', changed({}), shown],
  ['a picture as JSON makes of it', { imageMessage: JSON.parse(JSON.stringify(picture)) }, shown],
  ['a picture in base64', inBase64, shown],
  ['a picture without its key', changed({ mediaKey: undefined }), undefined],
  ['a picture with too long a key', changed({ mediaKey: Buffer.alloc(65) }), undefined],
  [
    'a picture with too large a preview',
    changed({ jpegThumbnail: Buffer.alloc(6_145) }),
    { media: { ...shown.media, thumbnail: null } },
  ],
  ['a voice note', { audioMessage: { ...sound, waveform: Buffer.from([0, 50, 255]) } }, media('audio', heard)],
  ['a round video', { ptvMessage: told }, media('video', { kind: 'video' })],
  [
    'a film that plays by itself',
    { videoMessage: { ...told, gifPlayback: true } },
    media('video', { kind: 'video', isAnimated: true }),
  ],
  [
    'a document',
    { documentMessage: { ...told, fileName: 'a.pdf' } },
    media('document', { kind: 'document', name: 'a.pdf' }),
  ],
  [
    'a sticker',
    { stickerMessage: { ...told, isAnimated: true } },
    media('sticker', { kind: 'sticker', isAnimated: true }),
  ],
  [
    'a moving place',
    { liveLocationMessage: moving },
    { place: { latitude: 1.5, longitude: -2, name: 'On my way', address: null, isLive: true } },
  ],
  ['a contact', { contactMessage: { vcard } }, { cards: [bea] }],
  [
    'contacts',
    { contactsArrayMessage: { contacts: [{ displayName: 'A' }, { displayName: 'B', vcard }, 7] } },
    {
      cards: [
        { ...none, name: 'A' },
        { ...bea, name: 'B' },
        { ...none, name: '' },
      ],
    },
  ],
  ['an answer', answer({ conversation: 'Coming?' }), quoted('Coming?')],
  ['an answer to a picture', answer({ imageMessage: { caption: 'Look' } }), quoted('Look')],
  ['an answer to what is not told', answer(undefined), quoted(null)],
  [
    'an answer to many words',
    answer({ ephemeralMessage: { message: { conversation: 'a'.repeat(3000) } } }),
    quoted('a'.repeat(1000)),
  ],
  ['words passed on', { extendedTextMessage: forwarded }, { isForwarded: true }],
  [
    'a reaction',
    { reactionMessage: { key: { id: '3AR' }, text: '👍' } },
    { reaction: { externalId: '3AR', emoji: '👍' } },
  ],
]

test('content beyond the text is parsed', () => {
  for (const [what, content, expected] of details) assert.deepEqual(detailOf(content), expected, what)
})

const edit = { type: 14, key: { id: 'x' }, editedMessage: { conversation: 'Anew' } }
const revisions: [what: string, content: unknown, told: Record<string, unknown>][] = [
  ['an edit', { editedMessage: { message: { protocolMessage: edit } } }, { type: 'edited', text: 'Anew' }],
  [
    'an edit with a time of its own',
    { protocolMessage: { ...edit, timestampMs: at * 1000 + 250 } },
    { type: 'edited', text: 'Anew', at: new Date(at * 1000 + 250) },
  ],
  ['a withdrawal', { protocolMessage: { type: 0, key: { id: 'x' } } }, { type: 'withdrawn' }],
  ['a lifted reaction', { reactionMessage: { key: { id: 'x' }, text: '' } }, { type: 'reaction_lifted' }],
]

for (const [what, content, expected] of revisions) {
  test(`${what} refers to its message, from the customer and from the phone`, () => {
    const who = { userId: null, parentUserId: null, phone: customerDigits }
    const shared = { originalId: 'x', at: new Date(at * 1000), ...expected }
    assert.deepEqual(only(socketMessage(content)), {
      ...shared,
      direction: 'inbound',
      customer: { ...who, name: 'Ana' },
    })
    const own = socketMessage(content, { status: 2 }, { fromMe: true })
    assert.deepEqual(only(own), { ...shared, direction: 'outbound', customer: { ...who, name: null } })
  })
}

const updates: [what: string, update: Record<string, unknown>, told: Record<string, unknown>][] = [
  ['an edit', { message: { editedMessage: { message: { conversation: 'Anew' } } } }, { type: 'edited', text: 'Anew' }],
  ['a withdrawal', { message: null, messageStubType: 1, key: { id: 'y' } }, { type: 'withdrawn' }],
]

for (const [what, update, expected] of updates) {
  test(`${what} among the statuses refers to its message`, () => {
    const customer = { userId: null, parentUserId: null, phone: customerDigits, name: null }
    for (const [fromMe, direction] of [
      [false, 'inbound'],
      [true, 'outbound'],
    ] as const) {
      const { events } = parseEvent(statusUpdate(undefined, update, { id: 'x', fromMe }), now)
      assert.deepEqual(events, [{ originalId: 'x', direction, customer, at: new Date(at * 1000), ...expected }])
    }
  })
}
