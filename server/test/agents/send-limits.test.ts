import assert from 'node:assert/strict'
import { test } from 'node:test'
import { secondsToNextUtcDay } from '../../src/base/time.ts'
import { type AgentsWorld, agentsWorld, agentsWorldWithTemplate, template } from '../support/agents/agents-world.ts'
import { everyStatementOf } from '../support/database.ts'
import { startNode } from '../support/events/feed-world.ts'
import { conversationPath, marina } from '../support/inbox/inbox-world.ts'
import { signedInMember } from '../support/member.ts'
import { waitForNotifications } from '../support/wait-for-notifications.ts'
import { type Answer, callerOf } from '../support/world.ts'

const codeOf = ({ status, body }: Answer) => `${status} ${body.code ?? body.data?.code ?? body.status}`

async function setLimits(w: AgentsWorld, limits: object): Promise<void> {
  const admin = await signedInMember(w, 'admin')
  const { status, body } = await admin.call('PATCH', `/keys/${w.agent.id}`, limits)
  assert.equal(status, 200, JSON.stringify(body))
}

const words = (n: number) => ['One.', 'Two.', 'Three.', 'Four.', 'Five.'][n] ?? `${n + 1}.`

async function answerTimes(w: AgentsWorld, conversation_id: string, count: number): Promise<string[]> {
  const codes: string[] = []
  for (let n = 0; n < count; n++) codes.push(codeOf(await w.callTool('answer', { conversation_id, text: words(n) })))
  return codes
}

test('a fourth send without an answer is refused, and the next customer message resets the count', async () => {
  const w = await agentsWorld()
  const { id: conversation_id } = await w.customerWrites('Hello')
  assert.deepEqual(await answerTimes(w, conversation_id, 3), ['200 sent', '200 sent', '200 sent'])
  const refused = await w.callTool('answer', { conversation_id, text: 'Four.' })
  assert.deepEqual([codeOf(refused), refused.body.limit, w.sent().length], ['409 UNANSWERED_LIMIT', 3, 3])
  assert.match(refused.body.next.join(' '), /wait_for_work.*hand_over/)
  const again = await w.callTool('answer', { conversation_id, text: 'Three.' })
  assert.deepEqual([codeOf(again), again.body.was_new], ['200 sent', false], 'a repeat is answered as before')
  const closing = { conversation_id, summary: 'Does not answer.', closing: 'A colleague will help you.' }
  assert.equal(codeOf(await w.callTool('hand_over', closing)), '409 UNANSWERED_LIMIT')
  await w.customerWrites('Yes?')
  assert.deepEqual(await answerTimes(w, conversation_id, 4), [
    '200 sent',
    '200 sent',
    '200 sent',
    '409 UNANSWERED_LIMIT',
  ])
})

test('messages of people and handovers do not reset the count', async () => {
  const w = await agentsWorld()
  const { id: conversation_id } = await w.customerWrites('Hello')
  await answerTimes(w, conversation_id, 3)
  const member = await w.takeOver(conversation_id)
  const [path, body] = [`/inbox/conversations/${conversation_id}/messages`, { kind: 'text', text: 'Ana here.' }]
  assert.equal((await member.call('POST', path, body, { 'idempotency-key': 'one' })).status, 202)
  await w.handBack(member, conversation_id)
  assert.equal(codeOf(await w.callTool('answer', { conversation_id, text: 'Four.' })), '409 UNANSWERED_LIMIT')
})

test('sends that definitely failed do not count', async () => {
  const w = await agentsWorld()
  const { id: conversation_id } = await w.customerWrites('Hello')
  w.platform.answers.push({ outcome: 'refused', errorCode: '131049', effect: 'none' })
  assert.deepEqual(await answerTimes(w, conversation_id, 5), [
    '200 failed',
    '200 sent',
    '200 sent',
    '200 sent',
    '409 UNANSWERED_LIMIT',
  ])
})

test('a platform clock ahead of ours does not count an answer twice', async () => {
  const w = await agentsWorld()
  const { id: conversation_id } = await w.customerWrites('Hello')
  await answerTimes(w, conversation_id, 3)
  w.clock.advance(1000)
  await w.customerWrites('And now?', { at: new Date(w.clock.now().getTime() - 60_000) })
  assert.equal(codeOf(await w.callTool('answer', { conversation_id, text: 'Now.' })), '200 sent')
})

