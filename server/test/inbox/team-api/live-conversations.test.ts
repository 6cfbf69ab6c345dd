import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../src/base/clock.ts'
import type { Db } from '../../../src/base/db.ts'
import { newId } from '../../../src/base/id.ts'
import { publishMedia } from '../../../src/inbox/conversation/conversation.ts'
import { createPresence } from '../../../src/inbox/team-api/live-updates.ts'
import { openNode, testDatabase } from '../../support/database.ts'
import { follow, startNode } from '../../support/events/feed-world.ts'
import type { OpenStream } from '../../support/events/live-stream.ts'
import { atEnd } from '../../support/file-lifecycle.ts'
import { addLabel, customerMessage, inboxWorld, marina } from '../../support/inbox/inbox-world.ts'
import { signedInMember, type TestMember } from '../../support/member.ts'
import { testTeamToken } from '../../support/world.ts'

const path = '/inbox/conversations'

async function liveWorld() {
  const w = await inboxWorld()
  const { id } = await w.customerWrites('Hi')
  w.clock.advance(1000)
  const node = await startNode(w)
  const [ana, bea] = [await signedInMember(w), await signedInMember(w)]
  return { w, id, place: `${path}/${id}`, node, ana, bea, stream: await follow(w, node, ana.headers) }
}

const changed = async (stream: OpenStream) => (await stream.nextOf('team.conversation.changed')).data.conversation

test('browsers receive every change of a conversation with its row, and stay where they are', async () => {
  const { w, id, place, bea, stream } = await liveWorld()
  const label = await addLabel(w, 'VIP')
  const snoozedUntil = new Date(w.clock.now().getTime() + 60_000).toISOString()
  await bea.call('PATCH', place, { assignedTo: bea.userId })
  const told = await stream.nextOf('team.conversation.changed')
  assert.equal(told.id, '')
  const { conversations } = (await bea.call('GET', path)).body
  assert.deepEqual(told.data, { conversation: conversations[0] })
  assert.equal(told.data.conversation.assignedToName, 'Ana Lima')
  await bea.call('PATCH', place, { labelIds: [label] })
  assert.deepEqual((await changed(stream)).labelIds, [label])
  await bea.call('PATCH', place, { status: 'snoozed', snoozedUntil })
  assert.equal((await changed(stream)).snoozedUntil, snoozedUntil)
  await bea.call('POST', `${place}/read`)
  assert.equal((await changed(stream)).unreadCount, 0)
  await bea.call('POST', `${place}/notes`, { text: 'Call back' })
  assert.equal((await changed(stream)).id, id)
  w.clock.advance(1000)
  await w.deliver(customerMessage({ at: w.clock.now(), text: 'And now?' }))
  const after = await changed(stream)
  assert.deepEqual([after.status, after.unreadCount, after.lastMessage.text], ['open', 1, 'And now?'])
})

test('a merged conversation is published as gone', async () => {
  const { w, id, stream } = await liveWorld()
  await w.deliver(customerMessage({ at: w.clock.now(), customer: { ...marina, phone: null, userId: 'BR.1' } }))
  const twin = await changed(stream)
  assert.notEqual(twin.id, id)
  w.clock.advance(1000)
  await w.deliver(customerMessage({ at: w.clock.now(), customer: { ...marina, userId: 'BR.1' } }))
  assert.deepEqual((await stream.nextOf('team.conversation.gone')).data, { conversationId: twin.id })
})

test('a deleted label makes pages reload', async () => {
  const { w, place, bea, stream } = await liveWorld()
  const label = await addLabel(w, 'VIP')
  await bea.call('PATCH', place, { labelIds: [label] })
  const admin = await signedInMember(w, 'admin')
  await admin.call('DELETE', `/labels/${label}`)
  assert.deepEqual((await stream.nextOf('team.conversations.changed')).data, {})
})

test('nothing is published to another workspace, or without the inbox in the plan', async () => {
  const { place, node, bea, stream } = await liveWorld()
  const other = await liveWorld()
  const elsewhere = await follow(other.w, node, other.ana.headers)
  await bea.call('PATCH', place, { status: 'pending' })
  await other.bea.call('PATCH', other.place, { status: 'resolved' })
  assert.equal((await changed(stream)).status, 'pending')
  assert.equal((await changed(elsewhere)).status, 'resolved')
  await other.w.db.sql`update workspaces set inbox_enabled = false where id = ${other.w.workspaceId}`
  const without = await follow(other.w, other.node, other.ana.headers)
  await other.bea.call('PATCH', other.place, { status: 'open' })
  await changed(elsewhere)
  await other.node.tick()
  const { comment, event } = await without.next()
  assert.deepEqual([comment, event], ['here', undefined])
})

test('a changed workspace setting is published, but not its value', async () => {
  const { w, stream } = await liveWorld()
  const owner = await signedInMember(w, 'owner')
  const settings = { inboxAvailable: false }
  assert.equal((await owner.call('PATCH', '', settings)).status, 200)
  assert.deepEqual((await stream.nextOf('team.workspace.changed')).data, { workspaceId: w.workspaceId })
})

test('a member who goes away is published to open pages', async () => {
  const { bea, stream } = await liveWorld()
  assert.equal((await bea.call('POST', '/away', { isAway: true })).status, 200)
  assert.deepEqual((await stream.nextOf('team.member.changed')).data, { userId: bea.userId })
})

