import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { sha256, solve } from '../../../../web/src/widget/sha256.ts'
import { isUuid } from '../../../src/base/id.ts'
import { difficultyFor, leadingZeros } from '../../../src/channels/website/challenge.ts'
import { derivedId } from '../../../src/channels/website/chat-log.ts'
import { cleanDetails } from '../../../src/channels/website/identity.ts'
import { cleanFileName } from '../../../src/channels/website/receive-chat.ts'

test('the widget computes SHA-256 as everybody else', () => {
  for (const length of [0, 1, 55, 56, 63, 64, 65, 119, 120, 200]) {
    const text = 'ab1.-_'.repeat(40).slice(0, length)
    const hex = [...sha256(text)].map((word) => word.toString(16).padStart(8, '0')).join('')
    assert.equal(hex, createHash('sha256').update(text).digest('hex'), `${length} characters`)
  }
})

test('a solution has the zero bits that the server counts', async () => {
  const solution = await solve('a challenge', 10)
  assert.ok(leadingZeros(createHash('sha256').update(`a challenge:${solution}`).digest()) >= 10)
  const rows: [bytes: number[], zeros: number][] = [
    [[255], 0],
    [[127], 1],
    [[0, 128], 8],
    [[0, 0, 1], 23],
    [[0], 8],
  ]
  for (const [bytes, zeros] of rows) assert.equal(leadingZeros(Uint8Array.from(bytes)), zeros)
})

test('difficulty rises with the chats of a minute, and has a limit', () => {
  const rows: [connection: number, address: number, bits: number][] = [
    [0, 0, 14],
    [16, 2, 14],
    [17, 2, 15],
    [64, 1, 16],
    [1, 8, 16],
    [600, 1, 20],
    [1_000_000, 30, 22],
  ]
  for (const [connection, address, bits] of rows) assert.equal(difficultyFor({ connection, address }), bits)
})

test('ids are derived from what makes a message the same', () => {
  assert.ok(isUuid(derivedId('a', 'b')))
  assert.equal(derivedId('a', 'b'), derivedId('a', 'b'))
  assert.notEqual(derivedId('a', 'b'), derivedId('b', 'a'))
})

test('names, addresses and file names of strangers are cleaned or dropped', () => {
  const { name, email, phone } = cleanDetails({ name: ' A\n\u0007na  L ', email: 'no', phone: 'abc' })
  assert.deepEqual([name, email, phone], ['A na L', null, null])
  assert.deepEqual(cleanDetails({ name: 7, email: 'a@b.co', phone: '+55 11 95550-1234' }), {
    name: null,
    email: 'a@b.co',
    phone: '5511955501234',
  })
  assert.equal(cleanFileName('../\r\nSet-Cookie: x/"a".png'), '.. Set-Cookie x a .png')
  assert.equal(cleanFileName('\u202egnp.exe'), 'gnp.exe')
  assert.equal(cleanFileName(null), null)
})