test('20 concurrent sends on two nodes respect the limits', async () => {
  const w = await agentsWorld()
  const { id } = await w.customerWrites('Hello')
  const { id: second } = await w.customerWrites('Hi', { customer: { ...marina, phone: '5581991234568' } })
  const node = await startNode(w)
  const sendBoth = async (conversation: string, n: number): Promise<Answer> => {
    const call = callerOf(n % 2 === 0 ? w.app : node.app, w.agent.value)
    const path = `/api/v2/conversations/${conversation}/answer`
    const { body, ...answer } = await call('POST', path, { body: { text: `Message ${n}` } })
    return { ...answer, body: typeof body === 'string' ? JSON.parse(body) : body }
  }
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => sendBoth(id, n)))
  const codes = answers.map(codeOf)
  assert.equal(codes.filter((code) => code === '200 sent').length, 3, codes.join())
  assert.equal(codes.filter((code) => code === '409 UNANSWERED_LIMIT').length, 17, codes.join())
  // Ten of these can reach one node, which then pauses the key for a minute.
  w.clock.advance(60_000)
  await setLimits(w, { unansweredSends: 50, dailySends: 8 })
  await waitForNotifications(w.db)
  const more = await Promise.all(Array.from({ length: 20 }, (_, n) => sendBoth(second, n)))
  assert.deepEqual(
    [more.filter((one) => codeOf(one) === '200 sent').length, w.sent().length],
    [5, 8],
    more.map(codeOf).join(),
  )
  assert.ok(more.every((one) => ['200 sent', '429 DAILY_SENDS_REACHED'].includes(codeOf(one))))
})

test('after the daily limit, all sends are refused until midnight UTC', async () => {
  const w = await agentsWorld()
  await setLimits(w, { dailySends: 2 })
  const { id: conversation_id } = await w.customerWrites('Hello')
  const first = { conversation_id, text: 'One.' }
  assert.equal(codeOf(await w.callTool('answer', first)), '200 sent')
  assert.equal((await w.callTool('answer', first)).body.was_new, false)
  w.clock.advance(24 * 3_600_000)
  await w.customerWrites('Are you there?')
  assert.deepEqual(await answerTimes(w, conversation_id, 2), ['200 sent', '200 sent'], 'a new day')
  assert.equal((await w.callTool('who_am_i')).body.limits.sends_left_today, 0)
  const refused = await w.callTool('answer', { conversation_id, text: 'Three.' })
  assert.equal(codeOf(refused), '429 DAILY_SENDS_REACHED')
  assert.equal(refused.headers['retry-after'], String(secondsToNextUtcDay(w.clock.now())))
  assert.match(refused.body.next[0], /midnight UTC/)
  assert.equal(
    (await w.callTool('answer', { conversation_id, text: 'Two.' })).body.was_new,
    false,
    'a repeat costs nothing',
  )
  const closing = { conversation_id, summary: 'Wants more.', closing: 'Good-bye.' }
  assert.equal(codeOf(await w.callTool('hand_over', closing)), '429 DAILY_SENDS_REACHED')
  assert.equal(codeOf(await w.callTool('hand_over', { ...closing, closing: undefined })).slice(0, 3), '200')
})

test('API v1 has no send limits by default, and runs no queries for them', async () => {
  const w = await agentsWorld()
  const { id } = await w.customerWrites('Hello')
  let n = 0
  const send = () =>
    w.call('POST', `${conversationPath(id)}/messages`, {
      key: w.agent.value,
      body: { kind: 'text', text: 'Hello' },
      headers: { 'idempotency-key': `key ${n++}` },
    })
  for (let times = 0; times < 6; times++) assert.equal((await send()).status, 202)
  const plain = (await everyStatementOf(async () => void (await send()))).map(({ text }) => text)
  assert.ok(!plain.some((text) => /key_sends|is_customers/.test(text)))
  await setLimits(w, { dailySends: 1 })
  await w.call('GET', '/api/v1/inbox/conversations', { key: w.agent.value })
  const limited = (await everyStatementOf(async () => void (await send()))).map(({ text }) => text)
  assert.equal(limited.filter((text) => /key_sends|is_customers/.test(text)).length, 1, 'the day costs one statement')
  const beyond = await send()
  assert.deepEqual(
    [codeOf(beyond), beyond.headers['retry-after']],
    ['429 DAILY_SENDS_REACHED', String(secondsToNextUtcDay(w.clock.now()))],
  )
  await setLimits(w, { dailySends: null, unansweredSends: 3 })
  assert.equal(codeOf(await send()), '409 UNANSWERED_LIMIT')
  assert.equal(w.sent().length, 8)
})

