import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reassignOverdue } from '../../../src/inbox/assignment/reassign-to-people.ts'
import { reopenSnoozed } from '../../../src/inbox/assignment/snooze-timer.ts'
import { addLabel, conversationWorld, customerMessage, inboxWorld, marina } from '../../support/inbox/inbox-world.ts'
import { signedInMember } from '../../support/member.ts'
import { testTeamToken } from '../../support/world.ts'

const minuteMs = 60_000

// biome-ignore lint/suspicious/noExplicitAny: as in Answer
type Item = any

async function threadWorld() {
  const { place: path, ...one } = await conversationWorld({ name: 'Sales agent' })
  const { w, member } = one
  const timeline = async (query = '') => {
    const { status, body } = await member.call('GET', `${path}/timeline?${query}`)
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }
  const activities = async () =>
    (await timeline()).items.flatMap((one: Item) => (one.type === 'activity' ? [one.activity] : []))
  const later = async (method: 'POST' | 'PATCH', at: string, body?: object) => {
    w.clock.advance(1000)
    const answer = await member.call(method, `${path}${at}`, body)
    assert.ok(answer.status < 300, JSON.stringify(answer.body))
    return answer
  }
  return { ...one, path, timeline, activities, later }
}

test('changes by members are in the thread with actor and previous value', async () => {
  const { w, agent, member, activities, later } = await threadWorld()
  const label = await addLabel(w, 'VIP')
  const until = new Date(w.clock.now().getTime() + 60 * minuteMs).toISOString()
  await later('POST', '/take-over')
  await later('PATCH', '', { labelIds: [label] })
  await later('PATCH', '', { status: 'snoozed', snoozedUntil: until })
  await later('POST', '/hand-back', { keyId: agent.id, note: { summary: 'Price agreed.' } })
  await later('PATCH', '', { labelIds: [], status: 'resolved' })
  const owner = `agent:${agent.id}`
  const lines = (await activities()).map(({ kind, from, fromName, to, toName, added, removed, reason }: Item) =>
    kind === 'labels' ? [kind, added, removed] : [kind, from, fromName, to, toName, reason],
  )
  assert.deepEqual(lines, [
    ['owner', 'human', null, owner, 'Sales agent', 'began'],
    ['owner', owner, 'Sales agent', 'human', null, null],
    ['assignee', null, null, member.userId, 'Ana Lima', null],
    ['labels', [label], []],
    ['status', 'open', null, 'snoozed', null, null],
    ['owner', 'human', null, owner, 'Sales agent', null],
    ['assignee', member.userId, 'Ana Lima', null, null, null],
    ['status', 'snoozed', null, 'resolved', null, null],
    ['labels', [], [label]],
  ])
  const all = await activities()
  assert.deepEqual(all[1].actor, { type: 'user', id: member.userId, name: 'Ana Lima' })
  assert.deepEqual([all[0].actor.type, all[4].snoozedUntil], ['system', until])
})

test('setting an unchanged value adds no activity', async () => {
  const { activities, later } = await threadWorld()
  await later('PATCH', '', { status: 'open', assignedTo: null, labelIds: [] })
  await later('POST', '/read')
  assert.equal((await activities()).length, 1)
})

test('activities have a reason: customer wrote, timer, watchdog, stop switch, send, phone, key', async () => {
  const { w, agent, member, path, activities, later } = await threadWorld()
  const admin = await signedInMember(w, 'admin')
  const newest = async () => {
    const { kind, to, reason, actor } = (await activities()).at(-1)
    return [kind, to, reason, actor.type]
  }
  const handBack = () => later('POST', '/hand-back', { keyId: agent.id })
  await later('PATCH', '', { status: 'resolved' })
  w.clock.advance(1000)
  await w.deliver(customerMessage({ at: w.clock.now() }))
  assert.deepEqual(await newest(), ['status', 'open', 'customer_wrote', 'system'])

  const snoozedUntil = new Date(w.clock.now().getTime() + minuteMs).toISOString()
  await later('PATCH', '', { status: 'snoozed', snoozedUntil })
  w.clock.advance(minuteMs)
  await reopenSnoozed(w.db, w.keyStore, w.clock)
  assert.deepEqual(await newest(), ['status', 'open', 'timer', 'system'])

  await admin.call('PATCH', '', { agentWatchdogMinutes: 10 })
  w.clock.advance(10 * minuteMs)
  await reassignOverdue(w.db, w.keyStore, w.clock)
  assert.deepEqual(await newest(), ['owner', 'human', 'watchdog', 'system'])

  await handBack()
  w.clock.advance(1000)
  await admin.call('PATCH', '', { agentsStopped: true })
  assert.deepEqual(await newest(), ['owner', 'human', 'agents_stopped', 'user'])
  await admin.call('PATCH', '', { agentsStopped: false })

  await handBack()
  w.clock.advance(1000)
  const messages = `/api/team/v1/workspaces/${w.workspaceId}${path}/messages`
  const send = { body: { kind: 'text', text: 'Hello' }, headers: { 'idempotency-key': 'one' }, key: testTeamToken }
  assert.equal((await w.call('POST', messages, send)).status, 202)
  assert.deepEqual(await newest(), ['owner', 'human', 'sent', 'token'])

  await handBack()
  w.clock.advance(1000)
  await w.deliver({ type: 'echo', externalId: 'wamid.p', customer: marina, kind: 'text', text: 'x', at: w.clock.now() })
  assert.deepEqual(await newest(), ['owner', 'human', 'phone', 'system'])

  await handBack()
  w.clock.advance(1000)
  await admin.call('DELETE', `/keys/${agent.id}`)
  assert.deepEqual(await newest(), ['owner', 'human', 'key_ended', 'system'])
  assert.equal((await member.call('GET', path)).body.conversation.owner, 'human')
})

