import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signedInMember } from '../support/member.ts'
import { world } from '../support/world.ts'

const path = '/canned-replies'
const hours = { shortcut: 'hours', text: 'Hi {{contact.first_name}}, we are open from 9 to 18.' }

async function team() {
  const w = await world()
  return { w, admin: await signedInMember(w, 'admin'), member: await signedInMember(w) }
}

test('admins write canned replies, members use them, and the log says who changed what', async () => {
  const { w, admin, member } = await team()
  const { status, body } = await admin.call('POST', path, hours)
  assert.deepEqual([status, body.cannedReply.shortcut, body.cannedReply.text], [201, 'hours', hours.text])
  const { id } = body.cannedReply
  await admin.call('POST', path, { shortcut: 'address', text: 'Rua Azul 1' })
  const shortcuts = async () =>
    (await member.call('GET', path)).body.cannedReplies.map((one: { shortcut: string }) => one.shortcut)
  assert.deepEqual(await shortcuts(), ['address', 'hours'])
  const changed = await admin.call('PATCH', `${path}/${id}`, { shortcut: 'open' })
  assert.deepEqual([changed.body.cannedReply.shortcut, changed.body.cannedReply.text], ['open', hours.text])
  assert.equal((await admin.call('DELETE', `${path}/${id}`)).status, 200)
  assert.equal((await admin.call('DELETE', `${path}/${id}`)).status, 404)
  assert.equal((await admin.call('PATCH', `${path}/${id}`, { text: 'x' })).status, 404)
  assert.deepEqual(await shortcuts(), ['address'])
  const log = await w.db.sql<{ action: string; target: string }[]>`
    select action, target
    from audit_log
    where scope_id = ${w.workspaceId}
      and target = ${`canned_reply:${id}`}
    order by id`
  assert.deepEqual(
    log.map((one) => one.action),
    ['canned_reply.created', 'canned_reply.changed', 'canned_reply.deleted'],
  )
})

test('members do not write canned replies, and nobody sees those of another workspace', async () => {
  const { admin, member } = await team()
  const { id } = (await admin.call('POST', path, hours)).body.cannedReply
  assert.equal((await member.call('POST', path, hours)).status, 403)
  assert.equal((await member.call('PATCH', `${path}/${id}`, { text: 'x' })).status, 403)
  assert.equal((await member.call('DELETE', `${path}/${id}`)).status, 403)
  const stranger = (await team()).admin
  assert.deepEqual((await stranger.call('GET', path)).body.cannedReplies, [])
  assert.equal((await stranger.call('PATCH', `${path}/${id}`, { text: 'x' })).status, 404)
  assert.equal((await stranger.call('DELETE', `${path}/${id}`)).status, 404)
  assert.equal((await stranger.call('POST', path, hours)).status, 201)
})

test('a shortcut stands once, also after a change', async () => {
  const { admin } = await team()
  await admin.call('POST', path, hours)
  const taken = await admin.call('POST', path, hours)
  assert.deepEqual([taken.status, taken.body.data], [409, { field: 'shortcut' }])
  const { id } = (await admin.call('POST', path, { ...hours, shortcut: 'other' })).body.cannedReply
  assert.equal((await admin.call('PATCH', `${path}/${id}`, { shortcut: 'hours' })).status, 409)
})

test('a workspace has at most 500, also when two take the last place at once', async () => {
  const { w, admin } = await team()
  await w.db.sql`
    insert into canned_replies (workspace_id, id, shortcut, text, created_at, updated_at)
    select ${w.workspaceId}, gen_random_uuid(), 'r' || n, 'x', now(), now()
    from generate_series(1, 499) n`
  const answers = await Promise.all(['a', 'b'].map((shortcut) => admin.call('POST', path, { shortcut, text: 'x' })))
  assert.deepEqual(answers.map((one) => one.status).sort(), [201, 409])
})

const refused: [object, string][] = [
  [{ ...hours, text: 'Hi {{contact.nmae}}' }, 'text'],
  [{ ...hours, text: 'Hi {{1}}' }, 'text'],
  [{ ...hours, text: ' ' }, 'text'],
  [{ ...hours, text: 'x'.repeat(4097) }, 'text'],
  [{ ...hours, shortcut: 'Opening hours' }, 'shortcut'],
  [{ text: 'x' }, 'shortcut'],
]

for (const [body, field] of refused) {
  test(`a canned reply of ${JSON.stringify(body).slice(0, 60)} is 400`, async () => {
    const { admin } = await team()
    const answer = await admin.call('POST', path, body)
    assert.deepEqual([answer.status, answer.body.data.issues[0].path], [400, field])
  })
}
