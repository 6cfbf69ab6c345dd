import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withReactions } from '../../src/data/inbox/thread-rules.ts'
import type { GalleryItem, Media, Message, Reaction, TimelineItem } from '../../src/data/inbox/types.ts'
import { albumOf, mediaViewOf, placeholderAddress, sizeInBubble } from '../../src/inbox/media/media-rules.ts'
import { clampView, initialView, pinchView, swipeOf, zoomAt } from '../../src/inbox/media/zoom.ts'
import { blocksOf } from '../../src/inbox/thread/blocks.ts'

const media = (changes: Partial<Media> = {}): Media => ({
  id: 'm',
  kind: 'image',
  state: 'here',
  failure: null,
  name: null,
  type: 'image/jpeg',
  bytes: 1000,
  width: 800,
  height: 600,
  seconds: null,
  waveform: null,
  placeholder: null,
  hasPreview: true,
  isInline: true,
  isAnimated: false,
  ...changes,
})

test('an image has its size before it has loaded, at most that of a bubble, and large enough to click', () => {
  const cases: [Partial<Media>, string][] = [
    [{}, '320x240'],
    [{ width: 600, height: 800 }, '270x360'],
    [{ width: 200, height: 150 }, '200x150'],
    [{ width: 4000, height: 100 }, '320x90'],
    [{ width: 10, height: 10 }, '140x90'],
    [{ width: 1, height: 1_000_000 }, '140x360'],
    [{ width: null }, '240x180'],
    [{ kind: 'sticker' }, '160x160'],
  ]
  for (const [changes, expected] of cases) {
    const { width, height } = sizeInBubble(media(changes))
    assert.equal(`${width}x${height}`, expected, JSON.stringify(changes))
  }
})

test('how a file is shown follows from its type and from what the browser can play', () => {
  const plays = (type: string) => type === 'audio/ogg'
  const cases: [Partial<Media>, string][] = [
    [{}, 'picture'],
    [{ kind: 'document', type: 'image/png' }, 'picture'],
    [{ type: 'image/svg+xml', isInline: false }, 'file'],
    [{ kind: 'video', type: 'video/mp4' }, 'video'],
    [{ kind: 'voice', type: 'audio/ogg' }, 'sound'],
    [{ kind: 'voice', type: 'audio/amr' }, 'file'],
    [{ kind: 'audio', type: 'video/mp4' }, 'file'],
    [{ kind: 'image', type: 'application/pdf' }, 'file'],
    [{ kind: 'image', type: null }, 'file'],
  ]
  for (const [changes, expected] of cases) {
    assert.equal(mediaViewOf(media(changes), plays), expected, JSON.stringify(changes))
  }
})

test('a placeholder is a base64 image or null', () => {
  assert.match(placeholderAddress(`/9j/${'A'.repeat(20)}==`) ?? '', /^data:image\/jpeg;base64,/)
  assert.match(placeholderAddress(`UklGR${'A'.repeat(20)}`) ?? '', /^data:image\/webp;base64,/)
  for (const bad of [null, '', 'PHN2Zy', `PHN2Zy${'A'.repeat(20)}`, '/9j/"><script>alert(1)</script>']) {
    assert.equal(placeholderAddress(bad), null)
  }
})

const box = { frame: { width: 400, height: 400 }, picture: { width: 400, height: 200 } }

test('an image zooms around the point, and stays within its frame', () => {
  assert.deepEqual(zoomAt(initialView, 2, { x: 100, y: 0 }), { scale: 2, x: -100, y: 0 })
  assert.deepEqual(zoomAt({ scale: 2, x: -100, y: 0 }, 0.5, { x: 0, y: 0 }), initialView)
  assert.equal(zoomAt(initialView, 100, { x: 0, y: 0 }).scale, 8)
  assert.deepEqual(clampView({ scale: 2, x: -900, y: 50 }, box), { scale: 2, x: -200, y: 0 })
  assert.deepEqual(clampView({ scale: 1, x: 30, y: 30 }, box), initialView)
  const fingers = (half: number) =>
    [
      { x: -half, y: 0 },
      { x: half, y: 0 },
    ] as const
  assert.deepEqual(pinchView(initialView, fingers(50), fingers(100)), { scale: 2, x: 0, y: 0 })
  assert.deepEqual(pinchView({ scale: 2, x: 5, y: 5 }, fingers(100), fingers(10)), initialView)
})

