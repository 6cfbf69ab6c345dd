import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { ChannelEvent, Customer } from '../../../src/channels/channel-event.ts'
import { addAgent, conversationPath, customerMessage, inboxWorld, marina } from '../../support/inbox/inbox-world.ts'
import { signedInMember } from '../../support/member.ts'

test("a first message creates a conversation in the contract's shape", async () => {
  const w = await inboxWorld()
  const now = w.clock.now().toISOString()
  const conversation = await w.customerWrites('Hello!', { externalId: 'wamid.1' })
  assert.deepEqual(conversation, {
    id: conversation.id,
    connection_id: w.connectionId,
    channel: 'waba',
    owner: 'human',
    status: 'open',
    assigned_to_user_id: null,
    label_ids: [],
    unread_count: 1,
    window_expires_at: new Date(w.clock.now().getTime() + 24 * 3_600_000).toISOString(),
    snoozed_until: null,
    last_message_at: now,
    updated_at: now,
    contact: { name: 'Marina Duarte', phone: '5581991234567' },
  })
  const [message] = await w.messages(conversation.id)
  assert.deepEqual(message, {
    id: message.id,
    external_id: 'wamid.1',
    direction: 'inbound',
    kind: 'text',
    text: 'Hello!',
    media: null,
    status: 'delivered',
    error_code: null,
    actor: null,
    occurred_at: now,
    referral: null,
  })
  assert.deepEqual(await w.events(conversation.id), [
    {
      name: 'inbox.message.received',
      payload: {
        conversation: {
          id: conversation.id,
          connection_id: w.connectionId,
          channel: 'waba',
          owner: 'human',
          status: 'open',
          window_expires_at: conversation.window_expires_at,
        },
        contact: { phone: '5581991234567', name: 'Marina Duarte' },
        message: {
          id: message.id,
          external_id: 'wamid.1',
          kind: 'text',
          text: 'Hello!',
          media: null,
          occurred_at: now,
        },
        referral: null,
      },
    },
  ])
})

test('the referral of an ad is stored with its message and included in the event', async () => {
  const w = await inboxWorld()
  const referral = {
    ctwa_clid: null,
    source_id: '12',
    source_type: 'ad',
    source_url: 'https://fb.me/x',
    headline: null,
  }
  const { id } = await w.customerWrites('Hi', { referral })
  assert.deepEqual((await w.messages(id))[0].referral, referral)
  assert.deepEqual((await w.events(id))[0]?.payload.referral, referral)
})

test('a repeated delivery changes nothing', async () => {
  const w = await inboxWorld()
  const event = customerMessage({ at: w.clock.now() })
  await w.deliver(event, event)
  const [before] = await w.conversations()
  w.clock.advance(5000)
  await Promise.all([w.deliver(event), w.deliver(event)])
  assert.deepEqual(await w.conversations(), [before])
  assert.equal(before.unread_count, 1)
  assert.equal((await w.messages(before.id)).length, 1)
  assert.equal((await w.events(before.id)).length, 1)
})

for (const [when, agoMs] of Object.entries({ now: 0, 'a second before our last one': 1000 })) {
  test(`a customer message opens pending, snoozed, resolved and closed conversations, sent ${when}`, async () => {
    const w = await inboxWorld()
    const { value: key } = await addAgent(w)
    let before = await w.customerWrites('Hi')
    for (const status of ['pending', 'snoozed', 'resolved', 'closed']) {
      await w.patch(before.id, { status }, key)
      const after = await w.customerWrites('Again', { at: new Date(w.clock.now().getTime() - agoMs) })
      const unread = before.unread_count + 1
      assert.deepEqual([after.status, after.snoozed_until, after.unread_count], ['open', null, unread], status)
      assert.ok(after.last_message_at >= before.last_message_at, 'the newest message stays the newest')
      before = after
    }
  })
}

test('messages of one second get unique times in order of arrival', async () => {
  const w = await inboxWorld()
  const texts = ['a', 'b', 'c', 'd', 'e']
  await w.deliver(...texts.map((text) => customerMessage({ at: w.clock.now(), text })))
  const [{ id }] = await w.conversations()
  const messages = await w.messages(id)
  assert.deepEqual(
    messages.map((one) => one.text),
    texts,
  )
  const start = w.clock.now().getTime()
  assert.deepEqual(
    messages.map((one) => Date.parse(one.occurred_at) - start),
    [0, 1, 2, 3, 4],
  )
})

