import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createUser, findUserByEmail } from '../../src/auth/users/users.ts'
import { instanceScope } from '../../src/base/encryption/key-store.ts'
import { findConnection } from '../../src/channels/connection/queries.ts'
import { runNextStep } from '../../src/key-rotation/rotation.ts'
import { openNode, testDatabase } from '../support/database.ts'
import { atEnd } from '../support/file-lifecycle.ts'
import { inboxWorld } from '../support/inbox/inbox-world.ts'
import {
  drainRotations,
  oldRows,
  requestRotation,
  rotate,
  rotationDeps,
  rotationsPath,
} from '../support/key-rotation/rotate-keys.ts'
import { leadPath, leadsPath } from '../support/leads/leads.ts'
import { testTeamToken, type World, world } from '../support/world.ts'

test('rotating keys leaves no old rows and does not change results', async () => {
  const scopes = ['leads.read', 'leads.write', 'leads.bulk', 'inbox.read', 'inbox.write'] as const
  const w = await inboxWorld({ key: { scopes: [...scopes] } })
  // More than are rewritten at once.
  for (let from = 0; from < 210; from += 70) {
    const items = Array.from({ length: 70 }, (_, at) => {
      const [firstName, phone] = [`Lead${from + at}`, `55819${10_000_000 + from + at}`]
      return { match: { by: 'phone', value: phone }, lead: { firstName, phone, notes: 'note' } }
    })
    assert.equal((await w.call('POST', `${leadsPath}/bulk-upsert`, { body: { items } })).status, 200)
  }
  for (const purpose of ['data', 'index'] as const) {
    const conversation = await w.customerWrites('Good morning')
    const before = await everything(w)
    const connection = async () =>
      findConnection(w.db.sql, await w.keyStore.keyring(w.workspaceId), w.workspaceId, w.connectionId)
    const opened = await connection()
    await rotate(w, purpose)
    assert.deepEqual([await everything(w), await connection()], [before, opened])
    assert.deepEqual(await oldRows(w.db, w.workspaceId, purpose, 2), [])
    assert.equal((await w.customerWrites('And again')).id, conversation.id)
    assert.equal((await w.call('GET', leadPath('5581910000007'))).body.data.firstName, 'Lead7')
    const found = await w.call('GET', leadsPath, { query: { search: 'ead20', limit: '100' } })
    assert.equal(found.body.data.length, 11)
  }
})

test('unused index keys are not searched, and old data keys still decrypt', async () => {
  const w = await world()
  await w.lead()
  await rotate(w, 'index')
  await rotate(w, 'data')
  const keyring = await w.keyStore.keyring(w.workspaceId)
  assert.deepEqual(keyring.indexVersions, [2])
  assert.equal(keyring.dataVersion, 2)
  const secrets = await w.db.sql`
    select purpose, version, current, retired_at is not null as retired
    from secrets
    where scope_id = ${w.workspaceId}
    order by purpose, version`
  assert.deepEqual(
    secrets.map(
      (row) => `${row.purpose} ${row.version} ${row.current ? 'current' : ''}${row.retired ? 'retired' : ''}`,
    ),
    ['data 1 retired', 'data 2 current', 'index 1 retired', 'index 2 current', 'stable 1 current'],
  )
})

test('a new key is used for writes only after every node has had time to load it', async () => {
  const w = await world()
  await requestRotation(w, { purpose: 'data', workspaceId: w.workspaceId })
  const deps = rotationDeps(w.db, w.keyStore, w.clock)
  w.clock.advance(29_999)
  assert.equal(await runNextStep(deps), false)
  assert.equal((await w.keyStore.keyring(w.workspaceId)).dataVersion, 1)
  w.clock.advance(1)
  assert.equal(await runNextStep(deps), true)
  assert.equal(await runNextStep(deps), false)
  w.clock.advance(10_000)
  assert.equal((await w.keyStore.keyring(w.workspaceId)).dataVersion, 2)
  await drainRotations(w)
})

test('repeating the request continues the same rotation, and another purpose must wait', async () => {
  const w = await world()
  const first = await requestRotation(w, { purpose: 'data', workspaceId: w.workspaceId })
  w.clock.advance(1_000)
  const again = await Promise.all(
    [1, 2, 3].map(() => requestRotation(w, { purpose: 'data', workspaceId: w.workspaceId })),
  )
  assert.deepEqual(again, [first, first, first])
  const body = { purpose: 'index', workspaceId: w.workspaceId }
  const other = await w.call('POST', rotationsPath, { body, key: testTeamToken })
  assert.equal(other.status, 409)
  assert.match(other.body.statusMessage, /rotation of the data key is running/)
  await drainRotations(w)
  await rotate(w, 'index')
})

