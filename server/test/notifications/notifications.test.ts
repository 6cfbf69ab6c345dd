import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { deleteOldNotifications, maxNotifications } from '../../src/notifications/retention.ts'
import { agentsWorld } from '../support/agents/agents-world.ts'
import { follow, startNode } from '../support/events/feed-world.ts'
import { addAgent, customerMessage, marina } from '../support/inbox/inbox-world.ts'
import { signedInMember } from '../support/member.ts'
import { colleague, notificationsWorld } from '../support/notifications/notifications-world.ts'
import { testTeamToken } from '../support/world.ts'

test('a mentioned member is notified once, with names; the author is not', async () => {
  const { id, place, ana, bea } = await notificationsWorld()
  const note = { text: 'Look, please', mentions: [ana.userId, bea.userId] }
  for (let n = 0; n < 2; n++) await ana.call('POST', `${place}/notes`, note, { 'idempotency-key': 'one' })
  const [notice, ...more] = await bea.listNotifications()
  assert.deepEqual(more, [])
  const { kind, count, actor, conversation, connection, readAt } = notice
  assert.deepEqual([kind, count, connection, readAt], ['mention', 1, null, null])
  assert.deepEqual(actor, { type: 'user', id: ana.userId, name: 'Ana Lima' })
  assert.deepEqual(conversation, { id, name: 'Marina Duarte', phone: marina.phone })
  assert.deepEqual(await ana.listNotifications(), [])
})

test('a member who is assigned a conversation is notified each time; one who takes it is not', async () => {
  const { place, ana, bea } = await notificationsWorld()
  await bea.call('PATCH', place, { assignedTo: bea.userId })
  assert.deepEqual(await bea.kinds(), [])
  for (const assignedTo of [ana.userId, ana.userId, null, ana.userId]) await bea.call('PATCH', place, { assignedTo })
  assert.deepEqual(await ana.kinds(), ['assigned', 'assigned'])
  assert.deepEqual(await bea.kinds(), [])
})

test('a handover notifies its assignee, or all members', async () => {
  const w = await agentsWorld()
  const [ana, bea] = [await colleague(w), await colleague(w)]
  const { id } = await w.customerWrites('I want my money back')
  const words = { conversation_id: id, summary: 'Wants a refund.', reason: 'Refunds need a person.', urgency: 'high' }
  assert.equal((await w.callTool('hand_over', words)).status, 200)
  assert.deepEqual([await ana.kinds(), await bea.kinds()], [['handover'], ['handover']])
  const [{ actor }] = await ana.listNotifications()
  assert.deepEqual(actor, { type: 'agent', id: w.agent.id, name: 'Support agent' })
})

test('a handover through API v1 notifies people too', async () => {
  const { w, id, place, ana, bea } = await notificationsWorld()
  const agent = await addAgent(w)
  await bea.call('PATCH', place, { assignedTo: ana.userId })
  await bea.call('POST', `${place}/hand-back`, { keyId: agent.id })
  w.clock.advance(1000)
  assert.equal((await w.patch(id, { owner: 'human' }, agent.value)).status, 200)
  assert.deepEqual(await ana.kinds(), ['handover', 'assigned'])
  assert.deepEqual(await bea.kinds(), [])
})

test('marking notifications as read also marks their mentions in the inbox', async () => {
  const { place, id, ana, bea } = await notificationsWorld()
  for (let n = 0; n < 4; n++) {
    await ana.call('POST', `${place}/notes`, { text: `Look ${n}`, mentions: [bea.userId] })
  }
  const read = async (which: object) => (await bea.call('POST', '/notices/read', which)).body.unread
  const [newest] = await bea.listNotifications()
  assert.equal(await read({ ids: [newest.id] }), 3)
  assert.equal((await bea.listNotifications('?unread=true')).length, 3)
  assert.equal(await read({ conversationId: id }), 0)
  assert.equal((await bea.call('GET', '/inbox/mentions')).body.unread, 0)
  await ana.call('POST', `${place}/notes`, { text: 'Look', mentions: [bea.userId] })
  await bea.call('POST', '/inbox/mentions/read', {})
  assert.deepEqual(await bea.listNotifications('?unread=true'), [])
  await ana.call('PATCH', place, { assignedTo: bea.userId })
  assert.equal(await read({}), 0)
})

