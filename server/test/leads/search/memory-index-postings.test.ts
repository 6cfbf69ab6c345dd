import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { candidateSlots, postingsOf } from '../../../src/leads/search/memory-index/postings.ts'

// Few different characters, so that grams are shared; and many empty slots, so that lists take long steps.
const line = fc.string({ unit: fc.constantFrom('1', '2', ' ', 'a', 'é', '\u0001'), maxLength: 12 })
const slots = fc
  .array(fc.tuple(line, fc.nat({ max: 600 })), { minLength: 1, maxLength: 20 })
  .map((lines) => lines.flatMap(([text, gap]) => [text, ...Array.from({ length: gap }, () => '')]))
const term = fc.string({ unit: fc.constantFrom('1', '2', ' ', 'a', 'é'), minLength: 3, maxLength: 6 })

test('the lists of grams name every slot that holds a term, and no other when they say that they are exact', () => {
  fc.assert(
    fc.property(slots, term, (texts, wanted) => {
      const starts = new Uint32Array(texts.length + 1)
      for (const [slot, text] of texts.entries()) starts[slot + 1] = (starts[slot] ?? 0) + Buffer.byteLength(text)
      const postings = postingsOf(Buffer.from(texts.join('')), starts, texts.length)
      const found = candidateSlots(postings, Buffer.from(wanted))
      const holding = texts.flatMap((text, slot) => (text.includes(wanted) ? [slot] : []))
      if (found === null) return assert.doesNotMatch(wanted, / |[12]{3}/)
      const listed = [...found.slots]
      assert.deepEqual(
        listed.toSorted((a, b) => a - b),
        listed,
      )
      if (found.isExact) assert.deepEqual(listed, holding)
      else assert.ok(holding.every((slot) => listed.includes(slot)))
    }),
    { numRuns: 100 },
  )
})
