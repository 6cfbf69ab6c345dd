import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { collationKey, languages } from '../../../src/leads/search/arranged/collation.ts'
import { readConditions } from '../../../src/leads/search/arranged/conditions.ts'
import { comparePlaces, type Place } from '../../../src/leads/search/arranged/order.ts'
import { noFilter } from '../../../src/leads/search/list-filter.ts'
import { answerArranged } from '../../../src/leads/search/memory-index/arranged-query.ts'
import { valuesText } from '../../../src/leads/search/memory-index/lead-values.ts'
import { newMemoryIndex, putLead, removeLead } from '../../../src/leads/search/memory-index/memory-index.ts'

test('texts stand where the collation of their language has them', () => {
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

test('what reads as conditions is kept, and anything else is refused by what is wrong with it', () => {
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
    assert.deepEqual(readConditions(text, 'all'), { conditions: { match: 'all', list }, issues: [] }, text)
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
      readConditions(`email.empty;${text}`, 'any').issues,
      [{ path: 'where', message: `condition 2 ${message}` }],
      text,
    )
  }
  assert.deepEqual(readConditions('email.empty;'.repeat(21), 'all').issues, [
    { path: 'where', message: 'must have at most 20 conditions' },
  ])
})

test('what is empty stands last in both directions, and what is equal by id', () => {
  const places: Place[] = [
    { key: null, id: 'b' },
    { key: 2, id: 'c' },
    { key: null, id: 'a' },
    { key: 1, id: 'e' },
    { key: 2, id: 'd' },
  ]
  const sorted = (order: 'asc' | 'desc') => [...places].sort(comparePlaces(order)).map(({ id }) => id)
  assert.equal(sorted('asc').join(''), 'ecdab')
  assert.equal(sorted('desc').join(''), 'dceba')
})

test('what passes is remembered while leads change: one that goes is one less, and only new ones are looked at', async () => {
  const shape = { tailSlots: 4, segmentSlots: 64, holds: 'values' } as const
  const index = newMemoryIndex(shape)
  const lead = (n: number, email: string | null) => ({
    id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    created: n,
    updated: n,
    ...{ status: 'new', priority: 'low', source: 'ads', adPlatform: null, assignee: null },
    text: valuesText({
      ...{ firstName: `Ana ${n}`, lastName: null, email, phone: null, uniqueCode: `C${n}`, externalRef: null },
      ...{ hasNotes: false, customTexts: [] },
    }),
  })
  for (let n = 0; n < 8; n++) putLead(index, shape, lead(n, n % 2 === 0 ? null : 'a@example.com'))
  const { conditions } = readConditions('email.empty', 'all')
  const arrangement = { by: 'uniqueCode', order: 'asc', language: 'en', choices: [] } as const
  const query = {
    filter: noFilter,
    conditions,
    term: null,
    arrangement,
    after: null,
    offset: 0,
    limit: 10,
    needsTotal: true,
  }
  const found = async () => {
    const { places, total } = await answerArranged(index, query)
    assert.equal(total, places.length)
    return places.map(({ id }) => Number(id.slice(-2)))
  }
  assert.deepEqual(await found(), [0, 2, 4, 6])
  const [segment] = index.segments
  const kept = [...(segment?.marks.values() ?? [])]
  assert.equal(kept.length, 1)
  removeLead(index, lead(2, null))
  putLead(index, shape, lead(1, null))
  putLead(index, shape, lead(0, 'b@example.com'))
  assert.deepEqual([...(segment?.marks.values() ?? [])], kept, 'the segment is not looked at anew')
  assert.deepEqual(await found(), [1, 4, 6])
})
