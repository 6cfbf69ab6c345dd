import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTyping, typingMs } from '../../../src/inbox/read/typing.ts'
import { type AgentsWorld, agentsWorld } from '../../support/agents/agents-world.ts'
import { addAgent, conversationWorld, inboxWorld } from '../../support/inbox/inbox-world.ts'
import { sendDeps } from '../../support/inbox/send-deps.ts'
import { signedInMember, type TestMember } from '../../support/member.ts'
import type { World } from '../../support/world.ts'

const readsOf = ({ platform }: Pick<World, 'platform'>, connectionId: string) =>
  platform.reads.filter((read) => read.connectionId === connectionId)
/** Whether each call to the platform showed typing. */
const typed = (w: AgentsWorld) => readsOf(w, w.connectionId).map(({ isTyping }) => isTyping === true)

/** An agent that owns a conversation in which the customer waits. */
async function waitingCustomer() {
  const w = await agentsWorld()
  const { id } = await w.customerWrites('Hi', { externalId: 'wamid.first' })
  const see = async () => (await w.callTool('seen', { conversation_id: id })).body
  return { w, id: id as string, see }
}

test('seen marks the messages read and shows typing, at most once in 25 seconds', async () => {
  const { w, see } = await waitingCustomer()
  assert.equal((await see()).is_typing_shown, true)
  assert.deepEqual(readsOf(w, w.connectionId), [
    { connectionId: w.connectionId, externalId: 'wamid.first', isTyping: true },
  ])
  assert.equal((await w.conversations())[0].unread_count, 0)
  w.clock.advance(typingMs - 1)
  assert.equal((await see()).is_typing_shown, true, 'it still is')
  assert.deepEqual(typed(w), [true])
  w.clock.advance(1)
  await see()
  assert.deepEqual(typed(w), [true, true])
})

test('seen marks only what the agent was shown as read; a message since then is read without typing', async () => {
  const { w, id, see } = await waitingCustomer()
  await w.callTool('read_conversation', { conversation_id: id })
  w.clock.advance(1000)
  await w.customerWrites('Hello?', { externalId: 'wamid.second' })
  await see()
  assert.deepEqual(
    readsOf(w, w.connectionId).map(({ externalId }) => externalId),
    ['wamid.first'],
  )
  assert.equal((await w.conversations())[0].unread_count, 2)
  await w.callTool('read_conversation', { conversation_id: id })
  await see()
  assert.deepEqual(readsOf(w, w.connectionId).slice(1), [{ connectionId: w.connectionId, externalId: 'wamid.second' }])
  assert.equal((await w.conversations())[0].unread_count, 0)
})

test('wait_for_work shows typing only if asked, with the read receipt', async () => {
  const { w } = await waitingCustomer()
  await w.callTool('wait_for_work', { wait: 0 })
  assert.deepEqual(typed(w), [false])
  w.clock.advance(1000)
  await w.customerWrites('Hello?')
  await w.callTool('wait_for_work', { wait: 0, show_typing: true })
  assert.deepEqual(typed(w), [false, true])
})

test('a key can be set to show typing when it takes work, and a call that says otherwise wins', async () => {
  const w = await agentsWorld({ showTyping: true })
  await w.customerWrites('Hi')
  await w.callTool('wait_for_work', { wait: 0 })
  assert.deepEqual(typed(w), [true])
  w.clock.advance(typingMs)
  await w.customerWrites('Hello?')
  await w.callTool('wait_for_work', { wait: 0, show_typing: false })
  assert.deepEqual(typed(w), [true, false])
})

const hold = (stops: string) => [
  {
    ...{ stops, reason: 'platform_error_1', since: '2026-01-01T00:00:00.000Z', attempts: 1, probe: 'send' },
    ...{ nextTryAt: null, triedAt: null, until: null, liftedAt: null },
  },
]
const obstacles: [what: string, create: (w: AgentsWorld) => unknown][] = [
  ['the window is closed', (w) => w.clock.advance(24 * 3_600_000)],
  ...(['paused', 'unavailable'] as const).map((state): [string, (w: AgentsWorld) => unknown] => [
    `the connection is ${state}`,
    (w) => w.db.sql`update connections set state = ${state} where id = ${w.connectionId}`,
  ]),
  [
    'replies are on hold',
    (w) => w.db.sql`update connections set holds = ${w.db.sql.json(hold('replies'))} where id = ${w.connectionId}`,
  ],
]

