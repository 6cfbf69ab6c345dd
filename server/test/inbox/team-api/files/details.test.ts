import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChannelEvent } from '../../../../src/channels/channel-event.ts'
import { type FilesWorld, filesWorld, png } from '../../../support/inbox/files-world.ts'
import { customerMessage, marina } from '../../../support/inbox/inbox-world.ts'

// biome-ignore lint/suspicious/noExplicitAny: as in Answer
type Shown = any

async function says(w: FilesWorld, fields: Partial<Extract<ChannelEvent, { type: 'message' }>>) {
  w.clock.advance(1000)
  await w.deliver(customerMessage({ at: w.clock.now(), ...fields }))
}

/** Returns the messages after checking that list and timeline of the team API agree. */
async function shown(w: FilesWorld): Promise<Shown[]> {
  const [{ id }] = await w.conversations()
  const path = `/inbox/conversations/${id}`
  const { body: timeline } = await w.member.call('GET', `${path}/timeline`)
  const { body: list } = await w.member.call('GET', `${path}/messages`)
  const messages = timeline.items.flatMap(({ message }: Shown) => (message === undefined ? [] : [message]))
  assert.deepEqual(list.messages, messages)
  return messages
}

const reaction = (w: FilesWorld, about: string, emoji: string, more = {}) =>
  says(w, { text: emoji, detail: { reaction: { externalId: about, emoji } }, ...more })

test('a file is shown with all known details, before and after its download', async () => {
  const w = await filesWorld()
  await w.coming({ name: '../\u202ea.jpg', mimeType: 'image/jpeg', size: 99, width: 640, height: 0 })
  await w.here(png, { kind: 'image', name: 'b.png', preview: png, thumbnail: 'AAAA' })
  await w.here(Buffer.from('<svg></svg>'), { kind: 'document', mimeType: 'image/svg+xml', name: 'c.svg' })
  const nothing = { failure: null, seconds: null, waveform: null, placeholder: null, isAnimated: false }
  const medias = (await shown(w)).map(({ media }) => media)
  assert.deepEqual(
    medias.map(({ id: _, ...media }) => media),
    [
      {
        ...nothing,
        ...{ kind: 'image', state: 'coming', name: 'a.jpg', type: 'image/jpeg', bytes: 99, width: 640, height: null },
        ...{ hasPreview: false, isInline: false },
      },
      {
        ...nothing,
        ...{ kind: 'image', state: 'here', name: 'b.png', type: 'image/png', bytes: png.length, width: null },
        ...{ height: null, placeholder: 'AAAA', hasPreview: true, isInline: true },
      },
      {
        ...nothing,
        ...{ kind: 'document', state: 'here', name: 'c.svg', type: 'image/svg+xml', bytes: 11, width: null },
        ...{ height: null, hasPreview: false, isInline: false },
      },
    ],
  )
})

test('a quote refers to its message with the current text, on the page or not', async () => {
  const w = await filesWorld()
  await says(w, { externalId: 'wamid.a', text: 'a'.repeat(400) })
  for (let n = 0; n < 60; n++) await says(w, { text: `${n}` })
  const quoted = { externalId: 'wamid.a', text: 'as the platform quotes it' }
  await says(w, { externalId: 'wamid.b', text: 'That one', detail: { quoted } })
  await says(w, { text: 'And this', detail: { quoted: { externalId: 'wamid.b', text: null } } })
  await says(w, { text: 'And that', detail: { quoted: { externalId: 'wamid.unknown', text: 'what it said' } } })
  const messages = await shown(w)
  const [far, near, unknown] = messages.slice(-3)
  assert.deepEqual(far.quoted, { ...far.quoted, direction: 'inbound', text: 'a'.repeat(300), mediaKind: null })
  assert.notEqual(far.quoted.messageId, null)
  assert.deepEqual(near.quoted, { messageId: far.id, direction: 'inbound', text: 'That one', mediaKind: null })
  assert.deepEqual(unknown.quoted, { messageId: null, direction: null, text: 'what it said', mediaKind: null })
})

test('a quote shows nothing of another customer’s conversation', async () => {
  const w = await filesWorld()
  const other = { ...marina, phone: '5511900000001', name: 'Other' }
  await says(w, { externalId: 'wamid.other', text: 'A secret', customer: other })
  await says(w, { text: 'What?', detail: { quoted: { externalId: 'wamid.other', text: null } } })
  const [message] = await shown(w)
  assert.deepEqual(message.quoted, { messageId: null, direction: null, text: null, mediaKind: null })
})