test('limits set at the creation of a key apply at once', async () => {
  const w = await agentsWorld()
  const admin = await signedInMember(w, 'admin')
  const made = { name: 'Careful', scopes: ['inbox.read', 'inbox.write'], unansweredSends: 1, dailySends: 7 }
  const { status, body } = await admin.call('POST', '/keys', made)
  assert.equal(status, 201, JSON.stringify(body))
  const { limits } = (await callerOf(w.app, body.value)('GET', '/api/v2/me')).body
  assert.deepEqual([limits.unanswered_sends, limits.daily_sends, limits.sends_left_today], [1, 7, 7])
})

test('a text that needs more parts than the key may send is refused before anything is sent or stored', async () => {
  const w = await agentsWorld()
  const { id: conversation_id } = await w.customerWrites('Tell me everything')
  const text = 'All about shoes. '.repeat(600)
  const refused = await w.callTool('answer', { conversation_id, text })
  const { parts, limit } = refused.body
  assert.deepEqual([codeOf(refused), parts, limit, w.sent().length], ['422 TOO_MANY_PARTS', 3, 1, 0])
  assert.match(refused.body.detail, /needs 3 messages of at most 4096 characters.*may send 1 per answer/)
  assert.match(refused.body.next.join(' '), /shorter text.*upload_file/)
  const closing = { conversation_id, summary: 'Wants everything.', closing: '\u{1f45f}'.repeat(4000) }
  assert.equal(codeOf(await w.callTool('hand_over', closing)), '422 TOO_MANY_PARTS')
  const [stored] = await w.db.sql`
    select
      (select count(*) from messages where workspace_id = ${w.workspaceId} and direction = 'outbound') as messages,
      (select count(*) from message_parts where workspace_id = ${w.workspaceId}) as parts,
      (select coalesce(sum(sends), 0) from key_sends where workspace_id = ${w.workspaceId}) as counted`
  assert.deepEqual({ ...stored }, { messages: 0, parts: 0, counted: 0 })

  await setLimits(w, { maxParts: 3 })
  assert.equal((await w.callTool('who_am_i')).body.limits.max_parts, 3)
  const sent = await w.callTool('answer', { conversation_id, text })
  assert.deepEqual([codeOf(sent), sent.body.parts, w.sent().length], ['200 sent', 3, 3])
  const again = await w.callTool('answer', { conversation_id, text })
  assert.deepEqual([again.body.was_new, again.body.parts], [false, 3])
  assert.equal((await w.callTool('answer', { conversation_id, text: 'Short.' })).body.parts, 1)
})

test("the workspace's number of parts counts for keys without one of their own", async () => {
  const w = await agentsWorld()
  const admin = await signedInMember(w, 'admin')
  const setDefault = async (agentMaxParts: number) => (await admin.call('PATCH', '', { agentMaxParts })).status
  const maxParts = async () => {
    await waitForNotifications(w.db)
    return (await w.callTool('who_am_i')).body.limits.max_parts
  }
  assert.equal(await maxParts(), 1)
  assert.deepEqual([await setDefault(4), await maxParts()], [200, 4])
  await setLimits(w, { maxParts: 2 })
  assert.equal(await maxParts(), 2)
  assert.deepEqual([await setDefault(0), await setDefault(11)], [400, 400])
})

test('v1 cuts a text into as many parts as it needs, whatever the key may send to agents', async () => {
  const w = await agentsWorld({ maxParts: 1 })
  const { id } = await w.customerWrites('Tell me everything')
  const body = { kind: 'text', text: 'All about shoes. '.repeat(600) }
  const headers = { 'idempotency-key': 'one' }
  const { status } = await w.call('POST', `${conversationPath(id)}/messages`, { key: w.agent.value, body, headers })
  assert.deepEqual([status, w.sent().length], [202, 3])
})

test('no conversation is created for a send over the limit', async () => {
  const w = await agentsWorldWithTemplate()
  await setLimits(w, { dailySends: 1 })
  const start = (phone: string) => w.callTool('start_conversation', { connection_id: w.connectionId, phone, template })
  assert.equal(codeOf(await start('5511999990001')), '200 sent')
  assert.equal((await start('5511999990001')).body.was_new, false)
  assert.equal(codeOf(await start('5511999990002')), '429 DAILY_SENDS_REACHED')
  assert.equal((await w.conversations()).length, 1)
})
