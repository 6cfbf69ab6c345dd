import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Inbox } from '../../src/data/inbox/inbox.ts'
import { appendPage, type ConversationList, matches, reuseRows, upsertRow } from '../../src/data/inbox/list-rules.ts'
import {
  addPending,
  currentSequence,
  listWithLiveChanges,
  recordConversation,
  withLiveChanges,
} from '../../src/data/inbox/live-changes.ts'
import { type OutboxEntry, ownMessageIds, pendingEntries } from '../../src/data/inbox/outbox-rules.ts'
import { type DeliveryStatus, isStatusAdvance } from '../../src/data/inbox/status-rules.ts'
import { mapMessages, mergeNewest, type Thread } from '../../src/data/inbox/thread-rules.ts'
import type { Conversation, Message, TimelineItem } from '../../src/data/inbox/types.ts'
import { filterOf, queryOf, readSearch, searchOf } from '../../src/inbox/list/filters.ts'
import { anchoredScrollTop } from '../../src/inbox/list/scroll-anchor.ts'
import { fileFailure } from '../../src/inbox/parts/file-failures.ts'
import { blocksOf, showsTicks } from '../../src/inbox/thread/blocks.ts'
import { parseLinks } from '../../src/shared/markup/link-rules.ts'
import { withTexts } from '../../src/text/index.ts'

await withTexts(async () => {})

const ana = '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'
const minute = (n: number) => new Date(Date.UTC(2026, 7, 3, 12, n)).toISOString()

function row(id: string, at: number, changes: Partial<Conversation> = {}): Conversation {
  const nobody = { owner: 'human', assignedTo: null, labelIds: [], unreadCount: 0, unansweredSince: null }
  const times = { lastMessageAt: minute(at), createdAt: minute(0), updatedAt: minute(at) }
  const place = { connectionId: 'c', status: 'open', contact: { name: id, phone: null } }
  return { id, ...place, ...nobody, ...times, ...changes } as Conversation
}

const listOf = (cursor: string | null, ...rows: Conversation[]): ConversationList => ({ rows, cursor })
const ids = ({ rows }: ConversationList) => rows.map(({ id }) => id).join('')

test('a failed file shows a reason if a person can act on it', () => {
  for (const [code, words] of [
    ['http_404', /No longer/],
    ['size_mismatch', /doesn’t match/],
    ['forbidden_address', /isn’t allowed/],
    ['190', /credential/],
    ['store_full', /file storage/],
    ['http_503', /\(http_503\)/],
  ] as const)
    assert.match(fileFailure(code) ?? '', words)
  assert.deepEqual([null, 'too_large', 'internal'].map(fileFailure), [null, null, null])
})

test('a list contains what matches its filter', () => {
  const cases: [Record<string, unknown>, Partial<Conversation>, boolean | null][] = [
    [{}, {}, true],
    [{}, { status: 'resolved' }, false],
    [{ status: 'any' }, { status: 'resolved' }, true],
    [{ view: 'mine' }, {}, false],
    [{ view: 'mine' }, { assignedTo: ana }, true],
    [{ view: 'unassigned' }, { owner: 'agent:x' }, false],
    [{ view: 'unassigned' }, {}, true],
    [{ view: 'agents' }, { owner: 'agent:x' }, true],
    [{ owner: 'human' }, { owner: 'agent:x' }, false],
    [{ owner: `agent:${ana}` }, { owner: `agent:${ana}` }, true],
    [{ owner: `agent:${ana}` }, { owner: 'agent:x' }, false],
    [{ assignedTo: 'none' }, { assignedTo: ana }, false],
    [{ assignedTo: 'me' }, { assignedTo: ana }, true],
    [{ assignedTo: ana }, {}, false],
    [{ connectionId: ana }, {}, false],
    [{ teamId: ana }, { teamId: ana }, true],
    [{ teamId: ana }, {}, false],
    [{ teamId: 'none' }, { teamId: ana }, false],
    [{ teamId: 'none' }, { teamId: null }, true],
    [{ labelId: ana }, { labelIds: [ana] }, true],
    [{ unread: true }, {}, false],
    [{ unanswered: true }, { unansweredSince: minute(1) }, true],
    [{ sort: 'waiting' }, {}, false],
    [{ search: 'rita' }, {}, null],
  ]
  for (const [search, changes, expected] of cases) {
    const filter = filterOf(readSearch(search))
    assert.equal(matches(filter, row('a', 1, changes), ana), expected, JSON.stringify([search, changes]))
  }
})

