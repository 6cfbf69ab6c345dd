import assert from 'node:assert/strict'
import { test } from 'node:test'
import { customerMessage, inboxWorld } from '../../support/inbox/inbox-world.ts'
import { signedInMember } from '../../support/member.ts'
import { pick } from '../../support/pick.ts'
import { world } from '../../support/world.ts'

const phone = '5581991234567'

async function withMember() {
  const w = await inboxWorld({ key: { scopes: ['leads.read', 'leads.write', 'inbox.read'] } })
  return { w, member: await signedInMember(w) }
}

test('the conversations of a lead are those with its phone in any variant, on every connection, newest first', async () => {
  const { w, member } = await withMember()
  const { id } = await w.lead({ phone: '558191234567' })
  const first = await w.customerWrites('Hello')
  const second = await w.addConnection()
  w.clock.advance(1000)
  await w.deliverOn(second, customerMessage({ at: w.clock.now(), text: 'Here as well' }))
  await w.customerWrites('Hi', {
    customer: { ...customerMessage({ at: w.clock.now() }).customer, phone: '5581991234568' },
  })
  const { status, body } = await member.call('GET', `/leads/${id}/conversations`)
  assert.equal(status, 200)
  assert.deepEqual(pick(body.conversations, 'connectionId'), [second, w.connectionId])
  const { id: newest, ...shown } = body.conversations[0]
  assert.notEqual(newest, first.id)
  assert.deepEqual(shown, {
    connectionId: second,
    channel: 'waba',
    owner: 'human',
    status: 'open',
    assignedTo: null,
    unreadCount: 1,
    lastMessageAt: w.clock.now().toISOString(),
    unansweredSince: w.clock.now().toISOString(),
    lastMessage: { direction: 'inbound', kind: 'text', text: 'Here as well' },
  })
})

test('a lead without a phone has no conversations, and an unknown lead returns 404', async () => {
  const { w, member } = await withMember()
  await w.customerWrites('Hello')
  const { id } = await w.lead()
  assert.deepEqual((await member.call('GET', `/leads/${id}/conversations`)).body, { conversations: [] })
  assert.equal((await member.call('GET', '/leads/nobody/conversations')).status, 404)
})

test('conversations of another workspace with the same phone are not shown', async () => {
  const { w } = await withMember()
  await w.customerWrites('Hello')
  const { id: theirs } = await w.lead({ phone })
  const ours = await world()
  const member = await signedInMember(ours)
  const { id } = await ours.lead({ phone })
  assert.deepEqual((await member.call('GET', `/leads/${id}/conversations`)).body, { conversations: [] })
  assert.equal((await member.call('GET', `/leads/${theirs}/conversations`)).status, 404)
})
