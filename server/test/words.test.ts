import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findRetiredWords } from '../../scripts/words.ts'

const wordsIn = (path: string, content = '') => findRetiredWords(path, content).map(({ word }) => word)

test('a retired word is found in paths, exported names, comments, texts and documents', () => {
  assert.deepEqual(wordsIn('server/src/base/errands.ts'), ['errands'])
  assert.deepEqual(wordsIn('a.ts', 'export const sealedValue = 1'), ['sealed'])
  assert.deepEqual(wordsIn('a.ts', '  // Runs anew.'), ['anew'])
  assert.deepEqual(wordsIn('a.ts', "throw new Error('somebody else')"), ['somebody'])
  assert.deepEqual(wordsIn('a.md', 'Two chores run each hour.'), ['chores'])
})

test('local names, values, SQL tables and code in documents are left alone', () => {
  assert.deepEqual(wordsIn('a.ts', "const told = 'told'"), [])
  assert.deepEqual(wordsIn('a.ts', "await sql`select name from chores limit 1`; call('a b')"), [])
  assert.deepEqual(wordsIn('a.md', 'The column `sealed`.'), [])
})
