import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reassignOverdue } from '../../src/inbox/assignment/reassign-to-people.ts'
import { agentsWorld } from '../support/agents/agents-world.ts'
import { signedInMember } from '../support/member.ts'
import { pick } from '../support/pick.ts'
import { waitForNotifications } from '../support/wait-for-notifications.ts'

const never = { monday: [], tuesday: [], wednesday: [], thursday: [], friday: [], saturday: [], sunday: [] }
const hour = 3_600_000

/** A span around now, or within the next hours of the same UTC day. */
function spanFrom(now: Date, inHours: number) {
  const day = now.toLocaleDateString('en-GB', { weekday: 'long', timeZone: 'UTC' }).toLowerCase()
  const time = (at: number) => `${String(at).padStart(2, '0')}:00`
  const from = now.getUTCHours() + inHours
  return { timeZone: 'UTC', week: { ...never, [day]: [{ from: time(from), to: time(from + 2) }] } }
}

test('who_am_i returns key, scopes, connections, workspace, currency and next steps', async () => {
  const w = await agentsWorld()
  const { status, body } = await w.callTool('who_am_i')
  assert.equal(status, 200)
  assert.equal(body.owner, `agent:${w.agent.id}`)
  assert.deepEqual(body.key.scopes, ['leads.read', 'leads.write', 'inbox.read', 'inbox.write', 'knowledge.read'])
  assert.deepEqual(pick(body.connections, 'id'), [w.connectionId])
  assert.equal(body.workspace.id, w.workspaceId)
  assert.match(body.next[0], /wait_for_work/)
  assert.equal(body.workspace.currency, null)

  await w.db.sql`update workspaces set currency = 'BRL' where id = ${w.workspaceId}`
  const other = await w.addConnection()
  const { value } = await w.addKey({ scopes: ['inbox.read'], connectionIds: [other] })
  const { body: seen } = await w.callTool('who_am_i', {}, value)
  assert.deepEqual([seen.connections.length, seen.connections[0].id], [1, other], 'its own connections alone')
  assert.equal(seen.workspace.currency, 'BRL')
})

test('who_am_i returns instructions and business hours, or null', async () => {
  const w = await agentsWorld()
  const before = (await w.callTool('who_am_i')).body.workspace
  assert.deepEqual([before.word, before.hours], [null, null])
  assert.equal((await w.callTool('wait_for_work', { wait: 0 })).body.is_open, null)
  const admin = await signedInMember(w, 'admin')
  const hours = spanFrom(w.clock.now(), 0)
  const agentWord = 'You speak for a shoe shop. Never promise a discount.'
  assert.equal((await admin.call('PATCH', '', { agentWord, hours })).status, 200)
  const { word, hours: told } = (await w.callTool('who_am_i')).body.workspace
  assert.equal(word, agentWord)
  assert.deepEqual([told.time_zone, told.week, told.is_open], ['UTC', hours.week, true])
  const end = new Date(w.clock.now().setUTCMinutes(0, 0, 0) + 2 * hour)
  assert.equal(told.next_change_at, end.toISOString())
  await waitForNotifications(w.db)
  assert.equal((await w.callTool('wait_for_work', { wait: 0 })).body.is_open, true)
})

test('a handover outside business hours says when people are available', async () => {
  const w = await agentsWorld()
  const admin = await signedInMember(w, 'admin')
  const { id: conversation_id } = await w.customerWrites('I want my money back')
  const handOver = async () =>
    (await w.callTool('hand_over', { conversation_id, summary: 'Wants a refund.' })).body.next.join(' ')
  assert.doesNotMatch(await handOver(), /No person/)
  const later = spanFrom(w.clock.now(), 1)
  await admin.call('PATCH', '', { hours: later })
  await waitForNotifications(w.db)
  const [{ from = '' } = {}] = Object.values(later.week).flat()
  const day = w.clock.now().toISOString().slice(0, 10)
  assert.match(await handOver(), new RegExp(`No person is available until ${day} ${from} \\(UTC\\)`))
  await admin.call('PATCH', '', { hours: spanFrom(w.clock.now(), 0) })
  await waitForNotifications(w.db)
  assert.doesNotMatch(await handOver(), /No person/)
})

test('who_am_i returns answer_within_minutes, and why_owned explains the reassignment', async () => {
  const w = await agentsWorld()
  const admin = await signedInMember(w, 'admin')
  for (const agentWatchdogMinutes of [null, 5]) {
    await admin.call('PATCH', '', { agentWatchdogMinutes })
    assert.equal((await w.callTool('who_am_i')).body.limits.answer_within_minutes, agentWatchdogMinutes)
  }
  const { id: conversation_id } = await w.customerWrites('Hello')
  w.clock.advance(5 * 60_000)
  await reassignOverdue(w.db, w.keyStore, w.clock)
  const { body } = await w.callTool('read_conversation', { conversation_id })
  assert.match(body.why_owned, /did not answer in time \(`answer_within_minutes`/)
  assert.match(body.changes.at(-1).text, /^Owner: agent → people\. .*did not answer in time/)
  for (const path of ['/llms.txt', '/docs/agents.md']) {
    assert.match((await w.app.inject({ url: path })).body, /answer_within_minutes/)
  }
})
