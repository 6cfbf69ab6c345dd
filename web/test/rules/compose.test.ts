import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TimelineItem } from '../../src/data/inbox/types.ts'
import { type AgentKey, agentsFor } from '../../src/inbox/compose/agents-for.ts'
import { blankDraft, readDraft, writeDraft } from '../../src/inbox/compose/drafts.ts'
import { newestMessageId, newMessageAuthor } from '../../src/inbox/compose/new-messages.ts'
import { obstacleOf } from '../../src/inbox/compose/obstacle.ts'
import { pendingSends, removePendingSend, savePendingSend } from '../../src/inbox/compose/pending-sends.ts'
import { nextChangeMs, windowStateAt } from '../../src/inbox/compose/response-window.ts'
import {
  findMembers,
  findMentions,
  findReplies,
  findTypeahead,
  isTypeaheadOpen,
  renderReply,
} from '../../src/inbox/compose/typeahead.ts'
import {
  filledText,
  findTemplates,
  findUnsendable,
  parseTemplate,
  problemOf,
  valuesFor,
} from '../../src/shared/template-preview.ts'
import { newStorage } from '../support/storage.ts'

const minute = 60_000
const hour = 60 * minute
const now = Date.parse('2026-03-01T12:00:00.000Z')
const inMs = (ms: number) => new Date(now + ms).toISOString()

test('the window is shown from four hours on, urgent in the last hour, and closes', () => {
  const closing = (ms: number, hours: number, minutes: number, isUrgent: boolean) =>
    ({ state: 'closing', at: inMs(ms), hours, minutes, isUrgent }) as const
  const table: [string | null, ReturnType<typeof windowStateAt>, number | null][] = [
    [null, { state: 'closed' }, null],
    [inMs(-1), { state: 'closed' }, null],
    [inMs(0), { state: 'closed' }, null],
    [inMs(24 * hour), { state: 'open' }, 20 * hour],
    [inMs(4 * hour + 1), { state: 'open' }, 1],
    [inMs(4 * hour), closing(4 * hour, 4, 0, false), minute],
    [inMs(61 * minute - 1), closing(61 * minute - 1, 1, 1, false), minute - 1],
    [inMs(60 * minute), closing(60 * minute, 1, 0, true), minute],
    [inMs(30 * minute), closing(30 * minute, 0, 30, true), minute],
    [inMs(1), closing(1, 0, 1, true), 1],
  ]
  for (const [expiresAt, expected, nextMs] of table) {
    assert.deepEqual(windowStateAt(expiresAt, now), expected)
    assert.equal(nextChangeMs(expiresAt, now), nextMs)
  }
})

test('a draft is stored per conversation, deleted when empty, and ignored when invalid', () => {
  const storage = newStorage()
  writeDraft(storage, 'w', 'a', { mode: 'note', reply: 'Hello', note: 'Ask Ana' }, 1)
  assert.deepEqual(readDraft(storage, 'w', 'a'), { mode: 'note', reply: 'Hello', note: 'Ask Ana' })
  assert.deepEqual(readDraft(storage, 'w', 'b'), blankDraft)
  assert.deepEqual(readDraft(storage, 'v', 'a'), blankDraft)
  writeDraft(storage, 'w', 'a', { mode: 'note', reply: ' ', note: '' }, 2)
  assert.equal(storage.length, 0)
  for (const nonsense of ['', '{', 'null', '[]', '{"reply":1}', '{"reply":"x"}']) {
    storage.setItem('parley.draft.w.a', nonsense)
    assert.deepEqual(readDraft(storage, 'w', 'a'), blankDraft)
  }
})