test('messages, notes and activities have one order, and pages of any size contain each once in both directions', async () => {
  const { w, timeline, later } = await threadWorld()
  for (let n = 0; n < 6; n++) {
    await later('POST', '/notes', { text: `Note ${n}` })
    await later('PATCH', '', { status: n % 2 === 0 ? 'pending' : 'open' })
    w.clock.advance(1000)
    await w.deliver(customerMessage({ at: w.clock.now(), text: `Message ${n}` }))
  }
  const whole = (await timeline('limit=200')).items
  const ids = whole.map((one: Item) => one.id)
  assert.equal(new Set(ids).size, ids.length)
  assert.deepEqual(
    whole.map((one: Item) => one.at),
    whole.map((one: Item) => one.at).toSorted(),
  )
  assert.deepEqual(new Set(whole.map((one: Item) => one.type)), new Set(['message', 'note', 'activity']))
  for (const limit of [1, 3, 4]) {
    const back: string[] = []
    let page = await timeline(`limit=${limit}`)
    back.unshift(...page.items.map((one: Item) => one.id))
    while (page.older !== null) {
      page = await timeline(`limit=${limit}&before=${page.older}`)
      back.unshift(...page.items.map((one: Item) => one.id))
    }
    assert.deepEqual(back, ids)
    const forth = page.items.map((one: Item) => one.id)
    while (page.newer !== null) {
      page = await timeline(`limit=${limit}&after=${page.newer}`)
      forth.push(...page.items.map((one: Item) => one.id))
    }
    assert.deepEqual(forth, ids)
  }
})

test('around the first unread message, with items before and after', async () => {
  const { w, timeline, later } = await threadWorld()
  await later('POST', '/read')
  const texts: string[] = []
  for (let n = 1; n <= 5; n++) {
    w.clock.advance(1000)
    await w.deliver(customerMessage({ at: w.clock.now(), text: `New ${n}` }))
    texts.push(`New ${n}`)
  }
  const page = await timeline('around=unread&limit=4')
  const shown = page.items.flatMap((one: Item) => (one.type === 'message' ? [one.message.text] : []))
  assert.deepEqual(shown, ['Hi', 'New 1', 'New 2'])
  assert.equal(page.items.find((one: Item) => one.id === page.firstUnreadId).message.text, 'New 1')
  assert.equal(page.older, null)
  const next = await timeline(`limit=10&after=${page.newer}`)
  assert.deepEqual(
    next.items.map((one: Item) => one.message.text),
    ['New 3', 'New 4', 'New 5'],
  )
  await later('POST', '/read')
  const read = await timeline('around=unread&limit=2')
  assert.deepEqual([read.firstUnreadId, read.newer, read.items.at(-1).message.text], [null, null, 'New 5'])
})

test('around any message, however old, with cursors in both directions', async () => {
  const { w, member, path, timeline } = await threadWorld()
  const texts: string[] = []
  for (let n = 1; n <= 9; n++) {
    w.clock.advance(1000)
    await w.deliver(customerMessage({ at: w.clock.now(), text: `Said ${n}` }))
    texts.push(`Said ${n}`)
  }
  const textsOf = ({ items }: Item) =>
    items.flatMap((one: Item) => (one.message === undefined ? [] : [one.message.text]))
  const third = (await timeline('limit=200')).items.find((one: Item) => one.message?.text === 'Said 3')
  const page = await timeline(`aroundMessage=${third.id}&limit=4`)
  assert.deepEqual(textsOf(page), texts.slice(0, 4))
  const [older, newer] = [await timeline(`before=${page.older}`), await timeline(`after=${page.newer}`)]
  assert.deepEqual([textsOf(older), textsOf(newer)], [['Hi'], texts.slice(4)])

  const other = await w.customerWrites('Elsewhere', { customer: { ...marina, phone: '5511900000002' } })
  const theirs = (await member.call('GET', `/inbox/conversations/${other.id}/timeline`)).body.items[0]
  assert.equal((await member.call('GET', `${path}/timeline?aroundMessage=${theirs.id}`)).status, 404)
})

test('two merged conversations keep the activities of both', async () => {
  const w = await inboxWorld()
  const member = await signedInMember(w)
  const byPhone = await w.customerWrites('By phone')
  const hidden = { ...marina, phone: null, userId: 'BR.1' }
  await w.deliver(customerMessage({ at: w.clock.now(), customer: hidden, text: 'By id' }))
  const { conversations } = (await member.call('GET', '/inbox/conversations')).body
  for (const { id } of conversations) await member.call('PATCH', `/inbox/conversations/${id}`, { status: 'pending' })
  w.clock.advance(1000)
  await w.deliver(customerMessage({ at: w.clock.now(), customer: { ...marina, userId: 'BR.1' } }))
  const { items } = (await member.call('GET', `/inbox/conversations/${byPhone.id}/timeline`)).body
  assert.equal(items.filter((one: Item) => one.activity?.to === 'pending').length, 2)
})

test('an invalid query is 400', async () => {
  const { member, path } = await threadWorld()
  for (const query of [
    'before=x',
    'after=x',
    'before=x&around=unread',
    'limit=0',
    'limit=201',
    'around=read',
    'aroundMessage=x',
  ]) {
    assert.equal((await member.call('GET', `${path}/timeline?${query}`)).status, 400, query)
  }
})
