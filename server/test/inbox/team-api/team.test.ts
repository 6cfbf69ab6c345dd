import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addAgent, addLabel, conversationWorld, inboxWorld, marina } from '../../support/inbox/inbox-world.ts'
import { signedInMember } from '../../support/member.ts'
import { testTeamToken } from '../../support/world.ts'

const path = '/inbox/conversations'

async function teamWorld() {
  const one = await conversationWorld()
  const ownerEvents = async () =>
    (await one.w.events(one.id)).filter((event) => event.name === 'inbox.conversation.owner_changed').slice(1)
  return { ...one, ownerEvents }
}

test('a member takes over a conversation and hands it back with a note; both events have the member as actor', async () => {
  const { w, agent, id, member, ownerEvents, place } = await teamWorld()
  const mine = async () => (await member.call('GET', '/inbox/counts')).body.counts.mine.open
  const taken = await member.call('POST', `${place}/take-over`)
  assert.deepEqual([taken.status, taken.body.conversation.owner, await mine()], [200, 'human', 1])
  const { body: asKey } = await w.call('GET', `/api/v1/inbox/conversations/${id}`, { key: agent.value })
  assert.equal(asKey.conversation.assigned_to_user_id, member.userId)
  const note = { summary: 'Price agreed.', reason: 'Office closes.', nextStep: 'Ask for the address.' }
  const back = await member.call('POST', `${place}/hand-back`, { keyId: agent.id, note })
  assert.deepEqual([back.status, back.body.conversation.owner, await mine()], [200, `agent:${agent.id}`, 0])
  const actor = { type: 'user', id: member.userId }
  assert.deepEqual(
    (await ownerEvents()).map(({ payload }) => [payload.owner, payload.actor]),
    [
      ['human', actor],
      [`agent:${agent.id}`, actor],
    ],
  )
  const { notes } = (await member.call('GET', place)).body
  assert.deepEqual(notes, [])
  const { items } = (await member.call('GET', `${place}/timeline`)).body
  const [handover] = items.flatMap((item: { handover?: object }) => item.handover ?? [])
  const { summary, reason, nextStep, to, toId } = handover
  assert.deepEqual([{ summary, reason, nextStep }, to, toId], [note, 'agent', agent.id])
  assert.deepEqual(handover.actor, { ...actor, name: 'Ana Lima' })
})

for (const who of ['a member', 'a team token'] as const) {
  test(`${who} who writes takes it over in the same step, with an Idempotency-Key like agents, while the inbox is available`, async () => {
    const { w, agent, id, member, ownerEvents, place } = await teamWorld()
    const body = { kind: 'text', text: 'Hello' }
    const url = `/api/team/v1/workspaces/${w.workspaceId}${place}/messages`
    const send = (key?: string) => {
      const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key }
      return who === 'a member'
        ? member.call('POST', `${place}/messages`, body, headers)
        : w.call('POST', url, { body, headers, key: testTeamToken })
    }
    assert.equal((await send()).body.data.code, 'IDEMPOTENCY_KEY_REQUIRED')
    const first = await send('one')
    assert.equal(first.status, 202)
    const again = await send('one')
    assert.deepEqual([again.body, again.headers['idempotent-replayed']], [first.body, 'true'])
    const type = who === 'a member' ? 'user' : 'token'
    assert.deepEqual(
      (await ownerEvents()).map(({ payload }) => [payload.owner, (payload.actor as { type: string }).type]),
      [['human', type]],
    )
    assert.partialDeepStrictEqual((await w.events(id)).at(-1), {
      name: 'inbox.message.sent',
      payload: { conversation: { owner: 'human' } },
    })
    const { assignedTo } = (await member.call('GET', place)).body.conversation
    assert.equal(assignedTo, who === 'a member' ? member.userId : null)
    const late = { body: { kind: 'text', text: 'Late' }, headers: { 'idempotency-key': 'late' }, key: agent.value }
    const refused = await w.call('POST', `/api/v1/inbox/conversations/${id}/messages`, late)
    assert.equal(refused.body.data.code, 'OWNER_MISMATCH')
    const shut = async (column: string) => {
      await w.db.sql`update workspaces set ${w.db.sql.set({ [column]: false })} where id = ${w.workspaceId}`
      return send('two')
    }
    assert.equal((await shut('inbox_available')).body.data.code, 'CHAT_INBOX_UNAVAILABLE')
    assert.equal((await shut('inbox_enabled')).status, 403)
  })
}

test('taking over a conversation of people emits no event', async () => {
  const { member, ownerEvents, place } = await teamWorld()
  await Promise.all([member.call('POST', `${place}/take-over`), member.call('POST', `${place}/take-over`)])
  assert.equal((await ownerEvents()).length, 1)
})

