import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchesTerm, readSearchTerm, type Searchable } from '../../../src/leads/lead/search-lines.ts'
import { noFilter } from '../../../src/leads/search/list-filter.ts'
import { leadText } from '../../../src/leads/search/memory-index/indexed-text.ts'
import { valuesText } from '../../../src/leads/search/memory-index/lead-values.ts'
import {
  appendLead,
  type IndexShape,
  newMemoryIndex,
  putLead,
  removeLead,
} from '../../../src/leads/search/memory-index/memory-index.ts'
import { searchedValues } from '../../../src/leads/search/memory-index/searched-values.ts'
import { idText, newSegment, seal } from '../../../src/leads/search/memory-index/segment.ts'

interface Known extends Searchable {
  id: string
  created: number
  status: string
}

const idOf = (n: number) => `01900000-0000-7000-8000-${((n * 2_654_435_761) >>> 0).toString(16).padStart(12, '0')}`
const nothing = { updated: 0, priority: null, source: null, adPlatform: null, assignee: null }
const textsOf = (lead: Known) => ({ ...nothing, ...lead, text: leadText(lead) })
const valuesOf = (lead: Known) => ({
  ...nothing,
  ...lead,
  text: valuesText({ ...lead, hasNotes: false, customTexts: [] }),
})
test('what is found in large segments is marked lead by lead, also where one of them has lost some or has another order', () => {
  const leads = Array.from({ length: 3000 }, (_, n): Known => {
    const [firstName, lastName] = [n % 3 === 0 ? 'Maria' : 'José', n % 1000 === 5 ? 'Zanetti' : 'Silva']
    const plain = { email: null, phone: null, externalRef: null, uniqueCode: `c${n}` }
    return { id: idOf(n), created: 1 + Math.floor(n / 100), status: 'new', firstName, lastName, ...plain }
  })
  const inOrder = leads.toSorted((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1))
  const sealed = (of: readonly Known[], shape: IndexShape, entry: (lead: Known) => ReturnType<typeof textsOf>) => {
    const index = newMemoryIndex(shape)
    const segment = newSegment(of.length, shape.holds)
    for (const lead of of) appendLead(index, segment, entry(lead))
    index.segments.push(seal(segment))
    return index
  }
  const shape = { tailSlots: 64, segmentSlots: 65_536 }
  const texts = sealed(inOrder, shape, textsOf)
  const shown = leads.filter((_, n) => n % 50 !== 0)
  const valuesShape = { ...shape, holds: 'values' } as const
  const ways = [
    { values: sealed(inOrder, valuesShape, valuesOf), known: leads },
    {
      values: sealed(
        inOrder.filter((lead) => shown.includes(lead)),
        valuesShape,
        valuesOf,
      ),
      known: shown,
    },
    { values: sealed(leads, valuesShape, valuesOf), known: leads },
  ]
  for (const { values, known } of ways) {
    for (const [n, lead] of known.entries()) {
      if (n % 40 === 0) putLead(values, valuesShape, valuesOf(lead))
      if (n % 97 === 0) removeLead(values, lead)
    }
    const there = known.filter((_, n) => n % 97 !== 0)
    for (const search of ['maria', 'silva', 'zanetti', 'nobody']) {
      const term = readSearchTerm(search)
      assert.ok(term)
      const found = [...searchedValues(values, texts, { filter: noFilter, term })].flatMap(
        ([segment, { marks, count }]) => {
          const ids = [...marks.entries()].flatMap(([slot, mark]) => (mark === 1 ? [idText(segment, slot)] : []))
          assert.equal(ids.length, count)
          return ids
        },
      )
      const wanted = there.filter((lead) => matchesTerm(lead, term)).map(({ id }) => id)
      assert.deepEqual(found.sort(), wanted.sort(), search)
    }
  }
})
