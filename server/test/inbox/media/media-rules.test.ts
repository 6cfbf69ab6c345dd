import assert from 'node:assert/strict'
import { test } from 'node:test'
import { afterProblem, retryDelayMs } from '../../../src/inbox/media/fetch-media.ts'
import { findMismatch, safeName } from '../../../src/inbox/media/inspect-file.ts'

for (const [declared, safe] of [
  ['invoice.pdf', 'invoice.pdf'],
  ['../../etc/passwd', 'passwd'],
  ['C:\\Windows\\system32\\a.exe', 'a.exe'],
  ['..', null],
  ['', null],
  ['.bashrc', 'bashrc'],
  ['a.txt. . ', 'a.txt'],
  ['photo\u202egpj.exe', 'photogpj.exe'],
  ['\u2066a\u2069\u200b\ufeff.png', 'a.png'],
  ['line\r\nbreak\0.png', 'linebreak.png'],
  ['what?*"<>|:.pdf', 'what_______.pdf'],
  ['cafe\u0301.jpg', 'café.jpg'],
  ['\ud800broken.pdf', 'broken.pdf'],
  ['Relatório nº 5.pdf', 'Relatório nº 5.pdf'],
  ['/', null],
] as const) {
  test(`the name ${JSON.stringify(declared)} is stored as ${JSON.stringify(safe)}`, () => {
    assert.equal(safeName(declared), safe)
  })
}

test('a long name keeps its extension, and is cut between two letters', () => {
  const name = safeName(`${'é'.repeat(5_000)}.pdf`) ?? ''
  assert.equal(Buffer.byteLength(name), 255 - 1)
  assert.ok(name.endsWith('é.pdf'))
  assert.equal(Buffer.byteLength(safeName('a'.repeat(2_000)) ?? ''), 255)
})

const seen = { bytes: 5, sha256: 'right', realType: null }
for (const [declared, mismatch] of [
  [{ size: null, sha256: null }, null],
  [{ size: 5, sha256: null }, null],
  [{ size: 6, sha256: null }, 'size_mismatch'],
  [{ size: 0, sha256: null }, null],
  [{ size: 5, sha256: 'wrong' }, 'hash_mismatch'],
  [{ size: 6, sha256: 'right' }, null],
] as const) {
  test(`five bytes declared as ${JSON.stringify(declared)}: ${mismatch}`, () => {
    assert.equal(findMismatch(declared, seen), mismatch)
  })
}

test('an empty file is a mismatch unless the digest matches', () => {
  const nothing = { ...seen, bytes: 0 }
  assert.equal(findMismatch({ size: null, sha256: null }, nothing), 'empty')
  assert.equal(findMismatch({ size: 0, sha256: null }, nothing), 'empty')
  assert.equal(findMismatch({ size: 7, sha256: null }, nothing), 'empty')
  assert.equal(findMismatch({ size: 0, sha256: nothing.sha256 }, nothing), null)
})

const created = new Date('2026-03-10T12:00:00.000Z')
const later = (days: number) => new Date(created.getTime() + days * 86_400_000)
for (const [kind, code, tries, days, state] of [
  ['failed', 'http_503', 1, 0, 'coming'],
  ['failed', 'http_503', 500, 6.9, 'coming'],
  ['failed', 'http_503', 3, 7, 'failed'],
  ['failed', 'http_503', 2, 30, 'coming'],
  ['failed', 'http_404', 2, 0, 'coming'],
  ['failed', 'http_404', 3, 0, 'gone'],
  ['gone', '100', 2, 0, 'coming'],
  ['gone', '100', 3, 0, 'gone'],
  ['failed', 'stopped', 500, 7, 'coming'],
  ['too_large', 'too_large', 1, 0, 'too_large'],
  ['refused', 'forbidden_address', 1, 0, 'refused'],
  ['mismatch', 'hash_mismatch', 2, 0, 'coming'],
  ['mismatch', 'hash_mismatch', 3, 0, 'refused'],
] as const) {
  test(`${kind} (${code}) at try ${tries} after ${days} days: ${state}`, () => {
    assert.equal(afterProblem({ kind, code }, { tries, createdAt: created }, later(days), 0).state, state)
  })
}

for (const [kind, code, tries, seconds] of [
  ['failed', 'http_503', 1, 1],
  ['failed', 'http_503', 3, 4],
  ['failed', 'stopped', 3, 1],
  ['failed', 'http_404', 1, 8],
  ['gone', '100', 1, 8],
  ['mismatch', 'size_mismatch', 2, 16],
] as const) {
  test(`${kind} (${code}) at try ${tries} is retried after ${seconds} seconds`, () => {
    const { dueAt } = afterProblem({ kind, code }, { tries, createdAt: created }, created, 0)
    assert.equal(dueAt?.getTime(), created.getTime() + seconds * 1_000)
  })
}

test('a delay is never shorter than specified, nor more than a fifth longer', () => {
  assert.deepEqual([retryDelayMs(1, 0), retryDelayMs(1, 1), retryDelayMs(5, 0)], [1_000, 1_200, 16_000])
  assert.deepEqual(
    [retryDelayMs(13, 0), retryDelayMs(4_000, 0), retryDelayMs(13, 1)],
    [3_600_000, 3_600_000, 4_320_000],
  )
})