test('a late message neither shortens the window nor becomes the newest', async () => {
  const w = await inboxWorld()
  const before = await w.customerWrites('new')
  await w.deliver(customerMessage({ at: new Date(w.clock.now().getTime() - 7_200_000), text: 'old' }))
  const [after] = await w.conversations()
  assert.equal(after.window_expires_at, before.window_expires_at)
  assert.equal(after.last_message_at, before.last_message_at)
  assert.deepEqual(await w.texts(before.id), ['old', 'new'])
})

test('a platform notice is stored, but opens no window, is not unread and emits no message.received', async () => {
  const w = await inboxWorld()
  await w.deliver(customerMessage({ at: w.clock.now(), kind: 'system', text: 'Number changed', opensWindow: false }))
  const [conversation] = await w.conversations()
  assert.deepEqual([conversation.window_expires_at, conversation.unread_count], [null, 0])
  assert.deepEqual(
    (await w.messages(conversation.id)).map((one) => one.kind),
    ['system'],
  )
  assert.deepEqual(await w.events(conversation.id), [])
})

const variants: [what: string, first: string, second: string][] = [
  ['Brazil without the ninth digit', '5581991234567', '558191234567'],
  ['Mexico with the 1', '525512345678', '5215512345678'],
  ['Argentina with the 9', '541123456789', '5491123456789'],
]

for (const [what, first, second] of variants) {
  test(`phone variants join, never split: ${what}`, async () => {
    const w = await inboxWorld()
    for (const phone of [first, second, first]) {
      await w.deliver(customerMessage({ at: w.clock.now(), customer: { ...marina, phone } }))
    }
    const [conversation, ...others] = await w.conversations()
    assert.deepEqual([others.length, conversation.unread_count], [0, 3])
  })
}

test('two conversations of one customer are merged into the older one; both ids refer to it', async () => {
  const w = await inboxWorld()
  const older = await w.customerWrites('by phone')
  w.clock.advance(1000)
  const hidden = { userId: 'BR.1', parentUserId: null, phone: null, name: null }
  await w.deliver(customerMessage({ at: new Date(w.clock.now().getTime() - 1000), customer: hidden, text: 'by id' }))
  const younger = (await w.conversations()).find((one) => one.id !== older.id)
  await w.deliver(customerMessage({ at: w.clock.now(), customer: { ...hidden, phone: marina.phone }, text: 'both' }))
  const [merged, ...others] = await w.conversations()
  assert.deepEqual([merged.id, others.length, merged.unread_count], [older.id, 0, 3])
  const messages = await w.messages(younger.id)
  assert.deepEqual(
    messages.map((one) => one.text),
    ['by phone', 'by id', 'both'],
  )
  assert.equal(new Set(messages.map((one) => one.occurred_at)).size, 3)
  assert.equal((await w.call('GET', conversationPath(younger.id))).body.conversation.id, older.id)
})

test('a conversation that people have stays theirs when two are merged, whichever is older', async () => {
  for (const isYoungerTaken of [true, false]) {
    const w = await inboxWorld()
    const agentKey = await w.addKey({ scopes: ['inbox.read', 'inbox.write'] })
    const known = { userId: 'BR.1', parentUserId: null, phone: null, name: null }
    const [first, second] = isYoungerTaken ? [marina, known] : [known, marina]
    await w.deliver(customerMessage({ at: w.clock.now(), customer: first, text: 'first' }))
    const [older] = await w.conversations()
    w.clock.advance(1000)
    await w.deliver(customerMessage({ at: w.clock.now(), customer: second, text: 'second' }))
    const younger = (await w.conversations()).find(({ id }) => id !== older.id)
    const [taken, other] = isYoungerTaken ? [younger, older] : [older, younger]
    const member = await signedInMember(w)
    const conversations = '/inbox/conversations'
    await member.call('POST', `${conversations}/${taken.id}/take-over`)
    const owner = { body: { owner: `agent:${agentKey.id}` }, key: agentKey.value }
    assert.equal((await w.call('PATCH', conversationPath(other.id), owner)).status, 200)
    const both = { ...known, phone: marina.phone }
    await w.deliver(customerMessage({ at: w.clock.now(), customer: both, text: 'both' }))
    const { conversation } = (await member.call('GET', `${conversations}/${taken.id}`)).body
    assert.deepEqual([conversation.id, conversation.owner, conversation.held], [older.id, 'human', true])
    assert.equal(conversation.assignedTo?.userId ?? conversation.assignedTo, member.userId)
    const body = { kind: 'text', text: 'from the agent' }
    const headers = { 'idempotency-key': `after the merge ${isYoungerTaken}` }
    const sent = await w.call('POST', `${conversationPath(other.id)}/messages`, { key: agentKey.value, headers, body })
    assert.deepEqual([sent.status, sent.body.data?.code], [409, 'OWNER_MISMATCH'], JSON.stringify(sent.body))
    const events = (await w.events(older.id)).filter(({ name }) => name.endsWith('owner_changed'))
    assert.deepEqual([events.at(-1)?.payload.owner], ['human'])
  }
})