test('a row is added, moved, updated and removed; rows after the loaded ones wait for their page', () => {
  const filter = filterOf({})
  const list = listOf('more', row('c', 3), row('b', 2), row('a', 1))
  assert.equal(ids(upsertRow(list, row('a', 4), filter, ana)), 'acb')
  assert.equal(ids(upsertRow(list, row('d', 2, { id: 'd' }), filter, ana)), 'cdba')
  assert.equal(upsertRow(list, row('z', 0), filter, ana), list)
  assert.equal(ids(upsertRow({ ...list, cursor: null }, row('z', 0), filter, ana)), 'cbaz')
  assert.equal(ids(upsertRow(list, row('b', 2, { status: 'closed' }), filter, ana)), 'ca')
  assert.equal(upsertRow(list, row('b', 2, { unreadCount: 3 }), filter, ana).rows[1]?.unreadCount, 3)
  assert.equal(upsertRow(list, row('q', 9, { status: 'closed' }), filter, ana), list)
  const found = filterOf({ search: 'x' })
  assert.equal(upsertRow(list, row('new', 9), found, ana), list)
  assert.equal(ids(appendPage(list, listOf(null, row('a', 1), row('z', 0)))), 'cbaz')
})

test('a refetched list reuses unchanged rows, and is the same object if nothing changed', () => {
  const before = listOf('more', row('c', 3), row('b', 2), row('a', 1))
  assert.equal(reuseRows(undefined, before), before)
  assert.equal(reuseRows(before, structuredClone(before)), before)
  const again = reuseRows(before, listOf('more', row('d', 4), row('b', 2, { unreadCount: 1 }), row('a', 1)))
  assert.equal(ids(again), 'dba')
  assert.equal(again.rows[1]?.unreadCount, 1)
  assert.equal(again.rows[1]?.contact, before.rows[1]?.contact)
  assert.equal(again.rows[2], before.rows[2])
  assert.notEqual(reuseRows(before, { ...before, cursor: null }), before)
})

test('the longest waiting conversation comes first, and an answer removes it', () => {
  const filter = filterOf({ sort: 'waiting' })
  const waits = (id: string, since: number) => row(id, since, { unansweredSince: minute(since) })
  const list = listOf(null, waits('a', 1), waits('c', 3))
  assert.equal(ids(upsertRow(list, waits('b', 2), filter, ana)), 'abc')
  assert.equal(ids(upsertRow(list, row('a', 9), filter, ana)), 'c')
})

test('with equal times, a response requested before an event is the older version', () => {
  const inbox = { workspaceId: 'ties' } as Inbox
  const asked = currentSequence()
  recordConversation(inbox, 'a', row('a', 5, { unreadCount: 0 }))
  const unread = (at: number, when: number) =>
    withLiveChanges(inbox, row('a', at, { unreadCount: 9 }), when).unreadCount
  assert.deepEqual(
    [unread(4, currentSequence()), unread(5, asked), unread(5, currentSequence()), unread(6, asked)],
    [0, 0, 9, 9],
    'older, asked for before, asked for after, newer',
  )
})

