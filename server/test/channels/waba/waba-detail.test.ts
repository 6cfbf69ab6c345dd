import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChannelEvent } from '../../../src/channels/channel-event.ts'
import {
  at,
  callback,
  customerPhone,
  message,
  messages,
  ownPhone,
  parsed,
  text,
} from '../../support/channels/waba-payloads.ts'
import { pictureTold } from '../../support/inbox/files-told.ts'

function only(body: unknown): ChannelEvent {
  const { items, skipped } = parsed(body)
  assert.deepEqual([items.length, skipped], [1, []])
  return items[0]?.event ?? assert.fail()
}

const detailOf = (event: ChannelEvent): unknown => ('detail' in event ? event.detail : undefined)

const sha256 = Buffer.alloc(32, 7).toString('base64')
const by = (id: string) => ({ source: { by: 'id', id } })
const media = (fields: object) => ({ media: { ...pictureTold, mimeType: null, ...fields } })
const nobody = { name: '', organisation: null, phones: [], emails: [] }

const details: [what: string, item: Record<string, unknown>, detail: unknown][] = [
  ['words alone', text('Hi'), undefined],
  [
    'a picture',
    message('image', { id: '71', mime_type: 'image/jpeg', sha256, caption: 'x', file_size: 4000 }),
    media({ ...by('71'), mimeType: 'image/jpeg', sha256, size: 4000 }),
  ],
  ['a picture without an id', message('image', { mime_type: 'image/jpeg' }), undefined],
  ['odd values', message('image', { id: 71, mime_type: '<b>', sha256: 'x', file_size: -1 }), media(by('71'))],
  [
    'a voice note',
    message('audio', { id: 'v', mime_type: 'audio/ogg; codecs=opus', voice: true }),
    media({ kind: 'voice', ...by('v'), mimeType: 'audio/ogg' }),
  ],
  ['a voice note of old', message('voice', { id: 'v' }), media({ kind: 'voice', ...by('v') })],
  ['an audio file', message('audio', { id: 'a', voice: false }), media({ kind: 'audio', ...by('a') })],
  [
    'a video',
    message('video', { id: 'f', mime_type: 'Video/MP4' }),
    media({ kind: 'video', ...by('f'), mimeType: 'video/mp4' }),
  ],
  [
    'a moving sticker',
    message('sticker', { id: 's', animated: true }),
    media({ kind: 'sticker', ...by('s'), isAnimated: true }),
  ],
  [
    'a document that was passed on',
    message('document', { id: 'd', filename: `${'n'.repeat(300)}.pdf` }, { context: { forwarded: true } }),
    { ...media({ kind: 'document', ...by('d'), name: 'n'.repeat(255) }), isForwarded: true },
  ],
  ['words passed on often', text('Hi', { context: { frequently_forwarded: true } }), { isForwarded: true }],
  [
    'an answer',
    text('Yes', { context: { id: 'wamid.Q', from: ownPhone } }),
    { quoted: { externalId: 'wamid.Q', text: null } },
  ],
  ['an answer to a product', text('This', { context: { referred_product: { catalog_id: '1' } } }), undefined],
  [
    'a place',
    message('location', { latitude: -23.5, longitude: -46.6, name: 'Shop', address: 'a'.repeat(1200) }),
    { place: { latitude: -23.5, longitude: -46.6, name: 'Shop', address: 'a'.repeat(1000), isLive: false } },
  ],
  ['a place off the earth', message('location', { latitude: 91, longitude: 0, name: 'x' }), undefined],
  [
    'a contact card',
    message('contacts', [
      {
        name: { formatted_name: 'Bea Sol' },
        org: { company: 'Sol' },
        phones: [{ phone: '+55 11 98765', wa_id: '551198765', type: 'CELL' }, { phone: '+1 (555) 010' }, { phone: '' }],
        emails: [{ email: 'bea@sol.test' }, {}],
      },
    ]),
    {
      cards: [
        {
          name: 'Bea Sol',
          organisation: 'Sol',
          phones: [
            { phone: '551198765', label: 'CELL' },
            { phone: '+1 (555) 010', label: null },
          ],
          emails: ['bea@sol.test'],
        },
      ],
    },
  ],
  [
    'thirty cards',
    message(
      'contacts',
      Array.from({ length: 30 }, () => ({
        name: { first_name: 'A', last_name: 'B' },
        phones: Array(30).fill({ phone: '1' }),
      })),
    ),
    { cards: Array(20).fill({ ...nobody, name: 'A B', phones: Array(10).fill({ phone: '1', label: null }) }) },
  ],
  [
    'a reaction',
    message('reaction', { message_id: 'wamid.R', emoji: '👍' }),
    { reaction: { externalId: 'wamid.R', emoji: '👍' } },
  ],
]

test('what is beside the words is read', () => {
  for (const [what, item, expected] of details) assert.deepEqual(detailOf(only(messages(item))), expected, what)
})

test('echoes and histories carry the same', () => {
  const item = message('image', { id: '71' }, { to: customerPhone, from: ownPhone })
  const threads = [{ id: customerPhone, messages: [item] }]
  for (const body of [
    callback('smb_message_echoes', { message_echoes: [item] }),
    callback('history', { history: [{ threads }] }),
  ]) {
    assert.deepEqual(detailOf(only(body)), media(by('71')))
  }
})

const words = { type: 'text', text: { body: 'Anew' } }
const revisions: [what: string, item: Record<string, unknown>, told: Record<string, unknown>][] = [
  ['an edit', message('edit', { original_message_id: 'x', message: words }), { type: 'edited', text: 'Anew' }],
  [
    'an edit of a caption',
    message('edit', { original_message_id: 'x', message: { type: 'image', image: { id: '1', caption: 'Anew' } } }),
    { type: 'edited', text: 'Anew' },
  ],
  [
    'an edit of far too many words',
    message('edit', { original_message_id: 'x', message: { type: 'text', text: { body: 'a'.repeat(70_000) } } }),
    { type: 'edited', text: 'a'.repeat(65_536) },
  ],
  ['a withdrawal', message('revoke', { original_message_id: 'x' }), { type: 'withdrawn' }],
  ['a lifted reaction', message('reaction', { message_id: 'x' }), { type: 'reaction_lifted' }],
  ['a reaction lifted by emptiness', message('reaction', { message_id: 'x', emoji: '' }), { type: 'reaction_lifted' }],
]

for (const [what, item, told] of revisions) {
  test(`${what} is told of the message that it is about, by the customer and on the phone`, () => {
    const customer = { userId: null, parentUserId: null, phone: customerPhone, name: 'Ana' }
    const shared = { originalId: 'x', customer, at: new Date(at * 1000), ...told }
    assert.deepEqual(only(messages(item)), { ...shared, direction: 'inbound' })
    const echo = { ...item, from: ownPhone, to: customerPhone }
    const body = callback('smb_message_echoes', { message_echoes: [echo] })
    assert.deepEqual(only(body), { ...shared, direction: 'outbound' })
  })
}