test('a value that cannot be decrypted is not changed, and the rotation completes', async () => {
  const w = await world()
  const [broken, whole] = [await w.lead({ notes: 'torn' }), await w.lead({ notes: 'whole' })]
  await w.db.sql`
    update leads
    set notes = set_byte(notes, 30, (get_byte(notes, 30) + 1) % 256)
    where id = ${broken.id}`
  await rotate(w, 'data')
  const [row] = await w.db.sql`
    select rows_broken
    from key_rotations
    where scope_id = ${w.workspaceId}`
  assert.equal(row?.rows_broken, 1)
  assert.equal((await w.call('GET', leadPath(whole.id))).body.data.notes, 'whole')
})

test('a locked row is skipped, and rewritten in the next pass', async () => {
  const w = await world()
  const { id } = await w.lead({ notes: 'n' })
  await w.lead({ notes: 'm' })
  await requestRotation(w, { purpose: 'data', workspaceId: w.workspaceId })
  const deps = rotationDeps(w.db, w.keyStore, w.clock)
  for (const _ of ['current', 'counted']) {
    w.clock.advance(30_000)
    await runNextStep(deps)
  }
  const { options } = await testDatabase()
  const outside = openNode({ ...options, maxConnections: 1 })
  atEnd(() => outside.close())
  await outside.tx(async (tx) => {
    await tx`select id from leads where workspace_id = ${w.workspaceId} and id = ${id} for update`
    while (await runNextStep(deps));
    assert.equal((await oldRows(w.db, w.workspaceId, 'data', 2)).length, 2)
  })
  await drainRotations(w)
  assert.deepEqual(await oldRows(w.db, w.workspaceId, 'data', 2), [])
})

test('all workspaces and users are rotated together, and users are found by e-mail throughout', async () => {
  const w = await world()
  await w.lead()
  const { db, keyStore, clock } = w
  const person = { name: 'Ana', email: `ana@${w.workspaceId}.test`, passwordHash: null, isOperator: false }
  const add = async () => {
    const keys = await keyStore.keyring(instanceScope)
    return db.tx((tx) => createUser(tx, keys, person, clock.now()))
  }
  const id = await add()
  const progress = await requestRotation(w, { purpose: 'index' })
  assert.ok(progress.running >= 2)
  const deps = rotationDeps(db, keyStore, clock)
  for (const _ of ['announced', 'current', 'rewriting', 'done', 'known to all']) {
    const found = await findUserByEmail(db.sql, await keyStore.keyring(instanceScope), person.email.toUpperCase())
    assert.equal(found?.id, id)
    await assert.rejects(add(), /already exists/)
    while (await runNextStep(deps));
    clock.advance(30_000)
  }
  await drainRotations(w)
  const after = await w.call('GET', rotationsPath, { query: { since: progress.since }, key: testTeamToken })
  assert.equal(after.body.running, 0)
  assert.equal(after.body.rowsDone, after.body.rowsTotal)
  assert.deepEqual((await w.keyStore.keyring(instanceScope)).indexVersions, [2])
})

/** Everything visible in the workspace, and its events. */
async function everything(w: World): Promise<unknown> {
  const { db, workspaceId } = w
  const leads = await w.call('GET', leadsPath, { query: { limit: '100', search: 'lead' } })
  const conversations = await w.call('GET', '/api/v1/inbox/conversations')
  const [told] =
    await db.sql`select count(*) as events, max(id::text) as last from events where workspace_id = ${workspaceId}`
  const times = await db.sql`
    select id, updated_at, created_at from leads where workspace_id = ${workspaceId}
    union all
    select id, updated_at, created_at from conversations where workspace_id = ${workspaceId}
    order by id`
  assert.equal(leads.status, 200)
  assert.equal(conversations.status, 200)
  const [history] = await db.sql`select count(*) as count from lead_status_changes where workspace_id = ${workspaceId}`
  return {
    leads: leads.body.data,
    total: leads.body.pagination.total,
    conversations: conversations.body,
    told,
    times: [...times],
    history,
  }
}
