import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSearchTerm } from '../../../src/leads/lead/search-lines.ts'
import { noFilter } from '../../../src/leads/search/list-filter.ts'
import type { ArrangedQuery } from '../../../src/leads/search/memory-index/arranged-query.ts'
import { openIndexCache } from '../../../src/leads/search/memory-index/index-cache.ts'
import { smallShape } from '../../support/leads/memory-index-world.ts'
import { world } from '../../support/world.ts'

// Searches in the order of values, of which the index of texts says what they find.

const byName: ArrangedQuery = {
  filter: noFilter,
  conditions: { match: 'all', list: [] },
  term: readSearchTerm('maria'),
  arrangement: { by: 'name', order: 'asc', language: 'pt', choices: [] },
  after: null,
  offset: 0,
  limit: 10,
  needsTotal: true,
}

async function stage(maxBytes: number, minSearched: number) {
  const w = await world()
  const ids = []
  for (const lastName of ['Zanetti', 'Silva', 'Alves']) ids.push((await w.lead({ firstName: 'Maria', lastName })).id)
  for (let n = 0; n < 20; n++) await w.lead({ firstName: `Other ${n}` })
  const built: (() => void)[] = []
  const troubles: string[] = []
  const cache = openIndexCache({
    db: w.db,
    vault: w.vault,
    limits: { maxBytes, idleMs: 600_000, minSearched, shape: smallShape },
    onBuilt: () => built.shift()?.(),
    onTrouble: (_, error) => void troubles.push(String(error)),
  })
  assert.equal(await cache.warm(w.workspaceId, 0, 'values'), true)
  const nextBuilt = () => new Promise<void>((resolve) => built.push(resolve))
  // A build that the last search begins may outlive its test, and find the database closed: that is no trouble of any search.
  const search = async (nowMs: number) => {
    const { answer } = await cache.arrange(w.workspaceId, byName, nowMs)
    assert.deepEqual(troubles, [])
    return answer
  }
  return { w, ids, search, nextBuilt, cache }
}

test('a search in the order of values has the index of texts built beside it, and asks it from then on', async () => {
  const { w, ids, search, nextBuilt } = await stage(100_000_000, 20)
  // Without an event, so that only an index which is built later knows of it.
  await w.db.sql`delete from leads where id = ${ids[1]}`
  const built = nextBuilt()
  const first = await search(1)
  assert.deepEqual([first?.total, first?.places.map(({ id }) => id)], [3, [ids[2], ids[1], ids[0]]])
  await built
  const second = await search(2)
  assert.deepEqual([second?.total, second?.places.map(({ id }) => id)], [2, [ids[2], ids[0]]])
})

test('few leads are searched in the order of values without an index of texts', async () => {
  const { w, search, cache } = await stage(100_000_000, 24)
  assert.equal((await search(1))?.total, 3)
  const { exists } = await cache.find(
    w.workspaceId,
    'text',
    { ...byName, sort: { by: 'createdAt', order: 'asc' }, after: null },
    2,
  )
  assert.equal(exists, false)
})

test('where both do not fit, the index of texts that a search wants does not take the place of the values', async () => {
  const { search } = await stage(90_000, 20)
  for (let n = 0; n < 8; n++) assert.equal((await search(n * 31_000))?.total, 3, `after ${n} tries`)
})