test('a message shows its newest reaction per side until it is removed', async () => {
  const w = await filesWorld()
  await says(w, { externalId: 'wamid.1', text: 'Hello' })
  await reaction(w, 'wamid.1', '👍', { externalId: 'wamid.r1' })
  await reaction(w, 'wamid.1', '❤️', { externalId: 'wamid.r2' })
  w.clock.advance(1000)
  const echo = { type: 'echo', externalId: 'wamid.r3', customer: marina, kind: 'text', text: '🙏' } as const
  await w.deliver({ ...echo, at: w.clock.now(), detail: { reaction: { externalId: 'wamid.1', emoji: '🙏' } } })
  const [message, first, second, ours] = await shown(w)
  const stands = ({ id, occurredAt: at, direction }: Shown, emoji: string) => ({ id, emoji, direction, at })
  assert.deepEqual(message.reactions, [stands(second, '❤️'), stands(ours, '🙏')])
  assert.deepEqual([message.reaction, first.reaction], [null, { messageId: message.id, emoji: '👍' }])
  w.clock.advance(2000)
  const lifted = { type: 'reaction_lifted', originalId: 'wamid.1', direction: 'inbound', customer: marina } as const
  await w.deliver({ ...lifted, at: w.clock.now() })
  const [after] = await shown(w)
  assert.deepEqual(after.reactions, [stands(ours, '🙏')])
  await reaction(w, 'wamid.1', '👀')
  const [again] = await shown(w)
  assert.deepEqual(
    again.reactions.map(({ emoji }: Shown) => emoji),
    ['👀', '🙏'],
  )
})

test('a reaction to our message is shown on it, even to a part of a longer one', async () => {
  const w = await filesWorld()
  await says(w, { text: 'Hello' })
  w.clock.advance(1000)
  const echo = { type: 'echo', externalId: 'wamid.e', customer: marina, kind: 'text', text: 'Hi' } as const
  await w.deliver({ ...echo, at: w.clock.now() })
  await reaction(w, 'wamid.e', '👍')
  const [, ours, theirs] = await shown(w)
  assert.deepEqual([ours.reactions.length, theirs.reaction.messageId], [1, ours.id])
})

test('the gallery shows every file of a conversation once, newest first, by kind and page by page', async () => {
  const w = await filesWorld()
  const files = [
    await w.here(png),
    await w.coming({ kind: 'video' }),
    await w.here(png, { kind: 'document' }),
    await w.here(png),
    await w.here(png, { kind: 'sticker' }),
  ].reverse()
  const path = `/inbox/conversations/${files[0]?.conversationId}/media`
  const gallery = async (query = '') => {
    const { status, body } = await w.member.call('GET', `${path}?${query}`)
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }
  const all = await gallery()
  const idsOf = ({ items }: Shown) => items.map(({ messageId, media }: Shown) => `${messageId} ${media.id}`)
  const expected = files.map(({ messageId, mediaId }) => `${messageId} ${mediaId}`)
  assert.deepEqual([idsOf(all), all.next], [expected, null])
  assert.partialDeepStrictEqual(all.items[3], { direction: 'inbound', media: { kind: 'video', state: 'coming' } })
  assert.deepEqual(idsOf(await gallery('kinds=image,video')), [expected[1], expected[3], expected[4]])
  const pages: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Shown = await gallery(`limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)
    pages.push(...idsOf(page))
    cursor = page.next
  }
  assert.deepEqual(pages, expected)
  for (const query of ['kinds=image,program', 'cursor=nothing', 'limit=0', 'kinds=']) {
    assert.equal((await w.member.call('GET', `${path}?${query}`)).status, 400, query)
  }
  const other = await filesWorld()
  assert.equal((await other.member.call('GET', path)).status, 404)
})

test('a member can retry a failed download', async () => {
  const w = await filesWorld()
  const { mediaId } = await w.coming()
  await w.db.sql`
    update media set state = 'failed', failure = 'http_500', due_at = null where workspace_id = ${w.workspaceId}`
  const { status, body } = await w.member.call('POST', w.path(mediaId, '/retry'))
  assert.deepEqual([status, body], [200, { state: 'coming' }])
  const [message] = await shown(w)
  assert.deepEqual([message.media.state, message.media.failure], ['coming', null])
  const other = await filesWorld()
  assert.equal((await other.member.call('POST', other.path(mediaId, '/retry'))).status, 404)
})