test('a key that cannot own the conversation cannot get it', async () => {
  const { w, member, place } = await teamWorld()
  await member.call('POST', `${place}/take-over`)
  const other = await w.addConnection()
  const keys = [
    await addAgent(w, { connectionIds: [other] }),
    await addAgent(w, { scopes: ['inbox.read'] }),
    await addAgent(await inboxWorld()),
  ]
  for (const { id } of keys) {
    assert.equal((await member.call('POST', `${place}/hand-back`, { keyId: id })).status, 409)
  }
})

test('members assign, label and snooze with a time; non-members cannot be assigned', async () => {
  const { w, id, member, place } = await teamWorld()
  const label = await addLabel(w, 'VIP')
  const until = new Date(w.clock.now().getTime() + 3_600_000).toISOString()
  const change = { assignedTo: member.userId, labelIds: [label], status: 'snoozed', snoozedUntil: until }
  const { conversation } = (await member.call('PATCH', place, change)).body
  assert.deepEqual(
    [conversation.assignedTo, conversation.labelIds, conversation.status, conversation.snoozedUntil],
    [member.userId, [label], 'snoozed', until],
  )
  const [shown] = await w.conversations()
  assert.deepEqual([shown.id, shown.assigned_to_user_id, shown.snoozed_until], [id, member.userId, until])
  const stranger = await signedInMember(await inboxWorld())
  const refused = await member.call('PATCH', place, { assignedTo: stranger.userId })
  assert.deepEqual([refused.status, refused.body.data.issues[0].path], [400, 'assignedTo'])
  const opened = (await member.call('PATCH', place, { status: 'open', assignedTo: null })).body.conversation
  assert.deepEqual([opened.status, opened.snoozedUntil, opened.assignedTo], ['open', null, null])
})

const refused: object[] = [
  {},
  { snoozedUntil: '2027-01-01T00:00:00Z' },
  { status: 'snoozed', snoozedUntil: '2020-01-01T00:00:00Z' },
  { status: 'snoozed', snoozedUntil: 'soon' },
  { labelIds: ['01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'] },
  { owner: 'human' },
]

test('an invalid change is 400', async () => {
  const { member, place } = await teamWorld()
  for (const change of refused) {
    assert.equal((await member.call('PATCH', place, change)).status, 400, JSON.stringify(change))
  }
})

test('members can read notes and messages', async () => {
  const { member, place } = await teamWorld()
  const added = await member.call('POST', `${place}/notes`, { text: 'Call back' })
  assert.equal(added.status, 201)
  assert.deepEqual(added.body, (await member.call('GET', `${place}/notes`)).body)
  const { messages, hasMore } = (await member.call('GET', `${place}/messages`)).body
  assert.deepEqual([messages.map((one: { text: string }) => one.text), hasMore], [['Hi'], false])
})

test('the first contact is the first message, also if it arrives late or by the history of a phone', async () => {
  const { w, id, member, place } = await teamWorld()
  const firstContact = async () => (await member.call('GET', place)).body.firstContactAt
  const { createdAt } = (await member.call('GET', place)).body.conversation
  assert.equal(await firstContact(), createdAt)
  const at = new Date(w.clock.now().getTime() - 3_600_000)
  await w.customerWrites('Told late', { at })
  assert.equal(await firstContact(), at.toISOString())
  const [oldest] = await w.messages(id)
  assert.equal(oldest.occurred_at, at.toISOString())
})

test('marking unread counts the newest customer message as unread; repeating changes nothing', async () => {
  const { w, member, place } = await teamWorld()
  await w.customerWrites('Are you there?')
  await member.call('POST', `${place}/read`)
  for (let n = 0; n < 2; n++) {
    const { status, body } = await member.call('POST', `${place}/unread`)
    assert.deepEqual([status, body.conversation.unreadCount], [200, 1])
  }
  const { items, firstUnreadId } = (await member.call('GET', `${place}/timeline`)).body
  const first = items.find((item: { id: string }) => item.id === firstUnreadId)
  assert.equal(first.message.text, 'Are you there?')
})

test('a conversation without customer messages cannot be marked unread', async () => {
  const w = await inboxWorld()
  const member = await signedInMember(w)
  await w.deliver({ type: 'echo', externalId: 'wamid.e', customer: marina, kind: 'text', text: 'x', at: w.clock.now() })
  const [{ id }] = await w.conversations({ phone: marina.phone ?? '' })
  const { status, body } = await member.call('POST', `${path}/${id}/unread`)
  assert.deepEqual([status, body.conversation.unreadCount], [200, 0])
})

test('a deleted label is removed from its conversations', async () => {
  const { w, member, place } = await teamWorld()
  const label = await addLabel(w, 'VIP')
  await member.call('PATCH', place, { labelIds: [label] })
  const admin = await signedInMember(w, 'admin')
  await admin.call('DELETE', `/labels/${label}`)
  assert.deepEqual((await w.conversations())[0].label_ids, [])
})
