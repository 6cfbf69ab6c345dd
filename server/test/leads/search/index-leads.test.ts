import assert from 'node:assert/strict'
import { test } from 'node:test'
import { removeOldEvents } from '../../../src/events/retention.ts'
import { createSequencer } from '../../../src/events/sequence.ts'
import {
  collectChangedFeeds,
  indexChangedFeeds,
  indexLeads,
  readIndexedPosition,
} from '../../../src/leads/search/index-leads.ts'
import { openNode, statementCountOf, testDatabase } from '../../support/database.ts'
import { atEnd } from '../../support/file-lifecycle.ts'
import { leadPath, leadsPath } from '../../support/leads/leads.ts'
import { pick } from '../../support/pick.ts'
import { makeTokens } from '../../support/tokens.ts'
import { type World, world } from '../../support/world.ts'

/** Returns the leads that have tokens, with a mark that changes on every write. */
async function tokensOf({ db, workspaceId }: World): Promise<Map<string, string>> {
  const rows = await db.sql<{ lead_id: string; mark: string }[]>`
    select lead_id, ctid::text || xmin::text as mark
    from lead_search
    where workspace_id = ${workspaceId}`
  return new Map(rows.map((row) => [row.lead_id, row.mark]))
}

async function find(w: World, search: string): Promise<string[]> {
  const { status, body } = await w.call('GET', leadsPath, { query: { search, limit: '100' } })
  assert.equal(status, 200)
  assert.equal(body.pagination.total, body.data.length)
  return pick(body.data, 'id')
}

test('tokens of a lead that was deleted during indexing are removed in the next run', async () => {
  const w = await world()
  const { id } = await w.lead()
  await makeTokens(w)
  const [row] = await w.db.sql`select * from lead_search where lead_id = ${id}`
  await w.call('DELETE', leadPath(id))
  await w.db.sql`insert into lead_search ${w.db.sql.row(row ?? {})}`
  await makeTokens(w)
  assert.equal((await tokensOf(w)).size, 0)
})

test('an event is kept until it is indexed, regardless of its age', async () => {
  const w = await world()
  const { id } = await w.lead({ firstName: 'Methuselah' })
  await w.sequencer.sequence(w.workspaceId)
  w.clock.advance(31 * 24 * 3_600_000)
  await removeOldEvents(w.db, w.clock, readIndexedPosition)
  assert.equal((await w.events(id)).length, 1)
  assert.deepEqual(await find(w, 'methusel'), [id])
  await makeTokens(w)
  await removeOldEvents(w.db, w.clock, readIndexedPosition)
  assert.equal((await w.events(id)).length, 0)
  assert.deepEqual(await find(w, 'methusel'), [id])
})

test('a lead that cannot be decrypted does not block others', async () => {
  const w = await world()
  const broken = await w.lead({ firstName: 'Broken' })
  await w.db.sql`update leads set person = ${Buffer.alloc(64)} where id = ${broken.id}`
  const { id } = await w.lead({ firstName: 'Whole' })
  await makeTokens(w)
  assert.deepEqual([...(await tokensOf(w)).keys()], [id])
  assert.deepEqual(await find(w, 'whole'), [id])
})

test('if a worker dies, the next one completes its work', async () => {
  const w = await world()
  const { id } = await w.lead({ firstName: 'Phoenix' })
  await w.sequencer.sequence(w.workspaceId)
  const tx: World['db']['tx'] = (work) =>
    w.db.tx(async (inner) => {
      await work(inner)
      throw new Error('dead')
    })
  const dying = { ...w.db, tx }
  await assert.rejects(indexLeads({ db: dying, keyStore: w.keyStore }), /dead/)
  assert.deepEqual([(await tokensOf(w)).size, await readIndexedPosition(w.db.sql, w.workspaceId)], [0, 0])
  assert.deepEqual(await find(w, 'phoenix'), [id])
  await makeTokens(w)
  assert.deepEqual([...(await tokensOf(w)).keys()], [id])
})

test('a worker without changed feeds runs no query; a feed changed without a notification is found within 30 s', async () => {
  const w = await world()
  const heard = collectChangedFeeds(w)
  const index = () => indexChangedFeeds(w, heard)
  while ((await index()) > 0);
  const { id } = await w.lead()
  await w.sequencer.sequence(w.workspaceId)
  assert.ok((await index()) > 0)
  assert.deepEqual([...(await tokensOf(w)).keys()], [id])
  assert.equal(await statementCountOf(index), 0)

  const other = openNode((await testDatabase()).options)
  atEnd(() => other.close())
  const { id: unheard } = await w.lead()
  await createSequencer(other).sequence(w.workspaceId)
  assert.equal(await statementCountOf(index), 0)
  w.clock.advance(30_000)
  await index()
  assert.deepEqual([...(await tokensOf(w)).keys()].toSorted(), [id, unheard].toSorted())
})

test('after a failed run a worker searches for all pending feeds', async () => {
  const w = await world()
  const heard = collectChangedFeeds(w)
  while ((await indexChangedFeeds(w, heard)) > 0);
  const { id } = await w.lead()
  await w.sequencer.sequence(w.workspaceId)
  const tx = () => Promise.reject(new Error('The database is dead'))
  await assert.rejects(indexChangedFeeds({ db: { ...w.db, tx }, keyStore: w.keyStore }, heard), /dead/)
  await indexChangedFeeds(w, heard)
  assert.deepEqual([...(await tokensOf(w)).keys()], [id])
})

// --- leads indexed by an earlier version ---

/** Leaves the workspace as an earlier version would, with some tokens missing. */
async function makeOld(w: World, lacking: readonly number[]): Promise<void> {
  await w.db.sql`
    update lead_search
    set tokens = (select array_agg(token) from unnest(tokens) as token where token <> all (${lacking}::integer[]))
    where workspace_id = ${w.workspaceId}
      and tokens && ${lacking}::integer[]`
  await w.db.sql`
    update lead_search_feeds
    set rules = 1
    where workspace_id = ${w.workspaceId}`
}

test('leads indexed by an earlier version match short terms after the next run, and until then as before', async () => {
  const w = await world()
  const { id } = await w.lead({ firstName: 'Li', lastName: '王伟', externalRef: '客户-7' })
  const other = await w.lead({ firstName: 'Marina' })
  await makeTokens(w)
  const keyring = await w.keyStore.keyring(w.workspaceId)
  await makeOld(w, keyring.tokens(['\u0002li', '\u0003', '王伟', '客户']))
  const before = await tokensOf(w)
  for (const term of ['li', '王伟', '王']) assert.deepEqual(await find(w, term), [], term)
  for (const term of ['客户', 'li 王', 'i 王']) assert.deepEqual(await find(w, term), [id], term)
  while ((await indexLeads(w)) > 0);
  for (const term of ['li', '王伟', '王', '客户', 'li 王']) assert.deepEqual(await find(w, term), [id], term)
  const after = await tokensOf(w)
  assert.notEqual(after.get(id), before.get(id))
  assert.equal(after.get(other.id), before.get(other.id), 'tokens that are right are not written')
})