test('a number reassigned by the platform to another user id is another customer, and the first loses the phone', async () => {
  const w = await inboxWorld()
  await w.deliver(customerMessage({ at: w.clock.now(), customer: { ...marina, userId: 'BR.1' } }))
  await w.deliver(customerMessage({ at: w.clock.now(), customer: { ...marina, userId: 'BR.2', name: 'Ana' } }))
  const contacts = (await w.conversations()).map((one) => one.contact)
  assert.deepEqual(
    contacts.sort((a, b) => a.name.localeCompare(b.name)),
    [
      { name: 'Ana', phone: marina.phone },
      { name: 'Marina Duarte', phone: null },
    ],
  )
})

test('a customer who changes number keeps the conversation', async () => {
  const w = await inboxWorld()
  const before = await w.customerWrites('old number')
  const customer = { ...marina, phone: '5511988887777', name: null }
  await w.deliver({ type: 'customer_changed', previous: marina, customer, at: w.clock.now() })
  await w.deliver(customerMessage({ at: w.clock.now(), customer: { ...customer, userId: 'BR.9' }, text: 'new number' }))
  const [after, ...others] = await w.conversations()
  assert.deepEqual([after.id, others.length], [before.id, 0])
  assert.deepEqual(after.contact, { name: 'Marina Duarte', phone: '5511988887777' })
  assert.deepEqual(await w.conversations({ phone: marina.phone ?? '' }), [])
})

const shown = '5511988887777'
const hidden = { userId: 'BR.1', parentUserId: null, phone: null, name: 'Ana' }
const byPhone = { ...marina, phone: shown }
const joined: [what: string, first: Customer, second: Customer, from: Customer, to: Customer][] = [
  ['an old number and a new one', marina, byPhone, marina, byPhone],
  ['an older hidden customer and a number', hidden, byPhone, hidden, { ...hidden, phone: shown }],
  ['a number and a younger hidden customer', byPhone, hidden, hidden, { ...hidden, phone: shown }],
]
for (const [what, first, second, previous, customer] of joined) {
  test(`a change that matches two conversations merges them into the older one and loses neither: ${what}`, async () => {
    const w = await inboxWorld()
    for (const who of [first, second]) {
      await w.deliver(customerMessage({ at: w.clock.now(), customer: who }))
      w.clock.advance(1_000)
    }
    const [, older] = await w.conversations()
    await w.deliver({ type: 'customer_changed', previous, customer, at: w.clock.now() })
    const [after, ...others] = await w.conversations()
    assert.deepEqual([after.id, after.contact.phone, after.unread_count, others.length], [older.id, shown, 2, 0])
    assert.equal((await w.messages(after.id)).length, 2)
  })

  test(`a merge keeps state that people had in either conversation: ${what}`, async () => {
    for (const place of [0, 1]) {
      const w = await inboxWorld()
      await w.addKey({ scopes: ['inbox.read', 'inbox.write'], answersNewConversations: true })
      const member = await signedInMember(w)
      for (const who of [first, second]) {
        await w.deliver(customerMessage({ at: w.clock.now(), customer: who }))
        w.clock.advance(1_000)
      }
      const taken = (await w.conversations())[place]
      await member.call('POST', `/inbox/conversations/${taken.id}/take-over`)
      await w.deliver({ type: 'customer_changed', previous, customer, at: w.clock.now() })
      const { conversation } = (await member.call('GET', `/inbox/conversations/${taken.id}`)).body
      assert.deepEqual([conversation.owner, conversation.held], ['human', true], `${place}`)
    }
  })
}

test('names: the newest profile name wins, a contact book fills in only a missing one', async () => {
  const w = await inboxWorld()
  await w.customerWrites('a', { customer: { ...marina, name: null } })
  const book = { type: 'contact_named', customer: { ...marina, name: 'From the book' } } as const
  await w.deliver(book)
  assert.equal((await w.conversations())[0].contact.name, 'From the book')
  await w.customerWrites('b', { customer: { ...marina, name: 'Marina' } })
  await w.deliver(book)
  assert.equal((await w.conversations())[0].contact.name, 'Marina')
})

test('a call opens the window of a conversation and adds no message', async () => {
  const w = await inboxWorld()
  const call = () => ({ type: 'contact_opened', customer: marina, at: w.clock.now() }) as const
  await w.deliver(call())
  assert.deepEqual(await w.conversations(), [])
  const { id } = await w.customerWrites('Hi')
  w.clock.advance(25 * 3_600_000)
  assert.equal((await w.conversations())[0].window_expires_at, null)
  await w.deliver(call())
  const [after] = await w.conversations()
  assert.equal(Date.parse(after.window_expires_at) - w.clock.now().getTime(), 24 * 3_600_000)
  assert.equal((await w.messages(id)).length, 1)
})