test('viewing and typing are published, expire after twenty seconds, and end with gone', async () => {
  const { w, id, place, node, ana, bea, stream } = await liveWorld()
  const present = async () => (await stream.nextOf('team.presence')).data
  const say = (member: TestMember, state: string) => member.call('POST', `${place}/presence`, { state })
  const someone = (state: string) => [{ userId: bea.userId, name: 'Ana Lima', state }]
  assert.deepEqual((await say(bea, 'viewing')).body, { people: someone('viewing') })
  assert.deepEqual(await present(), { conversationId: id, people: someone('viewing') })
  await say(bea, 'viewing')
  await say(bea, 'typing')
  assert.deepEqual((await present()).people, someone('typing'))
  await say(bea, 'gone')
  assert.deepEqual((await present()).people, [])
  await say(bea, 'viewing')
  await present()
  w.clock.advance(19_000)
  await node.tick()
  assert.deepEqual((await ana.call('GET', `${place}/presence`)).body.people, someone('viewing'))
  w.clock.advance(1_000)
  await node.tick()
  assert.deepEqual((await present()).people, [])
  assert.deepEqual((await ana.call('GET', `${place}/presence`)).body, { people: [] })
})

test('presence reaches other nodes', async () => {
  const { w, place, bea, ana } = await liveWorld()
  const { options } = await testDatabase()
  const pool = openNode(options)
  atEnd(() => pool.close())
  const far = await startNode(w, { db: pool })
  const stream = await follow(w, far, ana.headers)
  await bea.call('POST', `${place}/presence`, { state: 'typing' })
  assert.equal((await stream.nextOf('team.presence')).data.people[0].userId, bea.userId)
})

test('other nodes receive the states of a member in order: the latest follows when the previous one was sent', async () => {
  const sent: (string | null)[] = []
  const [first, last] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const sql = (_text: unknown, _channel: string, message: string) => {
    sent.push(JSON.parse(message).state)
    if (sent.at(-1) === null) last.resolve()
    return first.promise
  }
  const db = { sql, listen: async () => {} } as unknown as Db
  const presence = await createPresence({ db, clock: systemClock, changed() {}, onError: assert.ifError })
  const conversation = { workspaceId: 'w', conversationId: 'c' }
  for (const state of ['viewing', 'typing', 'viewing', null] as const) presence.set(conversation, 'bea', state)
  presence.set(conversation, 'ana', 'viewing')
  assert.deepEqual(sent, ['viewing', 'viewing'], 'one of each member')
  first.resolve()
  await last.promise
  assert.deepEqual(sent, ['viewing', 'viewing', null])
})

test('presence is for members: tokens are refused, non-members find nothing, an invalid state is 400', async () => {
  const { w, place, ana } = await liveWorld()
  const at = `/api/team/v1/workspaces/${w.workspaceId}${place}/presence`
  assert.equal((await w.call('POST', at, { body: { state: 'viewing' }, key: testTeamToken })).status, 403)
  assert.equal((await ana.call('POST', `${place}/presence`, { state: 'asleep' })).status, 400)
  const stranger = await signedInMember(await inboxWorld())
  assert.equal((await stranger.call('POST', `${place}/presence`, { state: 'viewing' })).status, 404)
  assert.equal((await stranger.call('GET', `${place}/presence`)).status, 404)
})

test('a mention is listed for the member, who alone is notified, until it is read', async () => {
  const { w, id, place, node, ana, bea, stream } = await liveWorld()
  const hers = await follow(w, node, bea.headers)
  const mentions = async (member: TestMember, query = '') => (await member.call('GET', `/inbox/mentions?${query}`)).body
  const added = await ana.call('POST', `${place}/notes`, { text: '@Bea look', mentions: [bea.userId] })
  assert.deepEqual([added.status, added.body.notes[0].mentions], [201, [bea.userId]])
  assert.deepEqual((await hers.nextOf('team.mentions')).data, { unread: 1 })
  const { mentions: listed, unread } = await mentions(bea)
  assert.deepEqual(
    [unread, listed[0].note.text, listed[0].note.actor.id, listed[0].conversation, listed[0].readAt],
    [1, '@Bea look', ana.userId, { id, contact: { name: 'Marina Duarte', phone: marina.phone } }, null],
  )
  assert.deepEqual(await mentions(ana), { mentions: [], unread: 0, cursor: null })
  w.clock.advance(1000)
  await ana.call('POST', `${place}/notes`, { text: '@Bea again', mentions: [bea.userId] })
  const first = await mentions(bea, 'limit=1')
  const second = await mentions(bea, `limit=1&cursor=${first.cursor}`)
  assert.deepEqual([first.mentions[0].note.text, second.mentions[0].note.text], ['@Bea again', '@Bea look'])
  assert.equal(second.cursor, null)
  assert.deepEqual((await bea.call('POST', '/inbox/mentions/read', { conversationId: id })).body, { unread: 0 })
  assert.deepEqual((await hers.nextOf('team.mentions')).data.unread, 2)
  assert.deepEqual((await hers.nextOf('team.mentions')).data.unread, 0)
  assert.deepEqual((await mentions(bea, 'unread=true')).mentions, [])
  assert.equal((await mentions(bea)).mentions.length, 2)
  // The next frame for Ana is her own change: no mention came before it.
  await ana.call('PATCH', place, { status: 'closed' })
  for (let told = await stream.next(); told.data?.conversation?.status !== 'closed'; told = await stream.next()) {
    assert.notEqual(told.event, 'team.mentions')
  }
})

test('pages are notified when a file of a message is available or has failed', async () => {
  const { w, id, stream } = await liveWorld()
  const media = { conversationId: id, messageId: newId(w.clock.now()), mediaId: newId(w.clock.now()), state: 'here' }
  await w.db.tx(async (tx) => publishMedia(tx, { workspaceId: w.workspaceId, ...media }))
  assert.deepEqual((await stream.nextOf('team.media.changed')).data, media)
})