test('the list is paged, and members see only their own notifications', async () => {
  const { w, place, ana, bea } = await notificationsWorld()
  for (let n = 0; n < 5; n++) {
    await ana.call('POST', `${place}/notes`, { text: `Look ${n}`, mentions: [bea.userId] })
    w.clock.advance(n % 2)
  }
  const ids: string[] = []
  for (let cursor = ''; ; ) {
    const { body } = await bea.call('GET', `/notices?limit=2${cursor}`)
    ids.push(...body.notices.map((one: { id: string }) => one.id))
    if (body.cursor === null) break
    cursor = `&cursor=${body.cursor}`
  }
  assert.deepEqual([ids.length, new Set(ids).size], [5, 5])
  assert.equal((await bea.call('GET', '/notices?cursor=nonsense')).status, 400)
  await ana.call('POST', '/notices/read', { ids })
  assert.equal((await bea.listNotifications('?unread=true')).length, 5)
  const other = await signedInMember((await notificationsWorld()).w)
  assert.deepEqual((await other.call('GET', '/notices')).body.notices, [])
})

test('a member chooses what to be notified of; tokens get nothing', async () => {
  const { w, place, ana, bea } = await notificationsWorld()
  const { settings, pushKey } = (await bea.call('GET', '/notices/settings')).body
  assert.equal(Buffer.from(pushKey, 'base64url').length, 65)
  settings.ways.mention.bell = false
  const changed = await bea.call('PUT', '/notices/settings', settings)
  assert.deepEqual([changed.status, changed.body.settings], [200, settings])
  await ana.call('POST', `${place}/notes`, { text: 'Look', mentions: [bea.userId] })
  await ana.call('PATCH', place, { assignedTo: bea.userId })
  assert.deepEqual(await bea.kinds(), ['assigned'])
  for (const [quiet, path] of [
    [{ timeZone: 'Mars/Olympus', from: '22:00', to: '07:00', days: [] }, 'quiet.timeZone'],
    [{ timeZone: 'UTC', from: '07:00', to: '07:00', days: [] }, 'quiet.to'],
  ] as const) {
    const refused = await bea.call('PUT', '/notices/settings', { ...settings, quiet })
    assert.deepEqual([refused.status, refused.body.data.issues[0].path], [400, path])
  }
  const asToken = { key: testTeamToken }
  const at = `/api/team/v1/workspaces/${w.workspaceId}/notices`
  for (const answer of [
    await w.call('GET', at, asToken),
    await w.call('POST', `${at}/read`, { ...asToken, body: {} }),
    await w.call('GET', `${at}/settings`, asToken),
    await w.call('PUT', `${at}/settings`, { ...asToken, body: settings }),
  ]) {
    assert.equal(answer.status, 403)
  }
})

test('open pages of notified members are updated at once, other pages are not', async () => {
  const { w, place, ana, bea } = await notificationsWorld()
  const node = await startNode(w)
  const [ofAna, ofBea] = [await follow(w, node, ana.headers), await follow(w, node, bea.headers)]
  await ana.call('POST', `${place}/notes`, { text: 'Look', mentions: [bea.userId] })
  const names = async (stream: typeof ofAna, last: string) => {
    const seen: string[] = []
    while (seen.at(-1) !== last) seen.push((await stream.next()).event ?? '')
    return seen
  }
  assert.ok((await names(ofBea, 'team.notices')).includes('team.notices'))
  await bea.call('POST', '/notices/read', {})
  await ana.call('PATCH', place, { status: 'pending' })
  await names(ofBea, 'team.notices')
  const heard = await names(ofAna, 'team.conversation.changed')
  assert.ok(!heard.includes('team.notices'))
})