test('a swipe changes the image only if it is not zoomed', () => {
  const cases: [number, number, number, number][] = [
    [1, -100, 0, 1],
    [1, 100, 10, -1],
    [1, -30, 0, 0],
    [1, -100, 80, 0],
    [2, -100, 0, 0],
  ]
  for (const [scale, x, y, expected] of cases) assert.equal(swipeOf({ scale, x: 0, y: 0 }, { x, y }), expected)
})

const at = (n: number) => new Date(Date.UTC(2026, 7, 3, 12, n)).toISOString()

function said(id: string, n: number, changes: Partial<Message> = {}): TimelineItem {
  const message = { id, direction: 'inbound', occurredAt: at(n), media: null, reaction: null, reactions: [] }
  const rest = { withdrawnAt: null, ...changes }
  return { type: 'message', id, at: at(n), message: { ...message, ...rest } as unknown as Message }
}

test('the album contains items of thread and gallery once, in order of time, without those that cannot be shown', () => {
  const inGallery = (id: string, n: number, file: Partial<Media> = {}): GalleryItem => ({
    messageId: id,
    at: at(n),
    direction: 'inbound',
    media: media(file),
  })
  const album = albumOf(
    [
      said('c', 3, { media: media() }),
      said('d', 4),
      said('e', 5, { media: media({ state: 'coming' }) }),
      said('f', 6, { media: media({ kind: 'document' }) }),
      said('g', 7, { media: media(), withdrawnAt: at(8) }),
      said('h', 8, { media: media({ kind: 'video', type: 'video/mp4' }) }),
    ],
    [inGallery('c', 3), inGallery('a', 1), inGallery('b', 2, { isInline: false })],
  )
  assert.equal(album.map(({ messageId }) => messageId).join(''), 'ach')
})

test('a later reaction is applied to its message: one per side, the newest, until removed', () => {
  const reacts = (id: string, n: number, emoji: string, direction: Reaction['direction'] = 'inbound') =>
    said(id, n, { direction, reaction: { messageId: 'a', emoji } })
  const shown = (known: Reaction[], ...rows: TimelineItem[]) =>
    withReactions([said('a', 0, { reactions: known }), said('b', 1)], rows)[0]?.message?.reactions.map(
      ({ emoji, direction }) => `${emoji}${direction === 'inbound' ? '<' : '>'}`,
    )
  const known: Reaction[] = [{ id: 'r', emoji: '👍', direction: 'inbound', at: at(5) }]
  assert.deepEqual(shown([], reacts('x', 2, '👍')), ['👍<'])
  assert.deepEqual(shown(known, reacts('x', 6, '😂')), ['😂<'])
  assert.deepEqual(shown(known, reacts('x', 4, '😂')), ['👍<'], 'older than what is known')
  assert.deepEqual(shown(known, reacts('x', 6, '')), [])
  assert.deepEqual(shown(known, reacts('x', 6, '😂', 'outbound')), ['👍<', '😂>'])
  assert.deepEqual(shown(known, reacts('r', 5, '👍')), ['👍<'])
  const items = [said('a', 0), said('b', 1)]
  assert.equal(withReactions(items, [said('c', 2)]), items)
  assert.equal(withReactions(items, [reacts('x', 2, '👍')])[1], items[1])
})

test('a reaction is not a message of its own; without its message it is a line; unread starts at a visible item', () => {
  const author = { type: 'customer', id: null, name: null } as const
  const reacts = (id: string, n: number, messageId: string | null, emoji = '👍') =>
    said(id, n, { author, reaction: { messageId, emoji } })
  const items = [
    said('a', 0, { author }),
    reacts('b', 1, 'a'),
    said('c', 2, { author }),
    reacts('d', 3, null),
    reacts('e', 4, null, ''),
  ]
  const drawn = (unreadId: string | null) =>
    blocksOf(items, [], unreadId, (moment) => moment.slice(0, 10)).map((block) =>
      block.type === 'group' ? block.messages.map(({ id }) => id).join('') : block.type,
    )
  assert.deepEqual(drawn(null), ['day', 'ac', 'reaction'])
  assert.deepEqual(drawn('b'), ['day', 'a', 'unread', 'c', 'reaction'])
})
