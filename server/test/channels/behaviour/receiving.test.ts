import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BehaviorWorld, beginConversation, behaviorWorld } from '../../support/channels/behavior-world.ts'
import { rigs } from '../../support/channels/rigs.ts'

const textsOf = async (w: BehaviorWorld, id: string) => (await w.messages(id)).map(({ text }) => text)
const day = 86_400_000

for (const rig of rigs) {
  const { channel } = rig

  test(`${channel}: a customer's message opens a conversation and its window, counts as unread, emits an event and is not logged`, async () => {
    const w = await behaviorWorld(rig)
    const ana = await w.line.customer('Zuleika Quimby')
    await ana.writes('a very private matter')
    const one = await w.conversation(ana.phone)
    assert.partialDeepStrictEqual(one, {
      connection_id: w.line.connectionId,
      channel,
      owner: `agent:${w.agentId}`,
      status: 'open',
      unread_count: 1,
      contact: { name: 'Zuleika Quimby', phone: ana.phone },
    })
    const [message] = await w.messages(one.id)
    const expected = { direction: 'inbound', kind: 'text', text: 'a very private matter', actor: null }
    assert.partialDeepStrictEqual(message, expected)
    assert.equal(Date.parse(one.window_expires_at) - Date.parse(message.occurred_at), day)
    const [{ payload }, ...others] = await w.events('inbox.message.received')
    assert.deepEqual(others, [])
    assert.deepEqual([payload.conversation.id, payload.conversation.channel], [one.id, channel])
    assert.equal(payload.message.text, 'a very private matter')

    await ana.writes('Are you there?')
    assert.equal((await w.conversation(ana.phone)).unread_count, 2)
    await w.agent('POST', `/conversations/${one.id}/read`)
    assert.equal((await w.conversation(ana.phone)).unread_count, 0)

    await w.send(one.id, 'a very private answer')
    await w.settled()
    const logged = w.logLines.join()
    assert.ok(logged.includes('/api/v1/inbox/conversations/:id/messages'))
    for (const secret of [ana.phone, 'Zuleika', 'private matter', 'private answer']) assert.ok(!logged.includes(secret))
  })

  test(`${channel}: repeated and reordered deliveries are stored once`, async () => {
    const w = await behaviorWorld(rig)
    const ana = await w.line.customer()
    await w.line.setDuplication({ again: 2, reversed: 3 })
    try {
      await Promise.all([ana.writes('one'), ana.writes('two'), ana.writes('three')])
    } finally {
      await w.line.setDuplication({})
    }
    const one = await w.conversation(ana.phone)
    assert.deepEqual((await textsOf(w, one.id)).sort(), ['one', 'three', 'two'])
    assert.equal(one.unread_count, 3)
    assert.equal((await w.events('inbox.message.received')).length, 3)
  })

  test(`${channel}: media are stored with their kind and caption`, async () => {
    const w = await behaviorWorld(rig)
    const ana = await w.line.customer()
    const kinds = ['image', 'video', 'audio', 'document', 'location'] as const
    for (const kind of kinds) await ana.shows(kind, 'look')
    const messages = await w.messages((await w.conversation(ana.phone)).id)
    assert.deepEqual(
      messages.map(({ kind }) => kind),
      kinds,
    )
    assert.deepEqual([messages[0].text, messages[2].text], ['look', ''])
  })

  const far = rig.isOfficial ? 'stays sent, as no platform tells more' : 'climbs as the network tells'
  test(`${channel}: a message typed on the number's phone is stored once, assigns the conversation to people, and ${far}`, async () => {
    const w = await behaviorWorld(rig)
    const { ana, id } = await beginConversation(w)
    await w.line.setDuplication({ again: 2 })
    try {
      await ana.receivesFromDevice('I will do this myself')
    } finally {
      await w.line.setDuplication({})
    }
    assert.equal((await w.conversation(ana.phone)).owner, 'human')
    const owners = (await w.events('inbox.conversation.owner_changed')).map(({ payload }) => payload.owner)
    assert.deepEqual(owners, [`agent:${w.agentId}`, 'human'])
    assert.equal((await w.send(id, 'x')).body.data.code, 'OWNER_MISMATCH')
    const [, echo, ...others] = await w.messages(id)
    assert.deepEqual(others, [])
    const status = rig.isOfficial ? 'sent' : 'delivered'
    assert.partialDeepStrictEqual(echo, { direction: 'outbound', text: 'I will do this myself', actor: null, status })
    await ana.reads()
    assert.equal((await w.messages(id)).at(-1).status, rig.isOfficial ? 'sent' : 'read')
    const sent = await w.events('inbox.message.sent')
    assert.deepEqual(
      sent.map(({ payload }) => payload.actor),
      [null],
    )
    const steps = sent.map(({ payload }) => payload.message.status)
    steps.push(...(await w.events('inbox.message.status')).map(({ payload }) => payload.status))
    assert.equal(steps.at(-1), rig.isOfficial ? 'sent' : 'read')
    assert.equal(new Set(steps).size, steps.length, 'each step is published once')
  })
}