test('the notifications of a member who leaves are deleted', async () => {
  const { w, place, ana, bea } = await notificationsWorld()
  await ana.call('PATCH', place, { assignedTo: bea.userId })
  const { settings } = (await bea.call('GET', '/notices/settings')).body
  await bea.call('PUT', '/notices/settings', settings)
  await signedInMember(w, 'owner')
  assert.equal((await bea.call('DELETE', `/members/${bea.userId}`)).status, 200)
  for (const table of ['notices', 'notice_settings']) {
    const rows = await w.db.sql.unsafe(`select 1 from ${table} where user_id = '${bea.userId}'`)
    assert.equal(rows.length, 0, table)
  }
})

test('notifications of a merged conversation lead to the remaining one', async () => {
  const { w, ana, bea } = await notificationsWorld()
  await w.deliver(customerMessage({ at: w.clock.now(), customer: { ...marina, phone: null, userId: 'BR.7' } }))
  const twin = (await w.conversations()).find(({ contact }) => contact.phone === null)
  await ana.call('PATCH', `/inbox/conversations/${twin.id}`, { assignedTo: bea.userId })
  w.clock.advance(1000)
  await w.deliver(customerMessage({ at: w.clock.now(), customer: { ...marina, userId: 'BR.7' } }))
  const [{ conversation }] = await bea.listNotifications()
  assert.notEqual(conversation.id, twin.id)
  assert.equal(conversation.phone, marina.phone)
})

test('the newest 500 notifications per person are kept for 90 days', async () => {
  const { w, place, ana, bea } = await notificationsWorld()
  await ana.call('PATCH', place, { assignedTo: bea.userId })
  await w.db.sql`
    insert into notices (workspace_id, user_id, kind, cause, created_at)
    select ${w.workspaceId}, ${bea.userId}, 'connection', n::text, ${w.clock.now()}::timestamptz + n * interval '1 second'
    from generate_series(1, ${maxNotifications + 10}) as n`
  const count = async () =>
    (await w.db.sql`select from notices where workspace_id = ${w.workspaceId} and user_id = ${bea.userId}`).length
  await deleteOldNotifications(w.db, w.clock.now())
  assert.equal(await count(), maxNotifications)
  await deleteOldNotifications(w.db, new Date(w.clock.now().getTime() + 91 * 86_400_000))
  assert.equal(await count(), 0)
})

test('a bulk assignment notifies the assignee once per conversation; taking and undo notify nobody', async () => {
  const { w, id, ana, bea } = await notificationsWorld()
  const other = await w.customerWrites('Hello', {
    customer: { userId: null, parentUserId: null, phone: '5511980000001', name: 'Rui' },
  })
  const ids = [id, other.id]
  const place = '/inbox/conversations'
  const many = (by: typeof ana, batchId: string, changes: object) =>
    by.call('POST', `${place}/bulk`, { batchId, ids, changes })
  const batchId = randomUUID()
  const changes = { assignedTo: ana.userId }
  await bea.call('PATCH', `${place}/${other.id}`, { assignedTo: bea.userId })
  const { body } = await many(bea, batchId, changes)
  const told = await ana.listNotifications()
  assert.deepEqual(told.map(({ conversation }) => conversation.id).sort(), ids.toSorted())
  assert.ok(told.every(({ kind, actor }) => kind === 'assigned' && actor.id === bea.userId))
  await many(bea, batchId, changes)
  assert.equal((await ana.listNotifications()).length, 2, 'what is so already tells nobody')
  const undone = await ana.call('POST', `${place}/bulk-undo`, { batchId, changes, former: body.former })
  assert.equal(undone.body.left, 0)
  assert.deepEqual(await bea.kinds(), [], 'an undo gives a conversation back without a word')
  await many(bea, batchId, changes)
  assert.equal((await ana.listNotifications()).length, 2, 'a selection tells of a conversation once')
  await many(ana, randomUUID(), { assignedTo: null })
  await many(ana, randomUUID(), changes)
  assert.equal((await ana.listNotifications()).length, 2, 'nobody is notified of their own actions')
  await many(bea, randomUUID(), { status: 'resolved' })
  assert.equal((await ana.listNotifications()).length, 2)
})
