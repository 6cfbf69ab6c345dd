import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase } from '../support/database.ts'
import { type SignedIn, teamWorld } from '../support/team-app.ts'

const { db } = await testDatabase()
const { app, team, send } = await teamWorld(db)
after(() => app.close())

async function create(admin: SignedIn, workspaceId: string, name: string, color = 'violet') {
  return send(admin, 'POST', `/workspaces/${workspaceId}/labels`, { name, color })
}

test('labels are created, renamed, recoloured, listed by name and deleted', async () => {
  const { workspaceId, admin, member } = await team()
  const path = `/workspaces/${workspaceId}/labels`
  const vip = (await create(admin, workspaceId, ' VIP ')).json().label
  assert.equal(vip.name, 'VIP')
  await create(admin, workspaceId, 'angry', 'red')
  assert.equal((await send(admin, 'PATCH', `${path}/${vip.id}`, { color: 'green' })).json().label.name, 'VIP')
  assert.equal((await send(admin, 'PATCH', `${path}/${vip.id}`, { name: 'Big' })).json().label.color, 'green')
  const names = async () => (await send(member, 'GET', path)).json().labels.map((label: { name: string }) => label.name)
  assert.deepEqual(await names(), ['angry', 'Big'])
  assert.equal((await send(admin, 'DELETE', `${path}/${vip.id}`)).statusCode, 200)
  assert.equal((await send(admin, 'DELETE', `${path}/${vip.id}`)).statusCode, 404)
  assert.deepEqual(await names(), ['angry'])
})

test('the log says who did what to which label, however its id was written', async () => {
  const { workspaceId, admin } = await team()
  const { id } = (await create(admin, workspaceId, 'VIP')).json().label
  const path = `/workspaces/${workspaceId}/labels/${id.toUpperCase()}`
  await send(admin, 'PATCH', path, { color: 'green' })
  await send(admin, 'DELETE', path)
  const log = await db.sql<{ action: string; target: string }[]>`
    select action, target
    from audit_log
    where scope_id = ${workspaceId}
      and action like 'label.%'
    order by id`
  const actions = ['label.created', 'label.changed', 'label.deleted']
  assert.deepEqual(
    log.map(({ action, target }) => [action, target]),
    actions.map((action) => [action, `label:${id}`]),
  )
})

test('a name is taken whatever its case, in this workspace alone', async () => {
  const [here, elsewhere] = [await team(), await team()]
  await create(here.admin, here.workspaceId, 'VIP')
  const other = (await create(here.admin, here.workspaceId, 'Other')).json().label
  const taken = await create(here.admin, here.workspaceId, 'vip')
  assert.equal(taken.statusCode, 409)
  assert.deepEqual(taken.json().data, { field: 'name' })
  const path = `/workspaces/${here.workspaceId}/labels/${other.id}`
  assert.equal((await send(here.admin, 'PATCH', path, { name: 'VIP' })).statusCode, 409)
  assert.equal((await create(elsewhere.admin, elsewhere.workspaceId, 'VIP')).statusCode, 201)
})

test('a workspace has at most 200 labels, also when two take the last place at once', async () => {
  const { workspaceId, admin } = await team()
  await db.tx(
    (tx) => tx`
      insert into labels (workspace_id, id, name, color, created_at)
      select ${workspaceId}, gen_random_uuid(), 'label ' || n, 'grey', now()
      from generate_series(1, 199) n`,
  )
  const answers = await Promise.all(['a', 'b', 'c'].map((name) => create(admin, workspaceId, name)))
  assert.deepEqual(answers.map((answer) => answer.statusCode).sort(), [201, 409, 409])
})

for (const [what, body] of [
  ['an empty name', { name: ' ', color: 'red' }],
  ['a name of 51 characters', { name: 'x'.repeat(51), color: 'red' }],
  ['an unknown colour', { name: 'VIP', color: 'mauve' }],
  ['an unknown field', { name: 'VIP', color: 'red', icon: 'star' }],
] as const) {
  test(`a label with ${what} is refused`, async () => {
    const { workspaceId, admin } = await team()
    assert.equal((await send(admin, 'POST', `/workspaces/${workspaceId}/labels`, body)).statusCode, 400)
  })
}