for (const [what, create] of obstacles) {
  test(`no typing is shown while ${what}`, async () => {
    const { w, see } = await waitingCustomer()
    await create(w)
    const { is_typing_shown, next } = await see()
    assert.equal(is_typing_shown, false)
    assert.match(next[0], /No answer can be sent now/)
    assert.ok(!typed(w).includes(true))
  })
}

test('only the owner can show typing', async () => {
  const { w, id } = await waitingCustomer()
  const other = await addAgent(w)
  const refused = await w.callTool('seen', { conversation_id: id }, other.value)
  assert.deepEqual([refused.status, refused.body.code], [409, 'OWNER_MISMATCH'])
  await w.takeOver(id)
  const held = await w.callTool('seen', { conversation_id: id })
  assert.deepEqual([held.status, held.body.code], [409, 'HELD_BY_PEOPLE'])
  assert.equal((await w.callTool('seen', { conversation_id: w.workspaceId })).status, 404)
  assert.deepEqual(typed(w), [])
})

const reports = (member: TestMember, id: string) => (state: string, toCustomer?: boolean) =>
  member.call('POST', `/inbox/conversations/${id}/presence`, { state, ...(toCustomer && { toCustomer }) })

test('people who type a message show typing once in 25 seconds together, and never for a note', async () => {
  const w = await inboxWorld()
  const { id } = await w.customerWrites('Hi')
  const [ana, bea] = [reports(await signedInMember(w), id), reports(await signedInMember(w), id)]
  await ana('typing')
  assert.deepEqual(readsOf(w, w.connectionId), [])
  for (const say of [ana, bea, ana]) assert.equal((await say('typing', true)).status, 200)
  assert.equal(readsOf(w, w.connectionId).length, 1)
  w.clock.advance(typingMs)
  await bea('typing', true)
  assert.deepEqual(
    readsOf(w, w.connectionId).map(({ isTyping }) => isTyping),
    [true, true],
  )
})

test('people show no typing while an agent owns the conversation', async () => {
  const { w, id, member } = await conversationWorld({ answersNewConversations: true })
  await reports(member, id)('typing', true)
  assert.deepEqual(readsOf(w, w.connectionId), [])
})

test('a failure of the platform is ignored', async () => {
  const { w, see } = await waitingCustomer()
  w.platform.readsFail = true
  try {
    assert.equal((await see()).is_typing_shown, true)
  } finally {
    w.platform.readsFail = false
  }
})

async function ownTyping(w: AgentsWorld, change: (deps: Awaited<ReturnType<typeof sendDeps>>) => object) {
  const deps = await sendDeps(w.db, w.keyStore, w.clock, w.platform, w.media)
  return createTyping({ ...deps, ...change(deps) })
}

test('nothing is shown for a key that loses the conversation during the call', async () => {
  const { w, id } = await waitingCustomer()
  const typing = await ownTyping(w, ({ openConnection }) => ({
    openConnection: async (workspaceId: string, connectionId: string) => {
      await w.takeOver(id)
      return openConnection(workspaceId, connectionId)
    },
  }))
  const scope = { workspaceId: w.workspaceId, connectionIds: [] }
  assert.equal(await typing.show({ keyId: w.agent.id }, scope, id), 'not_owner')
  assert.deepEqual(typed(w), [])
})

test('calls to a platform that hangs are limited, and dropped beyond that', async () => {
  const { w } = await waitingCustomer()
  const answer = Promise.withResolvers<void>()
  let calls = 0
  const markRead = () => {
    calls++
    return answer.promise
  }
  const typing = await ownTyping(w, ({ connectors }) => ({
    connectors: { ...connectors, waba: { ...connectors.waba, markRead } },
  }))
  const scope = { workspaceId: w.workspaceId, connectionIds: [] }
  const show = async (n: number) => {
    const phone = `5581991300${String(n).padStart(3, '0')}`
    const { id } = await w.customerWrites('Hi', { customer: { phone, name: null, userId: null, parentUserId: null } })
    return typing.show({ keyId: w.agent.id }, scope, id)
  }
  for (let n = 0; n < 32; n++) assert.equal(await show(n), 'shown')
  assert.equal(await show(32), 'unavailable')
  answer.resolve()
  await answer.promise
  await new Promise(setImmediate)
  assert.deepEqual([await show(33), calls], ['shown', 33])
})
