import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BehaviourWorld, behaviourWorld } from '../../support/channels/behaviour-world.ts'
import { rigs } from './rigs.ts'

const textsOf = async (w: BehaviourWorld, id: string) => (await w.messages(id)).map(({ text }) => text)
const day = 86_400_000

for (const rig of rigs) {
  const { channel } = rig

  test(`${channel}: what a customer writes opens a conversation and its window, counts as unread, and is told`, async () => {
    const w = await behaviourWorld(rig)
    const ana = await w.line.customer('Ana Lima')
    await ana.writes('Olá')
    const one = await w.conversation(ana.phone)
    assert.partialDeepStrictEqual(one, {
      connection_id: w.line.connectionId,
      channel,
      owner: `agent:${w.agentId}`,
      status: 'open',
      unread_count: 1,
      contact: { name: 'Ana Lima', phone: ana.phone },
    })
    const [message] = await w.messages(one.id)
    assert.partialDeepStrictEqual(message, { direction: 'inbound', kind: 'text', text: 'Olá', actor: null })
    assert.equal(Date.parse(one.window_expires_at) - Date.parse(message.occurred_at), day)
    const [event, ...others] = await w.events('inbox.message.received')
    assert.deepEqual(others, [])
    const { payload } = event
    assert.deepEqual(
      [payload.conversation.id, payload.conversation.channel, payload.message.text],
      [one.id, channel, 'Olá'],
    )

    await ana.writes('Are you there?')
    assert.equal((await w.conversation(ana.phone)).unread_count, 2)
    await w.agent('POST', `/conversations/${one.id}/read`)
    assert.equal((await w.conversation(ana.phone)).unread_count, 0)
  })

  test(`${channel}: what comes twice and in another order is there once`, async () => {
    const w = await behaviourWorld(rig)
    const ana = await w.line.customer()
    await w.line.tells({ again: 2, reversed: 3 })
    try {
      await Promise.all([ana.writes('one'), ana.writes('two'), ana.writes('three')])
    } finally {
      await w.line.tells({})
    }
    const one = await w.conversation(ana.phone)
    assert.deepEqual((await textsOf(w, one.id)).sort(), ['one', 'three', 'two'])
    assert.equal(one.unread_count, 3)
    assert.equal((await w.events('inbox.message.received')).length, 3)
  })

  test(`${channel}: media are kept as their kind and caption`, async () => {
    const w = await behaviourWorld(rig)
    const ana = await w.line.customer()
    for (const kind of ['image', 'video', 'audio', 'document', 'location'] as const) await ana.shows(kind, 'look')
    const one = await w.conversation(ana.phone)
    const messages = await w.messages(one.id)
    assert.deepEqual(
      messages.map(({ kind }) => kind),
      ['image', 'video', 'audio', 'document', 'location'],
    )
    assert.deepEqual([messages[0].text, messages[2].text], ['look', ''])
  })

  test(`${channel}: what somebody types on the number's phone is an echo, and makes the conversation people's`, async () => {
    const w = await behaviourWorld(rig)
    const ana = await w.line.customer()
    await ana.writes('Olá')
    await ana.getsFromDevice('I will do this myself')
    const one = await w.conversation(ana.phone)
    assert.equal(one.owner, 'human')
    const echo = (await w.messages(one.id)).at(-1)
    assert.partialDeepStrictEqual(echo, { direction: 'outbound', text: 'I will do this myself', actor: null })
    const [sent] = await w.events('inbox.message.sent')
    assert.equal(sent.payload.actor, null)
    const owners = await w.events('inbox.conversation.owner_changed')
    assert.deepEqual(
      owners.map(({ payload }) => payload.owner),
      [`agent:${w.agentId}`, 'human'],
    )
    assert.equal((await w.send(one.id, 'x')).body.data.code, 'OWNER_MISMATCH')
  })

  test(`${channel}: history is there to be read, and is no news`, async () => {
    const w = await behaviourWorld(rig)
    const ana = await w.line.customer()
    await w.line.history(ana.phone, 'long ago')
    const one = await w.conversation(ana.phone)
    assert.deepEqual([one.unread_count, one.window_expires_at], [0, null])
    assert.deepEqual(await textsOf(w, one.id), ['long ago'])
    assert.deepEqual(await w.events('inbox.message.received'), [])
  })

  test(`${channel}: a message to a number that is not connected is nobody's`, async () => {
    const w = await behaviourWorld(rig)
    await w.line.strange()
    assert.deepEqual((await w.agent('GET', '/conversations')).body.conversations, [])
  })

  test(`${channel}: nothing of a customer is logged`, async () => {
    const w = await behaviourWorld(rig)
    const ana = await w.line.customer('Zuleika Quimby')
    await ana.writes('a very private matter')
    const { id } = await w.conversation(ana.phone)
    await w.send(id, 'a very private answer')
    await w.settled()
    const logged = w.logLines.join()
    assert.ok(logged.includes('/api/v1/inbox/conversations/:id/messages'))
    for (const secret of [ana.phone, 'Zuleika', 'private matter', 'private answer']) assert.ok(!logged.includes(secret))
  })
}
