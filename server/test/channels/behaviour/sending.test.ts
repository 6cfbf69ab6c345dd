import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BehaviourWorld, behaviourWorld } from '../../support/channels/behaviour-world.ts'
import type { Phone } from '../../support/channels/channel-rig.ts'
import { rigs } from './rigs.ts'

async function begun(w: BehaviourWorld): Promise<{ ana: Phone; id: string }> {
  const ana = await w.line.customer()
  await ana.writes('Olá')
  const { id } = await w.conversation(ana.phone)
  return { ana, id }
}
const arrived = async (phone: Phone) => (await phone.chat()).filter(({ from }) => from === 'business')
const last = async (w: BehaviourWorld, id: string) => (await w.messages(id)).at(-1)

/** What the only message was told to have become after `sent`: a fast platform says so before it has been told of. */
async function climbed(w: BehaviourWorld): Promise<string[]> {
  const sent = (await w.events('inbox.message.sent')).map(({ payload }) => payload.message.status)
  const ticks = (await w.events('inbox.message.status')).map(({ payload }) => payload.status)
  return [...sent, ...ticks].filter((status) => status !== 'sent')
}

for (const rig of rigs) {
  const { channel } = rig

  test(`${channel}: an agent's text arrives once, however often it is sent, and its ticks climb to read`, async () => {
    const w = await behaviourWorld(rig)
    const { ana, id } = await begun(w)
    const answers = await Promise.all(Array.from({ length: 4 }, () => w.send(id, 'How can I help?', 'the-one')))
    for (const { status, body } of answers) {
      assert.deepEqual([status, body.status, body.message_id], [202, 'sent', answers[0]?.body.message_id])
    }
    await w.settled()
    assert.deepEqual(await arrived(ana), [{ from: 'business', text: 'How can I help?', status: 'delivered' }])
    assert.equal((await last(w, id)).status, 'delivered')
    await ana.reads()
    assert.equal((await last(w, id)).status, 'read')
    assert.deepEqual(await climbed(w), ['delivered', 'read'])
    const sent = await w.events('inbox.message.sent')
    assert.deepEqual(
      sent.map(({ payload }) => payload.actor),
      [{ type: 'agent', id: w.agentId }],
    )
  })

  test(`${channel}: ticks that come twice and in another order only climb`, async () => {
    const w = await behaviourWorld(rig)
    const { id } = await begun(w)
    await w.line.tells({ again: 1, reversed: 2 })
    try {
      await w.send(id, 'How can I help?')
      await w.settled()
    } finally {
      await w.line.tells({})
    }
    assert.equal((await last(w, id)).status, 'delivered')
    assert.deepEqual(await climbed(w), ['delivered'])
  })

  test(`${channel}: a long text arrives whole and in order`, async () => {
    const w = await behaviourWorld(rig)
    const { ana, id } = await begun(w)
    const words = Array.from({ length: 1200 }, (_, n) => `word${n}`)
    assert.equal((await w.send(id, words.join(' '))).status, 202)
    await w.settled()
    const parts = (await arrived(ana)).map(({ text }) => text)
    assert.deepEqual(parts.join(' ').split(/\s+/), words)
  })

  test(`${channel}: a refused message has failed, with the platform's code, and never arrives`, async () => {
    const w = await behaviourWorld(rig)
    const { ana, id } = await begun(w)
    await w.line.refuseNext()
    const answer = await w.send(id, 'Hello?', 'refused')
    assert.equal(answer.body.status, 'failed')
    assert.deepEqual((await w.send(id, 'Hello?', 'refused')).body, answer.body)
    await w.settled()
    assert.deepEqual(await arrived(ana), [])
    const { status, error_code } = await last(w, id)
    assert.equal(status, 'failed')
    assert.match(error_code, /^\d+$/)
    assert.equal((await w.send(id, 'Again')).body.status, 'sent')
  })

  test(`${channel}: after a takeover the agent sends no more, until it is handed back`, async () => {
    const w = await behaviourWorld(rig)
    const { ana, id } = await begun(w)
    assert.equal((await w.team('POST', `/inbox/conversations/${id}/take-over`)).status, 200)
    const refused = await w.send(id, 'from the agent')
    assert.deepEqual([refused.status, refused.body.data.code], [409, 'OWNER_MISMATCH'])
    await w.team('POST', `/inbox/conversations/${id}/hand-back`, { keyId: w.agentId })
    assert.equal((await w.send(id, 'and back')).body.status, 'sent')
    await w.settled()
    assert.deepEqual(
      (await arrived(ana)).map(({ text }) => text),
      ['and back'],
    )
  })

  test(`${channel}: a paused connection sends nothing and still receives`, async () => {
    const w = await behaviourWorld(rig)
    const { ana, id } = await begun(w)
    const connection = `/connections/${w.line.connectionId}`
    await w.team('POST', `${connection}/pause`)
    const refused = await w.send(id, 'x')
    assert.deepEqual([refused.status, refused.body.data.code], [409, 'CONNECTION_UNAVAILABLE'])
    await ana.writes('still there?')
    assert.equal((await last(w, id)).text, 'still there?')
    const resumed = await w.team('POST', `${connection}/resume`)
    assert.equal(resumed.body.connection.state, 'active')
    assert.equal((await w.send(id, 'Yes')).body.status, 'sent')
  })

  test(`${channel}: a connection that its platform disowns is unavailable, until it is taken back`, async () => {
    const w = await behaviourWorld(rig)
    const { id } = await begun(w)
    const connection = `/connections/${w.line.connectionId}`
    await w.line.disown()
    if (!rig.hangsUp) assert.equal((await w.send(id, 'x')).body.status, 'failed')
    const { state, stateReason } = (await w.team('GET', connection)).body.connection
    assert.equal(state, 'unavailable')
    assert.match(stateReason, /^[a-z0-9_]+$/)
    assert.equal((await w.send(id, 'x')).body.data.code, 'CONNECTION_UNAVAILABLE')
    await w.line.takeBack()
    assert.equal((await w.team('GET', connection)).body.connection.state, 'active')
    if (rig.needsAcknowledgement) {
      const refused = await w.send(id, 'x')
      assert.deepEqual([refused.status, refused.body.data.code], [409, 'ACKNOWLEDGEMENT_REQUIRED'])
      assert.equal((await w.member.call('POST', `${connection}/acknowledge`)).status, 200)
    }
    assert.equal((await w.send(id, 'x')).body.status, 'sent')
  })

  test(`${channel}: a template goes out where there are any, outside the window too; a text does not`, async () => {
    const w = await behaviourWorld(rig)
    const { ana, id } = await begun(w)
    const template = {
      kind: 'template',
      template: { name: 'order_update', language: 'en', body_params: ['Ana', 'A-17'] },
    }
    await w.team('POST', `/connections/${w.line.connectionId}/templates/sync`)
    await w.later(25 * 3_600_000)
    const refused = await w.send(id, 'too late')
    assert.deepEqual([refused.status, refused.body.data.code], [422, 'WINDOW_CLOSED'])
    const headers = { 'idempotency-key': 'template' }
    const answer = await w.agent('POST', `/conversations/${id}/messages`, { body: template, headers })
    if (!rig.hasTemplates) {
      assert.equal(answer.body.data.code, 'TEMPLATE_NOT_APPROVED')
      return
    }
    assert.equal(answer.body.status, 'sent', JSON.stringify(answer.body))
    await w.settled()
    assert.deepEqual(
      (await arrived(ana)).map(({ text }) => text),
      ['Hi Ana, your order A-17 ships today.'],
    )
  })

  test(`${channel}: a key without phones sees them masked`, async () => {
    const w = await behaviourWorld(rig)
    const { ana } = await begun(w)
    const settings = { name: 'Masked', scopes: ['inbox.read'], phoneVisibility: 'masked' }
    const { value } = (await w.team('POST', '/keys', settings)).body
    const { body } = await w.agent('GET', '/conversations', { key: value })
    assert.equal(body.conversations.length, 1)
    assert.ok(!JSON.stringify(body).includes(ana.phone))
  })
}
