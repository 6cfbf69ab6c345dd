import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { type BehaviourWorld, behaviourWorld } from '../../support/channels/behaviour-world.ts'
import type { Phone } from '../../support/channels/channel-rig.ts'
import { until } from '../../support/until.ts'
import { rigs } from './rigs.ts'

async function begun(w: BehaviourWorld): Promise<{ ana: Phone; id: string }> {
  const ana = await w.line.customer()
  await ana.writes('Olá')
  const { id } = await w.conversation(ana.phone)
  return { ana, id }
}
const arrived = async (phone: Phone) =>
  (await phone.chat()).filter(({ from }) => from === 'business').map(({ text }) => text)
const outbound = async (w: BehaviourWorld, id: string) =>
  (await w.messages(id)).filter(({ direction }) => direction === 'outbound')

for (const rig of rigs) {
  const { channel } = rig

  test(`${channel}: an agent that is taken over in the middle of a send has sent that, and nothing after it`, async () => {
    const w = await behaviourWorld(rig)
    const { ana, id } = await begun(w)
    await w.line.stallNext()
    const first = w.send(id, 'on its way')
    await until(async () => (await arrived(ana)).length === 1, 'the first message')
    const second = w.send(id, 'too late')
    await until(async () => (await outbound(w, id)).length === 2, 'the second message in the line')
    const taken = await w.team('POST', `/inbox/conversations/${id}/take-over`)
    assert.deepEqual([taken.status, taken.body.conversation.owner], [200, 'human'])
    assert.equal((await w.send(id, 'refused')).body.data.code, 'OWNER_MISMATCH')
    await w.line.speaks()
    await Promise.all([first, second])
    await w.settled()
    assert.deepEqual(await arrived(ana), ['on its way'])
    const stand = (await outbound(w, id)).map(({ text, status, error_code }) => [text, status, error_code])
    assert.deepEqual(stand, [
      ['on its way', 'delivered', null],
      ['too late', 'failed', 'owner_changed'],
    ])
  })

  test(`${channel}: what a member writes arrives, is told as theirs, and makes the conversation people's`, async () => {
    const w = await behaviourWorld(rig)
    const { ana, id } = await begun(w)
    const body = { kind: 'text', text: 'Ana here, in person' }
    const path = `/inbox/conversations/${id}/messages`
    const headers = { 'idempotency-key': randomUUID() }
    const answers = [
      await w.member.call('POST', path, body, headers),
      await w.member.call('POST', path, body, headers),
    ] as const
    assert.equal(answers[0].status, 202, JSON.stringify(answers[0].body))
    assert.deepEqual(answers[0].body, answers[1].body)
    await w.settled()
    assert.deepEqual(await arrived(ana), ['Ana here, in person'])
    assert.equal((await w.conversation(ana.phone)).owner, 'human')
    const [sent, ...others] = await w.events('inbox.message.sent')
    assert.deepEqual(others, [])
    assert.deepEqual(sent.payload.actor, { type: 'user', id: w.member.userId })
    assert.deepEqual(
      (await outbound(w, id)).map(({ status }) => status),
      ['delivered'],
    )
    assert.equal((await w.send(id, 'x')).body.data.code, 'OWNER_MISMATCH')
  })

  test(`${channel}: a message of which nothing is known is put right by what is told of it later`, async () => {
    const w = await behaviourWorld(rig)
    const { ana, id } = await begun(w)
    await w.line.silenceNext()
    const answer = await w.send(id, 'Did it go?', 'unknown')
    assert.deepEqual([answer.status, answer.body.data.code], [502, 'DELIVERY_FAILED'])
    const [message] = await outbound(w, id)
    assert.deepEqual([message.status, message.error_code], ['failed', 'outcome_unknown'])
    await w.line.speaks()
    const [mended, ...others] = await outbound(w, id)
    assert.deepEqual([mended.status, mended.error_code, others], ['delivered', null, []])
    assert.deepEqual(await arrived(ana), ['Did it go?'])
    const again = await w.send(id, 'Did it go?', 'unknown')
    assert.deepEqual([again.status, again.body], [answer.status, answer.body])
    const told = [...(await w.events('inbox.message.sent')), ...(await w.events('inbox.message.status'))]
    const last = told.at(-1).payload
    assert.equal(told[0].payload.message.status, 'failed')
    assert.deepEqual([last.message_id, last.status, last.error_code], [mended.id, 'delivered', null])
    await ana.reads()
    assert.equal((await outbound(w, id))[0].status, 'read')
    assert.deepEqual(await arrived(ana), ['Did it go?'])
  })

  test(`${channel}: what is typed on the number's phone and told thrice is there once`, async () => {
    const w = await behaviourWorld(rig)
    const { ana, id } = await begun(w)
    await w.line.tells({ again: 2, reversed: 3 })
    try {
      await ana.getsFromDevice('from the phone')
    } finally {
      await w.line.tells({})
    }
    const messages = await outbound(w, id)
    assert.deepEqual(
      messages.map(({ text, actor, status }) => [text, actor, status]),
      [['from the phone', null, rig.tellsOfEchoes ? 'delivered' : 'sent']],
    )
    assert.equal((await w.events('inbox.message.sent')).length, 1)
    assert.equal((await w.events('inbox.conversation.owner_changed')).at(-1).payload.owner, 'human')
  })

  const far = rig.tellsOfEchoes ? 'climbs as the network tells' : 'stays sent, as no platform tells more'
  test(`${channel}: what is typed on the number's phone ${far}`, async () => {
    const w = await behaviourWorld(rig)
    const { ana, id } = await begun(w)
    await ana.getsFromDevice('from the phone')
    const status = async () => (await outbound(w, id)).at(-1).status
    assert.equal(await status(), rig.tellsOfEchoes ? 'delivered' : 'sent')
    await ana.reads()
    assert.equal(await status(), rig.tellsOfEchoes ? 'read' : 'sent')
    const sent = (await w.events('inbox.message.sent')).map(({ payload }) => payload.message.status)
    const ticks = (await w.events('inbox.message.status')).map(({ payload }) => payload.status)
    assert.deepEqual([...sent, ...ticks].at(-1), rig.tellsOfEchoes ? 'read' : 'sent')
    assert.equal(new Set([...sent, ...ticks]).size, sent.length + ticks.length, 'each step is told once')
  })
}
