import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blankDraft, readDraft, writeDraft } from '../src/inbox/compose/drafts.ts'
import { keepSend, keptSends } from '../src/inbox/compose/kept-sends.ts'
import { dropNoteKey, noteKeyFor } from '../src/inbox/compose/note-key.ts'
import { claimPrivate, forgetPrivate } from '../src/session/private-storage.ts'
import { newShelf } from './support/shelf.ts'

const send = {
  key: 'k',
  userId: 'ana',
  conversationId: 'c',
  reply: { kind: 'text', text: 'On its way' },
  text: 'On its way',
  ifLastMessageId: null,
  atMs: 1,
} as const

function usedShelf() {
  const shelf = newShelf()
  claimPrivate(shelf, 'ana')
  shelf.setItem('parley.language', 'pt')
  writeDraft(shelf, 'w', 'c', { ...blankDraft, reply: 'Half a tho' }, 1)
  keepSend(shelf, 'w', send)
  noteKeyFor(shelf, 'w', 'c', 'Call back')
  return shelf
}

test('what somebody wrote and did not send is removed when they sign out, and nothing else', () => {
  const shelf = usedShelf()
  assert.equal(shelf.length, 5)
  forgetPrivate(shelf)
  assert.deepEqual([shelf.length, shelf.getItem('parley.language')], [1, 'pt'])
})

test('the same person finds their drafts again; another one finds none of them', () => {
  const shelf = usedShelf()
  claimPrivate(shelf, 'ana')
  assert.equal(readDraft(shelf, 'w', 'c').reply, 'Half a tho')
  assert.equal(keptSends(shelf, 'w', 'ana').length, 1)
  claimPrivate(shelf, 'bea')
  assert.deepEqual(readDraft(shelf, 'w', 'c'), blankDraft)
  assert.deepEqual(keptSends(shelf, 'w', 'ana'), [])
  assert.equal(shelf.getItem('parley.language'), 'pt')
})

test('a note that is tried again has the key of before, another text or another note one of its own', () => {
  const shelf = newShelf()
  const key = (text: string, conversation = 'c') => noteKeyFor(shelf, 'w', conversation, text)
  const first = key('Call\nback')
  assert.equal(key('Call\nback'), first)
  assert.notEqual(key('Call\nback', 'd'), first)
  const second = key('Call back')
  assert.notEqual(second, first)
  dropNoteKey(shelf, 'w', 'c')
  assert.notEqual(key('Call back'), second)
  for (const nonsense of ['', '\n', 'x', '\nCall back']) {
    shelf.setItem('parley.noting.w.c', nonsense)
    assert.match(key('Call back'), /^[0-9a-f-]{36}$/)
  }
})
