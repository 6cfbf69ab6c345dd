import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseConditions } from '../../../src/leads/search/sorted/conditions.ts'
import { collationKey, languages } from '../../../src/leads/search/sorted/order.ts'

test('texts are sorted by the collation of their language', () => {
  const word = fc.string({ unit: fc.constantFrom(...'aábcçdeéêfgnñoõuüzAÁEÉNÑZ019 -'.split('')), maxLength: 9 })
  for (const language of languages) {
    const { compare } = new Intl.Collator(language)
    const check = (a: string, b: string) => {
      const [keyA, keyB] = [collationKey(a, language), collationKey(b, language)]
      const expected = Math.sign(compare(a.trim(), b.trim()))
      assert.equal(keyA === keyB ? 0 : keyA < keyB ? -1 : 1, expected, `${language}: ${a} | ${b}`)
    }
    fc.assert(fc.property(word, word, check), { numRuns: 1000 })
  }
})

test('valid conditions are parsed, and invalid ones are rejected with the reason', () => {
  for (const [text, list] of [
    ['', []],
    ['email.empty', [{ column: 'email', operator: 'empty', values: [] }]],
    [
      'status.is.new.won;field:cidade.contains.S%C3%A3o%2E%3B%25',
      [
        { column: 'status', operator: 'is', values: ['new', 'won'] },
        { column: 'field:cidade', operator: 'contains', values: ['São.;%'] },
      ],
    ],
    ['actualValue.between.-1.2', [{ column: 'actualValue', operator: 'between', values: ['-1', '2'] }]],
    ['createdAt.last.7', [{ column: 'createdAt', operator: 'last', values: ['7'] }]],
  ] as const) {
    assert.deepEqual(parseConditions(text, 'all'), { conditions: { match: 'all', list }, issues: [] }, text)
  }
  for (const [text, message] of [
    ['moon.is.full', 'must begin with a column or field:<key>'],
    ['field:Cidade.empty', 'must begin with a column or field:<key>'],
    ['constructor.is.1', 'must begin with a column or field:<key>'],
    ['notes.contains.a', 'must have one of empty, notEmpty after its column'],
    ['email.empty.1', 'must have 0 values'],
    ['name.is', 'must have 1 to 20 values'],
    ['actualValue.between.1', 'must have 2 values'],
    ['actualValue.from.ten', 'must have numbers as its values'],
    ['createdAt.from.monday', 'must have ISO 8601 dates as its values'],
    ['createdAt.last.0', 'must have 1 to 3650 days'],
    ['name.is.%E0', 'has a value that is longer than 255 characters or not in percent-encoding'],
  ] as const) {
    assert.deepEqual(
      parseConditions(`email.empty;${text}`, 'any').issues,
      [{ path: 'where', message: `condition 2 ${message}` }],
      text,
    )
  }
  assert.deepEqual(parseConditions('email.empty;'.repeat(21), 'all').issues, [
    { path: 'where', message: 'must have at most 20 conditions' },
  ])
})