test('suggestions start with a sign at the start of a word, up to the caret', () => {
  const table: [string, '/' | '@', { term: string; start: number } | null][] = [
    ['/', '/', { term: '', start: 0 }],
    ['/hou', '/', { term: 'hou', start: 0 }],
    ['Hi /hou', '/', { term: 'hou', start: 3 }],
    ['Hi\n/h', '/', { term: 'h', start: 3 }],
    ['and/or', '/', null],
    ['https://x', '/', null],
    ['/hours now', '/', null],
    ['me@example', '@', null],
    ['ask @an', '@', { term: 'an', start: 4 }],
    ['none', '/', null],
    [`/${'x'.repeat(41)}`, '/', null],
  ]
  for (const [text, sign, expected] of table) {
    assert.deepEqual(findTypeahead(text, text.length, sign), expected && { sign, ...expected }, text)
  }
  assert.deepEqual(findTypeahead('/hours', 2, '/'), { sign: '/', term: 'h', start: 0 })
})

test('the list stays open while the whole text is a suggestion term, so that Enter does not send it', () => {
  const rows: [text: string, found: number, isOpen: boolean][] = [
    ['/', 0, true],
    ['/pri', 1, true],
    ['/nothing', 0, true],
    ['  /nothing', 0, true],
    ['see /nothing', 0, false],
    ['see /', 0, true],
  ]
  for (const [text, found, isOpen] of rows) {
    const asked = findTypeahead(text, text.length, '/')
    assert.equal(asked !== null && isTypeaheadOpen(text, asked, found), isOpen, text)
  }
  const note = findTypeahead('@nobody', 7, '@')
  assert.equal(note !== null && isTypeaheadOpen('@nobody', note, 0), false)
})

test('saved replies are found by shortcut before text, regardless of accents', () => {
  const replies = [
    { id: '1', shortcut: 'price', text: 'From 10' },
    { id: '2', shortcut: 'hours', text: 'Abrimos às 9, preço na loja' },
    { id: '3', shortcut: 'list-price', text: 'See the list' },
  ]
  const found = (term: string) => findReplies(replies, term).map(({ id }) => id)
  assert.deepEqual(found(''), ['1', '2', '3'])
  assert.deepEqual(found('pric'), ['1', '3'])
  assert.deepEqual(found('PREÇO'), ['2'])
  assert.deepEqual(found('zzz'), [])
})

test('placeholders of a saved reply are replaced; unknown values leave no gap', () => {
  const facts = { contact: { name: 'Ana Lima', phone: '5511955501101' }, me: 'Rui', workspace: 'Acme' }
  const table: [string, string][] = [
    ['Hi {{contact.first_name}}, I am {{me.name}} of {{ workspace.name }}.', 'Hi Ana, I am Rui of Acme.'],
    ['{{contact.name}} {{contact.phone}}', 'Ana Lima 5511955501101'],
    ['{{unknown}} stays', '{{unknown}} stays'],
    ['no {{ braces', 'no {{ braces'],
  ]
  for (const [text, expected] of table) assert.equal(renderReply(text, facts), expected)
  const nobody = { ...facts, contact: { name: null, phone: null } }
  assert.equal(renderReply('Hi {{contact.first_name}}, welcome', nobody), 'Hi, welcome')
  assert.equal(
    renderReply('{{contact.name}}', { ...facts, contact: { name: '$& {{me.name}}', phone: null } }),
    '$& {{me.name}}',
  )
})

test('members are found by any word of their name, and mentioned by the full name', () => {
  const members = [
    { userId: '1', name: 'Ana' },
    { userId: '2', name: 'Ana Lima' },
    { userId: '3', name: 'João Souza' },
  ]
  assert.deepEqual(
    findMembers(members, 'joao').map(({ userId }) => userId),
    ['3'],
  )
  assert.deepEqual(
    findMembers(members, 'li').map(({ userId }) => userId),
    ['2'],
  )
  const table: [string, string[]][] = [
    ['@Ana Lima please', ['2']],
    ['@Ana, please', ['1']],
    ['@Anabel', []],
    ['@João Souza and @Ana', ['3', '1']],
    ['mail me at x@Ana', ['1']],
    ['Ana', []],
  ]
  for (const [text, expected] of table) assert.deepEqual(findMentions(text, members), expected, text)
})

