import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blankDraft, readDraft, writeDraft } from '../../src/inbox/compose/drafts.ts'
import { noteKeyFor, pendingSends, removeNoteKey, savePendingSend } from '../../src/inbox/compose/pending-sends.ts'
import { claimPrivateStorage, clearPrivateStorage } from '../../src/session/private-storage.ts'
import { newStorage } from '../support/storage.ts'

const send = {
  key: 'k',
  userId: 'ana',
  conversationId: 'c',
  reply: { kind: 'text', text: 'On its way' },
  text: 'On its way',
  ifLastMessageId: null,
  atMs: 1,
} as const

function usedStorage() {
  const storage = newStorage()
  claimPrivateStorage(storage, 'ana')
  storage.setItem('parley.language', 'pt')
  writeDraft(storage, 'w', 'c', { ...blankDraft, reply: 'Half a tho' }, 1)
  savePendingSend(storage, 'w', send)
  noteKeyFor(storage, 'w', 'c', 'Call back')
  return storage
}

test('unsent texts are removed at sign-out, and nothing else', () => {
  const storage = usedStorage()
  assert.equal(storage.length, 5)
  clearPrivateStorage(storage)
  assert.deepEqual([storage.length, storage.getItem('parley.language')], [1, 'pt'])
})

test('the same person finds their drafts again; another one does not', () => {
  const storage = usedStorage()
  claimPrivateStorage(storage, 'ana')
  assert.equal(readDraft(storage, 'w', 'c').reply, 'Half a tho')
  assert.equal(pendingSends(storage, 'w', 'ana').length, 1)
  claimPrivateStorage(storage, 'bea')
  assert.deepEqual(readDraft(storage, 'w', 'c'), blankDraft)
  assert.deepEqual(pendingSends(storage, 'w', 'ana'), [])
  assert.equal(storage.getItem('parley.language'), 'pt')
})

test('a retried note keeps its key; another text or another note gets its own', () => {
  const storage = newStorage()
  const key = (text: string, conversation = 'c') => noteKeyFor(storage, 'w', conversation, text)
  const first = key('Call\nback')
  assert.equal(key('Call\nback'), first)
  assert.notEqual(key('Call\nback', 'd'), first)
  const second = key('Call back')
  assert.notEqual(second, first)
  removeNoteKey(storage, 'w', 'c')
  assert.notEqual(key('Call back'), second)
  for (const nonsense of ['', '\n', 'x', '\nCall back']) {
    storage.setItem('parley.noting.w.c', nonsense)
    assert.match(key('Call back'), /^[0-9a-f-]{36}$/)
  }
})
