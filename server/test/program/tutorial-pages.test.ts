import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertShows } from '../support/program/tutorial.ts'

const comparisons: [page: string, shown: string, isSame: boolean][] = [
  ['{"id":"<lead id>", … }', '{"id":"7","name":"Ana"}', true],
  ['{"id":"<lead id>", … }', '{"name":"Ana"}', false],
  ['{"id":"<lead id>"}\n{"lead":"<lead id>"}', '{"id":"7"}{"lead":"7"}', true],
  ['{"id":"<lead id>"}\n{"lead":"<lead id>"}', '{"id":"7"}{"lead":"8"}', false],
  ['{"key":"<known>"}', '{"key":"plk_1"}', true],
  ['{"key":"<known>"}', '{"key":"plk_2"}', false],
  ['a … c', 'a b c d', false],
]

test('a page is right when it shows what the program does, with one value for each name', () => {
  for (const [page, shown, isSame] of comparisons) {
    const compare = () => assertShows(shown, page, new Map([['known', 'plk_1']]))
    if (isSame) compare()
    else assert.throws(compare, /The page says/, `${page} is not ${shown}`)
  }
})
