import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../../src/base/id.ts'
import { addAgent, type InboxWorld, inboxPath, inboxWorld } from '../../support/inbox/inbox-world.ts'

const path = `${inboxPath}/templates`

async function addTemplate(w: InboxWorld, name: string, fields: object = {}): Promise<string> {
  const id = newId(w.clock.now())
  await w.db.sql`insert into templates ${w.db.sql.row({
    workspace_id: w.workspaceId,
    connection_id: w.connectionId,
    id,
    name,
    language: 'pt_BR',
    category: 'UTILITY',
    status: 'APPROVED',
    body: 'Hi {{1}}',
    parameter_names: null,
    parameter_count: 1,
    body_only: true,
    synced_at: w.clock.now(),
    ...fields,
  })}`
  return id
}

test("only approved templates are listed, in the contract's shape", async () => {
  const w = await inboxWorld()
  const id = await addTemplate(w, 'order')
  await addTemplate(w, 'rejected', { status: 'REJECTED' })
  await addTemplate(w, 'with_image', { body_only: false })
  assert.deepEqual((await w.call('GET', path)).body, {
    templates: [
      {
        id,
        connection_id: w.connectionId,
        name: 'order',
        language: 'pt_BR',
        category: 'UTILITY',
        body: 'Hi {{1}}',
        parameter_count: 1,
      },
    ],
  })
})

test('templates can be filtered by connection and are limited to those the key can see', async () => {
  const w = await inboxWorld()
  const other = await w.addConnection()
  await addTemplate(w, 'here')
  await addTemplate(w, 'there', { connection_id: other })
  const { value: key } = await addAgent(w, { connectionIds: [other] })
  const names = async (query: Record<string, string>, as = w.key) =>
    (await w.call('GET', path, { query, key: as })).body.templates.map((one: { name: string }) => one.name)
  assert.deepEqual(await names({}), ['here', 'there'])
  assert.deepEqual(await names({ connection_id: other }), ['there'])
  assert.deepEqual(await names({ connection_id: 'x' }), [])
  assert.deepEqual(await names({}, key), ['there'])
  assert.deepEqual(await names({ connection_id: w.connectionId }, key), [])
})
