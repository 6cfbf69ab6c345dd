import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../../src/base/id.ts'
import { claimDue, knownFiles } from '../../../src/inbox/media/fetch-queries.ts'
import { deleteMediaOf } from '../../../src/inbox/media/media-queries.ts'
import { retryMedia } from '../../../src/inbox/media/retry-media.ts'
import { everyStatementOf } from '../../support/database.ts'
import { inboxWorld } from '../../support/inbox/inbox-world.ts'
import { mediaWorld } from '../../support/inbox/media-world.ts'
import { badPlans, forgetStatistics, waysTo } from '../../support/plans.ts'

const w = await mediaWorld()
const { db, clock, workspaceId, conversationId } = w
await db.sql`
  insert into media (
    workspace_id, id, conversation_id, connection_id, message_id, direction, kind, state, details, stored_as, due_at,
    created_at, updated_at
  )
  select ${workspaceId}::uuid, gen_random_uuid(), ${conversationId}::uuid, ${w.connectionId}::uuid, gen_random_uuid(),
    'inbound', 'image', case when n % 100 = 0 then 'coming' else 'here' end, '\\x00',
    case when n % 100 = 0 then null else gen_random_uuid() end,
    case when n % 100 = 0 then ${clock.now()}::timestamptz end, now(), now()
  from generate_series(1, 20000) as n`
const id = await w.coming({})
const [until, now] = [new Date(clock.now().getTime() + 60_000), clock.now()]
const busy = { free: 8, perWorkspace: 4, running: new Map<string, number>() }

for (const statistics of ['counted', 'not counted'] as const) {
  test(`files are found by index, with rows that are ${statistics}`, async () => {
    if (statistics === 'counted') await db.sql`analyze media`
    else await forgetStatistics(db, ['media'])
    const statements = await everyStatementOf(async () => {
      await knownFiles(db.sql, [newId(now)])
      await retryMedia(w, workspaceId, id)
      await db.tx((tx) => deleteMediaOf(tx, workspaceId, [newId(now)]))
    })
    const ofMedia = statements.filter(({ text }) => /\bmedia\b/.test(text))
    assert.ok(ofMedia.length >= 3)
    assert.deepEqual(await badPlans(db, ofMedia, ['media']), [])
  })

  test(`whoever looks for what is due reads nothing else, with rows that are ${statistics}`, async () => {
    if (statistics === 'counted') await db.sql`analyze media`
    else await forgetStatistics(db, ['media'])
    const [listing, claiming, ...others] = await everyStatementOf(
      async () => void (await claimDue(db, busy, now, until)),
    )
    assert.ok(listing && claiming)
    assert.deepEqual(others, [])
    // Of the rows that the index names, whichever way they are read.
    const ways = await waysTo(db, listing, 'media')
    assert.deepEqual([...new Set([...ways, 'Bitmap Heap Scan'])].sort(), ['Bitmap Heap Scan', 'media_due'])
    assert.deepEqual((await waysTo(db, claiming, 'media')).sort(), ['Tid Scan', 'media_due'])
  })
}

test('a look locks rows of no more workspaces than it has places, however many wait', async () => {
  await db.sql`delete from media`
  const rows = 5
  for (const other of [w, ...(await Promise.all(Array.from({ length: 5 }, inboxWorld)))]) {
    const { id: about } = other === w ? { id: conversationId } : await other.customerWrites('Hello')
    await db.sql`
      insert into media (
        workspace_id, id, conversation_id, connection_id, message_id, direction, kind, state, details, due_at,
        created_at, updated_at
      )
      select ${other.workspaceId}::uuid, gen_random_uuid(), ${about}::uuid, ${other.connectionId}::uuid,
        gen_random_uuid(), 'inbound', 'image', 'coming', '\\x00', ${now}::timestamptz, now(), now()
      from generate_series(1, ${rows}) as n`
  }
  await db.tx(async (tx) => {
    const claimed = await claimDue({ ...db, sql: tx, statement: (work) => work(tx) }, { ...busy, free: 2 }, now, until)
    assert.equal(new Set(claimed.map((claim) => claim.workspaceId)).size, 2)
    const [locked] = await tx<{ rows: number }[]>`select count(*)::int as rows from media where xmax <> '0'::xid`
    assert.ok((locked?.rows ?? 99) <= 2 * busy.perWorkspace, `${locked?.rows} rows are locked`)
  })
})
