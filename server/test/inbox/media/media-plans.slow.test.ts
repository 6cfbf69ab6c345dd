import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../../src/base/id.ts'
import { claimDue, findReferencedFiles } from '../../../src/inbox/media/fetch-queries.ts'
import { deleteMediaOf } from '../../../src/inbox/media/media-queries.ts'
import { retryMedia } from '../../../src/inbox/team-api/files/file-routes.ts'
import { everyStatementOf } from '../../support/database.ts'
import { type InboxWorld, inboxWorld } from '../../support/inbox/inbox-world.ts'
import { mediaWorld } from '../../support/inbox/media-world.ts'
import { accessPathsTo, clearStatistics, findBadPlans } from '../../support/query-plans.ts'

const w = await mediaWorld()
const { db, clock, workspaceId, conversationId } = w
const [until, now] = [new Date(clock.now().getTime() + 60_000), clock.now()]
const busy = { free: 8, perWorkspace: 4, running: new Map<string, number>() }

/** Inserts `count` files of a conversation, of which every `each`-th is still to be downloaded. */
const fill = (one: InboxWorld, about: string, count: number, each: number) => db.sql`
  insert into media (
    workspace_id, id, conversation_id, connection_id, message_id, direction, kind, state, details, stored_as, due_at,
    created_at, updated_at
  )
  select ${one.workspaceId}::uuid, gen_random_uuid(), ${about}::uuid, ${one.connectionId}::uuid, gen_random_uuid(),
    'inbound', 'image', case when n % ${each} = 0 then 'coming' else 'here' end, '\\x00',
    case when n % ${each} = 0 then null else gen_random_uuid() end,
    case when n % ${each} = 0 then ${now}::timestamptz end, now(), now()
  from generate_series(1, ${count}) as n`
await fill(w, conversationId, 20_000, 100)
const id = await w.coming({})

for (const statistics of ['counted', 'not counted'] as const) {
  test(`files are found by index, and due ones by a dedicated index, with rows that are ${statistics}`, async () => {
    if (statistics === 'counted') await db.sql`analyze media`
    else await clearStatistics(db, ['media'])
    const statements = await everyStatementOf(async () => {
      await findReferencedFiles(db.sql, [newId(now)])
      await retryMedia(w, workspaceId, id)
      await db.tx((tx) => deleteMediaOf(tx, workspaceId, [newId(now)]))
    })
    const ofMedia = statements.filter(({ text }) => /\bmedia\b/.test(text))
    assert.ok(ofMedia.length >= 3)
    assert.deepEqual(await findBadPlans(db, ofMedia, ['media']), [])
    const due = await everyStatementOf(async () => void (await claimDue(db, busy, now, until)))
    const [listing, claiming, ...others] = due
    assert.ok(listing && claiming && others.length === 0)
    // Reads only rows that the index returns, with any scan type.
    const ways = await accessPathsTo(db, listing, 'media')
    assert.deepEqual([...new Set([...ways, 'Bitmap Heap Scan'])].sort(), ['Bitmap Heap Scan', 'media_due'])
    assert.deepEqual((await accessPathsTo(db, claiming, 'media')).sort(), ['Tid Scan', 'media_due'])
  })
}

test('a claim locks rows of no more workspaces than there are slots, however many wait', async () => {
  await db.sql`delete from media`
  await fill(w, conversationId, 5, 1)
  for (let n = 0; n < 5; n++) {
    const other = await inboxWorld()
    await fill(other, (await other.customerWrites('Hello')).id, 5, 1)
  }
  await db.tx(async (tx) => {
    const claimed = await claimDue({ ...db, sql: tx, statement: (work) => work(tx) }, { ...busy, free: 2 }, now, until)
    assert.equal(new Set(claimed.map((claim) => claim.workspaceId)).size, 2)
    const locked = await tx`select from media where xmax <> '0'::xid`
    assert.ok(locked.length <= 2 * busy.perWorkspace, `${locked.length} rows are locked`)
  })
})