test('a template is shown as the customer will read it, with missing values marked', () => {
  assert.deepEqual(parseTemplate('Hi {{1}}, {{ 2 }}!', [' Ana ']), [
    { text: 'Hi ' },
    { parameter: 1, value: 'Ana' },
    { text: ', ' },
    { parameter: 2, value: '' },
    { text: '!' },
  ])
  assert.equal(filledText('Hi {{1}}, {{2}}', ['Ana']), 'Hi Ana, {{2}}')
  assert.equal(filledText('{{1}} {{1}}', ['$1']), '$1 $1')
  const table: [string, string | null][] = [
    ['', 'empty'],
    [' ', 'empty'],
    ['a\nb', 'lines'],
    ['a\tb', 'lines'],
    ['a     b', 'spaces'],
    ['a    b', null],
    ['x'.repeat(2048), null],
    ['x'.repeat(2049), 'long'],
  ]
  for (const [value, expected] of table) assert.equal(problemOf(value), expected)
})

test('templates are found by all words, only sendable ones, those in the reader’s language first', () => {
  const one = (name: string, language: string, sendable = true, status = 'APPROVED') => ({
    id: `${name}.${language}`,
    name,
    language,
    category: 'UTILITY',
    body: 'Your order {{1}}',
    parameterCount: 1,
    parameterNames: null,
    inputs: null,
    header: null,
    sendable,
    status,
  })
  const all = [
    one('order_update', 'en_US'),
    one('order_update', 'pt_BR'),
    one('hello', 'pt_BR'),
    one('gone', 'en', false),
    one('paused', 'en', false, 'PAUSED'),
  ]
  const found = (term: string) => findTemplates(all, term, 'pt').map(({ id }) => id)
  assert.deepEqual(found(''), ['hello.pt_BR', 'order_update.pt_BR', 'order_update.en_US'])
  assert.deepEqual(found('Order upd'), ['order_update.pt_BR', 'order_update.en_US'])
  assert.deepEqual(found('gone'), [])
  const unsendable = (term: string) => findUnsendable(all, term, 'pt').map(({ id }) => id)
  assert.deepEqual([unsendable(''), unsendable('hello')], [['gone.en'], []])
})

test('a pending send is stored for its sender, in order, until removed, and invalid entries are ignored', () => {
  const storage = newStorage()
  const one = (key: string, atMs: number, userId = 'me') => ({
    key,
    userId,
    conversationId: 'c',
    reply: { kind: 'text' as const, text: key },
    text: key,
    ifLastMessageId: null,
    atMs,
  })
  for (const kept of [one('b', 2), one('a', 1), one('x', 3, 'other')]) savePendingSend(storage, 'w', kept)
  savePendingSend(storage, 'v', one('elsewhere', 1))
  storage.setItem('parley.sending.w.bad', '{')
  storage.setItem('parley.sending.w.worse', 'null')
  const keys = () => pendingSends(storage, 'w', 'me').map(({ key }) => key)
  assert.deepEqual(keys(), ['a', 'b'])
  removePendingSend(storage, 'w', 'a')
  assert.deepEqual(keys(), ['b'])
})

test('the newest message counts as seen only if the thread is loaded to its end', () => {
  const item = (id: string, authorId: string | null, name: string | null = null): TimelineItem =>
    ({ type: 'message', id, at: '', message: { author: { id: authorId, name } } }) as TimelineItem
  const note = { type: 'note', id: 'n', at: '' } as TimelineItem
  const items = [item('1', null), item('2', 'me', 'Me'), note]
  const thread = { items, older: null, newer: null, firstUnreadId: null, requestNumber: 0 }
  assert.equal(newestMessageId(thread), '2')
  assert.equal(newestMessageId({ ...thread, newer: 'more' }), null)
  assert.equal(newestMessageId({ ...thread, items: [note] }), null)
  const table: [TimelineItem[], string, string | null][] = [
    [items, '2', null],
    [items, '1', null],
    [[...items, item('3', null)], '2', ''],
    [[...items, item('3', null), item('4', 'ana', 'Ana')], '2', 'Ana'],
    [[...items, item('3', null)], 'unknown', null],
  ]
  for (const [all, since, expected] of table) assert.equal(newMessageAuthor(all, since, 'me'), expected)
})

