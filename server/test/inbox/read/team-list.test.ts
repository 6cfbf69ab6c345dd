import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resolveContact } from '../../../src/inbox/read/names.ts'
import {
  addAgent,
  addLabel,
  customerMessage,
  type InboxWorld,
  inboxWorld,
  marina,
} from '../../support/inbox/inbox-world.ts'
import { signedInMember, type TestMember } from '../../support/member.ts'

const path = '/inbox/conversations'
const customer = (n: number) => ({ ...marina, phone: `551198888777${n}`, name: `Customer ${n}` })

/** Returns the conversation's id; each customer writes a second after the previous one. */
async function writes(w: InboxWorld, n: number): Promise<string> {
  w.clock.advance(1000)
  return (await w.customerWrites(`Hello ${n}`, { customer: customer(n), at: w.clock.now() })).id
}

async function found(member: TestMember, query: string): Promise<string[]> {
  const { status, body } = await member.call('GET', `${path}?${query}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body.conversations.map((one: { id: string }) => one.id)
}

async function counts(member: TestMember) {
  return (await member.call('GET', '/inbox/counts')).body.counts
}

test('a row shows owner, assignee, connection and last author', async () => {
  const w = await inboxWorld()
  const agent = await addAgent(w, { name: 'Sales agent' })
  const id = await writes(w, 1)
  const member = await signedInMember(w)
  await member.call('PATCH', `${path}/${id}`, { assignedTo: member.userId })
  const row = async () => (await member.call('GET', path)).body.conversations[0]
  const first = await row()
  assert.deepEqual(
    [first.ownerName, first.assignedToName, first.connectionName, first.contact],
    ['Sales agent', 'Ana Lima', 'Shop', { name: 'Customer 1', phone: '5511988887771' }],
  )
  const last = ({ text, direction, status, author }: Record<string, unknown>) => [text, direction, status, author]
  const customerWrote = { type: 'customer', id: null, name: null }
  assert.deepEqual(last(first.lastMessage), ['Hello 1', 'inbound', 'delivered', customerWrote])
  w.clock.advance(1000)
  const send = { body: { kind: 'text', text: 'Hi!' }, headers: { 'idempotency-key': 'one' }, key: agent.value }
  await w.call('POST', `/api/v1/inbox/conversations/${id}/messages`, send)
  const byAgent = { type: 'agent', id: agent.id, name: 'Sales agent' }
  assert.deepEqual(last((await row()).lastMessage), ['Hi!', 'outbound', 'sent', byAgent])
  w.clock.advance(1000)
  const at = w.clock.now()
  await w.deliver({
    type: 'echo',
    externalId: 'wamid.e',
    customer: customer(1),
    kind: 'text',
    text: 'From my phone',
    at,
  })
  const { lastMessage, ownerName } = await row()
  assert.deepEqual(lastMessage.author, { type: 'app', id: null, name: null })
  assert.equal(ownerName, null)
  const { messages } = (await member.call('GET', `${path}/${id}/messages`)).body
  assert.deepEqual(
    messages.map(({ author }: { author: { type: string; name: string } }) => [author.type, author.name]),
    [
      ['customer', null],
      ['agent', 'Sales agent'],
      ['app', null],
    ],
  )
})

test('the list is sorted by newest message, and reading does not move a row', async () => {
  const w = await inboxWorld()
  const member = await signedInMember(w)
  const [one, two, three] = [await writes(w, 1), await writes(w, 2), await writes(w, 3)]
  w.clock.advance(1000)
  await member.call('POST', `${path}/${one}/read`)
  assert.deepEqual(await found(member, ''), [three, two, one])
  assert.deepEqual(await found(member, 'sort=updated'), [one, three, two])
  await writes(w, 2)
  assert.deepEqual(await found(member, 'sort=recent'), [two, three, one])
})

test('sorted by waiting, the longest waiting customer is first and answered ones are left out', async () => {
  const w = await inboxWorld()
  const member = await signedInMember(w)
  const [one, two, three] = [await writes(w, 1), await writes(w, 2), await writes(w, 3)]
  await writes(w, 1)
  w.clock.advance(1000)
  const at = w.clock.now()
  await w.deliver({ type: 'echo', externalId: 'wamid.e2', customer: customer(2), kind: 'text', text: 'x', at })
  assert.deepEqual(await found(member, 'sort=waiting'), [one, three])
  assert.ok(!(await found(member, 'unanswered=true')).includes(two))
})

test('views: mine, unassigned, agents and all contain what their names say, and the counts agree', async () => {
  const w = await inboxWorld()
  const [ana, bea] = [await signedInMember(w), await signedInMember(w)]
  const [mine, free, hers] = [await writes(w, 1), await writes(w, 2), await writes(w, 3)]
  const agent = await addAgent(w)
  const agents = await writes(w, 4)
  await ana.call('PATCH', `${path}/${mine}`, { assignedTo: ana.userId })
  await ana.call('PATCH', `${path}/${hers}`, { assignedTo: bea.userId })
  const resolved = await writes(w, 5)
  await ana.call('PATCH', `${path}/${resolved}`, { status: 'resolved' })
  await ana.call('POST', `${path}/${free}/read`)
  assert.deepEqual(await found(ana, 'view=mine&status=open'), [mine])
  assert.deepEqual(await found(bea, 'view=mine&status=open'), [hers])
  assert.deepEqual(await found(ana, 'view=unassigned&status=open'), [free])
  assert.deepEqual(await found(ana, 'view=agents&status=open'), [agents])
  assert.deepEqual(await found(ana, 'view=all&status=open'), [agents, hers, free, mine])
  assert.deepEqual(await found(ana, 'status=open,resolved&owner=agent'), [resolved, agents])
  assert.deepEqual(await found(ana, `owner=agent:${agent.id}&status=resolved`), [resolved])
  assert.deepEqual(await counts(ana), {
    mine: { open: 1, unread: 1 },
    unassigned: { open: 1, unread: 0 },
    all: { open: 4, unread: 3 },
    agents: { open: 1, unread: 1 },
  })
  assert.deepEqual((await counts(bea)).mine, { open: 1, unread: 1 })
  const stranger = await signedInMember(await inboxWorld())
  assert.deepEqual((await counts(stranger)).all, { open: 0, unread: 0 })
})

test('the list can be filtered by assignee (me, none, a member), label and unread', async () => {
  const w = await inboxWorld()
  const [ana, bea] = [await signedInMember(w), await signedInMember(w)]
  const [one, two] = [await writes(w, 1), await writes(w, 2)]
  const label = await addLabel(w, 'VIP')
  await ana.call('PATCH', `${path}/${one}`, { assignedTo: ana.userId, labelIds: [label] })
  await ana.call('POST', `${path}/${two}/read`)
  assert.deepEqual(await found(ana, `labelId=${label}`), [one])
  assert.deepEqual(await found(ana, 'unread=true'), [one])
  assert.deepEqual(await found(ana, 'assignedTo=me'), [one])
  assert.deepEqual(await found(bea, 'assignedTo=me'), [])
  assert.deepEqual(await found(bea, `assignedTo=${ana.userId}`), [one])
  assert.deepEqual(await found(bea, 'assignedTo=none'), [two])
})

test('a search by name finds conversations of leads with that name, and of no other workspace', async () => {
  const w = await inboxWorld()
  const member = await signedInMember(w)
  const { id } = await w.customerWrites('Hi')
  await w.deliver(customerMessage({ at: w.clock.now(), customer: customer(1) }))
  const lead = { firstName: 'Benedita', lastName: 'Souza', phone: '558191234567' }
  const { value: key } = await w.addKey({ scopes: ['leads.write'] })
  const made = await w.call('POST', '/api/v1/leads', { body: lead, key })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  assert.deepEqual(await found(member, 'search=souza'), [id])
  assert.deepEqual(await found(member, 'search=BENEDITA%20SOU'), [id])
  assert.deepEqual(await found(member, 'search=Nobody'), [])
  const elsewhere = await inboxWorld()
  await elsewhere.customerWrites('Hi')
  assert.deepEqual(await found(await signedInMember(elsewhere), 'search=souza'), [])
})
const named: [what: string, name: string | null, lead: string | null, shown: string | null][] = [
  ['a customer with a lead has the name of the lead', 'Mari', 'Marina Duarte', 'Marina Duarte'],
  ['a customer who never wrote has the name of the lead', null, 'Marina Duarte', 'Marina Duarte'],
  ['a customer without a lead has the profile name', 'Mari', null, 'Mari'],
  ['a customer with only a number has no name', null, null, null],
  ['a lead named by its number is ignored', 'Mari', '+55 (81) 99123-4567', 'Mari'],
  ['a name can have letters of any script', null, 'مارينا', 'مارينا'],
]

for (const [what, name, lead, shown] of named)
  test(`${what}`, () => {
    const { phone } = marina
    const card = lead === null ? null : { id: 'lead', name: lead }
    assert.deepEqual(resolveContact({ name, phone }, card), {
      name: shown,
      profileName: name,
      phone,
      leadId: card?.id ?? null,
    })
  })

test('a customer has the current name of their lead wherever the team sees them, also if the lead is created later', async () => {
  const w = await inboxWorld()
  const ana = await signedInMember(w)
  const { id } = await w.customerWrites('Where is the blue sofa?', { customer: { ...marina, name: 'Mari' } })
  const lia = await signedInMember(w)
  await ana.call('POST', `${path}/${id}/notes`, { text: 'Look', mentions: [lia.userId] })
  const { value: key } = await w.addKey({ scopes: ['leads.read', 'leads.write', 'leads.delete'] })
  const names = async () => {
    const rows = (await lia.call('GET', path)).body.conversations
    const found = (await lia.call('GET', '/inbox/messages?search=sofa')).body.messages
    const mentions = (await lia.call('GET', '/inbox/mentions')).body.mentions
    const { notices } = (await lia.call('GET', '/notices')).body
    const { conversation } = (await lia.call('GET', `${path}/${id}`)).body
    const changed = (await lia.call('POST', `${path}/${id}/read`)).body.conversation
    return [
      ...[rows[0], found[0], mentions[0].conversation, conversation, changed].map(({ contact }) => contact.name),
      notices[0].conversation.name,
    ]
  }
  const all = (name: string) => Array(6).fill(name)
  assert.deepEqual(await names(), all('Mari'))
  // Without the ninth digit, as many people write it.
  const { body: made } = await w.call('POST', '/api/v1/leads', {
    body: { firstName: 'Marina', lastName: 'Duarte', phone: '558191234567' },
    key,
  })
  assert.deepEqual(await names(), all('Marina Duarte'))
  await w.call('PATCH', `/api/v1/leads/${made.lead.id}`, { body: { lastName: 'Prado' }, key })
  assert.deepEqual(await names(), all('Marina Prado'))
  await w.call('DELETE', `/api/v1/leads/${made.lead.id}`, { key })
  assert.deepEqual(await names(), all('Mari'))
  // The Inbox API returns the name from the platform.
  assert.equal((await w.conversations())[0].contact.name, 'Mari')
})

test('an invalid query is 400', async () => {
  const member = await signedInMember(await inboxWorld())
  const queries = ['status=open,lost', 'status=', 'sort=name', 'view=theirs', 'assignedTo=ana', 'search=%20', 'x=1']
  for (const query of queries) assert.equal((await member.call('GET', `${path}?${query}`)).status, 400, query)
})