test('a pending change overrides loaded data until it ends', () => {
  const inbox = { workspaceId: 'pending' } as Inbox
  const filter = filterOf({})
  recordConversation(inbox, 'a', row('a', 5))
  const endFirst = addPending(inbox, 'a', { status: 'resolved' })
  const endSecond = addPending(inbox, 'a', { assignedTo: ana })
  const read = () => withLiveChanges(inbox, row('a', 6), currentSequence())
  const list = () =>
    ids(listWithLiveChanges(inbox, listOf(null, row('b', 7), row('a', 6)), currentSequence(), filter, ana))
  assert.deepEqual([read().status, read().assignedTo, list()], ['resolved', ana, 'b'])
  endFirst()
  assert.deepEqual([read().status, read().assignedTo, list()], ['open', ana, 'ba'])
  endSecond()
  assert.equal(read().assignedTo, null)
})

test('invalid parameters of an address are dropped, and the rest survives a round trip', () => {
  assert.deepEqual(readSearch({ view: 'all', status: 'open', sort: 'x', unread: 'no', owner: '<b>', search: '  ' }), {})
  const search = { view: 'mine', status: 'any', labelId: ana, unread: true, sort: 'waiting' } as const
  assert.deepEqual(readSearch(search), search)
  assert.deepEqual(searchOf(queryOf({ ...search, search: 'rita' })), search)
  assert.equal(filterOf({ search: 'rita' }).status, 'any')
})

const rowsOf = (text: string) => [...text].map((id) => ({ id }))

test('visible rows stay in place when scrolled', () => {
  const place = (before: string, after: string, top: number) =>
    anchoredScrollTop(rowsOf(before), rowsOf(after), top, 10)
  assert.equal(place('abcdef', 'xabcdef', 0), 0)
  assert.equal(place('abcdef', 'xabcdef', 20), 30)
  assert.equal(place('abcdef', 'bcdef', 20), 10)
  assert.equal(place('abcdef', 'cabdef', 20), 20)
  assert.equal(place('abcdef', 'uvwxyz', 20), 20)
})

test('links are only web and e-mail addresses, without closing punctuation', () => {
  const hrefs = (text: string) => parseLinks(text).flatMap(({ href }) => href ?? [])
  assert.deepEqual(hrefs('See https://example.com/a?b=1, please.'), ['https://example.com/a?b=1'])
  assert.deepEqual(hrefs('(www.example.com) or ana@example.com!'), [
    'https://www.example.com/',
    'mailto:ana@example.com',
  ])
  assert.deepEqual(hrefs('https://example.com/a_(b)'), ['https://example.com/a_(b)'])
  assert.deepEqual(hrefs('javascript:alert(1) data:text/html,x file:///etc ftp://example.com'), [])
  const text = '<img src=x onerror=alert(1)> https://example.com/"><script>'
  assert.equal(
    parseLinks(text)
      .map((one) => one.text)
      .join(''),
    text,
  )
})

function said(id: string, at: number, changes: Partial<Message> = {}): TimelineItem {
  const author = { type: 'customer', id: null, name: null }
  const sent = { direction: 'inbound', kind: 'text', text: id, status: 'delivered', occurredAt: minute(at) }
  const message = { id, author, reaction: null, reactions: [], ...sent, ...changes } as Message
  return { type: 'message', id, at: message.occurredAt, message }
}

const byAna = { direction: 'outbound', author: { type: 'user', id: ana, name: 'Ana' } } as const
const day = (at: string) => at.slice(0, 10)

test('messages of one author within three minutes are grouped, separated by days, breaks and unread lines', () => {
  const items = [
    said('a', 0),
    said('b', 2),
    said('c', 6),
    said('d', 7, byAna),
    said('e', 30, byAna),
    said('f', 60 * 24),
  ]
  const blocks = blocksOf(items, [], 'c', day)
  assert.deepEqual(
    blocks.map((block) => (block.type === 'group' ? block.messages.map(({ id }) => id).join('') : block.type)),
    ['day', 'ab', 'unread', 'c', 'd', 'time', 'e', 'day', 'f'],
  )
})