test('an agent can take over if its key is active, may reply, and allows the connection', () => {
  const key: AgentKey = {
    id: '1',
    name: 'A',
    status: 'active',
    scopes: ['inbox.write'],
    connectionIds: [],
    expiresAt: null,
  }
  const table: [Partial<AgentKey>, boolean][] = [
    [{}, true],
    [{ status: 'revoked' }, false],
    [{ scopes: ['inbox.read'] }, false],
    [{ connectionIds: ['c'] }, true],
    [{ connectionIds: ['d'] }, false],
    [{ expiresAt: inMs(1) }, true],
    [{ expiresAt: inMs(0) }, false],
  ]
  for (const [changes, expected] of table)
    assert.equal(agentsFor([{ ...key, ...changes }], 'c', now).length === 1, expected)
})

test('the obstacle with the widest scope is shown', () => {
  const open = { inboxEnabled: true, inboxAvailable: true }
  const works = { channel: 'waba', state: 'active', stateReason: null, acknowledgement: null, holds: [] } as const
  const qr = { ...works, channel: 'unofficial' } as const
  const away = (stateReason: string) => ({ ...qr, state: 'unavailable', stateReason }) as const
  const held = (ms: number) =>
    ({ ...works, state: 'unavailable', holds: [{ stops: 'all', nextTryAt: inMs(ms) }] }) as const
  const until = (ms: number) => ({ ...qr, acknowledgement: { by: null, at: inMs(0), until: inMs(ms) } })
  const table: [Parameters<typeof obstacleOf>[0], Parameters<typeof obstacleOf>[1], ReturnType<typeof obstacleOf>][] = [
    [open, works, null],
    [{ ...open, inboxEnabled: false }, undefined, 'not_in_plan'],
    [{ ...open, inboxAvailable: false }, { ...works, state: 'paused' }, 'inbox_closed'],
    [open, undefined, 'removed'],
    [open, { ...qr, state: 'paused' }, 'paused'],
    [open, away('never_paired'), 'unlinked'],
    [open, away('logged_out'), 'unlinked'],
    [open, away('reconnecting'), 'reconnecting'],
    [open, away('banned'), 'unavailable'],
    [open, { ...works, state: 'unavailable', stateReason: null }, 'unavailable'],
    [open, held(1), 'unavailable'],
    [open, held(0), null],
    [open, qr, 'unacknowledged'],
    [open, until(0), 'unacknowledged'],
    [open, until(1), null],
  ]
  for (const [workspace, connection, expected] of table) {
    assert.equal(obstacleOf(workspace, connection, now), expected, JSON.stringify([workspace, connection]))
  }
})

test('a template starts with the name in a greeting, and nowhere else', () => {
  const table: [body: string, count: number, values: string[]][] = [
    ['Hi {{1}}, your order {{2}} is here', 2, ['Ana', '']],
    ['Olá {{1}}!', 1, ['Ana']],
    ['Bom dia, {{1}}', 1, ['Ana']],
    ['*Hola {{1}}*', 1, ['Ana']],
    ['Reminder: we see you on {{1}} at {{2}}.', 2, ['', '']],
    ['{{1}} awaits you', 1, ['']],
    ['Delhi {{1}}', 1, ['']],
    ['Nothing to fill', 0, []],
  ]
  for (const [body, parameterCount, values] of table) {
    assert.deepEqual(valuesFor({ body, parameterCount }, 'Ana'), values, body)
  }
})