test('a message from the phone assigns the conversation to people and answers it', async () => {
  const w = await inboxWorld()
  const { id: keyId } = await addAgent(w)
  const { id, owner } = await w.customerWrites('Hi')
  assert.equal(owner, `agent:${keyId}`)
  w.clock.advance(1000)
  const echo: ChannelEvent = {
    type: 'echo',
    externalId: 'wamid.e',
    customer: { ...marina, name: null },
    kind: 'text',
    text: 'On my way',
    at: w.clock.now(),
  }
  await w.deliver(echo)
  await w.deliver(echo)
  const [after] = await w.conversations()
  assert.equal(after.owner, 'human')
  const [, , changed, sent, ...more] = await w.events(id)
  assert.deepEqual(more, [])
  assert.deepEqual([changed?.name, changed?.payload.owner], ['inbox.conversation.owner_changed', 'human'])
  assert.deepEqual([sent?.name, sent?.payload.actor], ['inbox.message.sent', null])
  assert.deepEqual(
    (await w.messages(id)).map((one) => [one.direction, one.actor]),
    [
      ['inbound', null],
      ['outbound', null],
    ],
  )
})

test('history opens no window, is not unread, changes no owner and emits no event', async () => {
  const w = await inboxWorld()
  const { id: keyId } = await addAgent(w)
  const told = (text: string, direction: 'inbound' | 'outbound', customer = marina): ChannelEvent => ({
    type: 'history',
    externalId: randomUUID(),
    customer,
    kind: 'text',
    text,
    direction,
    status: 'read',
    at: new Date(w.clock.now().getTime() - 60_000),
  })
  const stranger = { ...marina, phone: '5511988887777' }
  await w.deliver(told('a', 'inbound', stranger), told('b', 'outbound', stranger))
  const [past] = await w.conversations()
  assert.deepEqual([past.owner, past.unread_count, past.window_expires_at], ['human', 0, null])
  assert.deepEqual(await w.events(past.id), [])
  const live = await w.customerWrites('Hi')
  await w.deliver(told('earlier', 'outbound'))
  const [after] = await w.conversations({ phone: marina.phone ?? '' })
  assert.deepEqual({ ...after, updated_at: live.updated_at }, live)
  assert.equal(after.owner, `agent:${keyId}`)
  assert.deepEqual(await w.texts(live.id), ['earlier', 'Hi'])
})

test('connection events are passed on, and each customer who wrote is reported', async () => {
  const w = await inboxWorld()
  const state = { type: 'connection_state', available: false, reason: 'partner_removed' } as const
  await w.deliver({ type: 'templates_changed' }, state, customerMessage({ at: w.clock.now() }))
  assert.deepEqual(w.notified.connection, [{ type: 'templates_changed' }, state])
  assert.deepEqual(
    w.notified.wrote.map((one) => one.phone),
    [marina.phone],
  )
})

test('parallel deliveries of one new customer create one conversation with every message', async () => {
  const w = await inboxWorld()
  await addAgent(w)
  const events = Array.from({ length: 20 }, (_, n) => customerMessage({ at: w.clock.now(), text: String(n) }))
  await Promise.all(events.map((event) => w.deliver(event)))
  const [conversation, ...others] = await w.conversations()
  assert.deepEqual([others.length, conversation.unread_count], [0, 20])
  const names = (await w.events(conversation.id)).map((event) => event.name)
  assert.equal(names.filter((name) => name === 'inbox.conversation.owner_changed').length, 1)
  assert.equal(names[0], 'inbox.conversation.owner_changed')
  assert.equal(names.length, 21)
})

test('parallel deliveries that identify a customer by user id and by phone end in one conversation', async () => {
  const w = await inboxWorld()
  const by = (userId: string | null, phone: string | null) => ({ userId, phone, parentUserId: null, name: null })
  const customers = [by('BR.5', null), by(null, marina.phone), by('BR.5', marina.phone), by('BR.5', marina.phone)]
  await Promise.all(customers.map((customer) => w.deliver(customerMessage({ at: w.clock.now(), customer }))))
  await w.deliver(customerMessage({ at: w.clock.now(), customer: by('BR.5', marina.phone) }))
  const [conversation, ...others] = await w.conversations()
  assert.equal(others.length, 0)
  assert.equal((await w.messages(conversation.id)).length, 5)
})