test('a failed message ends its group, and ticks appear where the next status differs', () => {
  const sent = [said('a', 0, byAna), said('b', 0, { ...byAna, status: 'failed' }), said('c', 1, byAna)]
  assert.equal(blocksOf(sent, [], null, day).filter(({ type }) => type === 'group').length, 2)
  const group = [said('a', 0, { ...byAna, status: 'read' }), said('b', 1, byAna)].flatMap(
    ({ message }) => message ?? [],
  )
  assert.deepEqual([showsTicks(group, 0), showsTicks(group, 1)], [true, true])
})

const threadOf = (items: TimelineItem[], rest: Partial<Thread> = {}): Thread => ({
  items,
  older: null,
  newer: null,
  firstUnreadId: null,
  requestNumber: 0,
  ...rest,
})
const names = ({ items }: Thread) => items.map(({ id }) => id).join('')

test('the newest page is merged; if there is a gap, only the newest is kept', () => {
  const known = threadOf([said('a', 0), said('b', 1), said('c', 2)], { older: 'o' })
  const page = threadOf([said('b', 1), said('c', 2), said('d', 3)], { older: 'p' })
  assert.deepEqual([names(mergeNewest(known, page)), mergeNewest(known, page).older], ['abcd', 'o'])
  const far = threadOf([said('x', 8), said('y', 9)], { older: 'p' })
  assert.equal(names(mergeNewest(known, far)), 'xy')
  const reading = { ...known, newer: 'n' }
  assert.equal(names(mergeNewest(reading, far)), 'abc')
  assert.equal(names(mergeNewest(known, threadOf([said('b', 1)]))), 'b')
  assert.equal(names(mergeNewest(undefined, page)), 'bcd')
  const late = { ...threadOf([said('a', 0), said('b', 1)]), requestNumber: -1 }
  assert.equal(mergeNewest(known, late), known)
})

const rungOf = (text: string): DeliveryStatus => {
  const [status, errorCode = null] = text.split(' ')
  return { status, errorCode } as DeliveryStatus
}

test('status only advances; an assumed failure is replaced by what the platform reports', () => {
  const cases = [
    ['pending', 'sent', true],
    ['read', 'delivered', false],
    ['sent', 'sent', false],
    ['sent', 'failed', true],
    ['read', 'failed', false],
    ['failed 131049', 'delivered', false],
    ['failed outcome_unknown', 'delivered', true],
    ['failed outcome_unknown', 'failed 131049', true],
    ['failed outcome_unknown', 'pending', false],
    ['failed outcome_unknown', 'failed outcome_unknown', false],
  ] as const
  for (const [from, to, expected] of cases) {
    assert.equal(isStatusAdvance(rungOf(from), rungOf(to)), expected, `${from} ${to}`)
  }
  const thread = threadOf([said('a', 0, { ...byAna, status: 'sent' }), said('b', 1)])
  const read = mapMessages(thread, (message) => (message.id === 'a' ? { ...message, status: 'read' } : message))
  assert.equal(read.items[0]?.message?.status, 'read')
  assert.equal(read.items[1], thread.items[1])
  assert.equal(
    mapMessages(thread, (message) => message),
    thread,
  )
})

test('a sent message appears once: pending until the thread contains it, even with the same text twice', () => {
  const before = [said('a', 0, { ...byAna, text: 'Yes' })]
  const entry = (key: string): OutboxEntry => ({
    key,
    text: 'Yes',
    at: minute(1),
    state: 'sending',
    knownIds: ownMessageIds(before, 'Yes', ana),
    messageId: null,
  })
  const outbox = [entry('1'), entry('2')]
  const left = (items: TimelineItem[]) => pendingEntries(outbox, items, ana).map(({ key }) => key)
  assert.deepEqual(left(before), ['1', '2'])
  const once = [...before, said('b', 1, { ...byAna, text: 'Yes' })]
  assert.deepEqual(left(once), ['2'])
  assert.deepEqual(left([...once, said('c', 1, { ...byAna, text: 'Yes' })]), [])
  assert.deepEqual(left([...before, said('x', 1, { direction: 'outbound', text: 'Yes' })]), ['1', '2'])
})
