import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type BehaviorWorld,
  beginConversation,
  behaviorWorld,
  deliveredTexts,
} from '../../support/channels/behavior-world.ts'
import { rigs } from '../../support/channels/rigs.ts'

const outbound = async (w: BehaviorWorld, id: string) =>
  (await w.messages(id)).filter(({ direction }) => direction === 'outbound')
const last = async (w: BehaviorWorld, id: string) => (await w.messages(id)).at(-1)

for (const rig of rigs) {
  const { channel } = rig

  test(`${channel}: an agent's text arrives once despite repeats; repeated and reordered statuses never go back`, async () => {
    const w = await behaviorWorld(rig)
    const { ana, id } = await beginConversation(w)
    await w.line.setDuplication({ again: 1, reversed: 2 })
    try {
      const answers = await Promise.all(Array.from({ length: 4 }, () => w.send(id, 'How can I help?', 'the-one')))
      for (const { status, body } of answers) {
        assert.deepEqual([status, body.status, body.message_id], [202, 'sent', answers[0]?.body.message_id])
      }
      await w.settled()
    } finally {
      await w.line.setDuplication({})
    }
    assert.deepEqual((await ana.chat()).slice(1), [{ from: 'business', text: 'How can I help?', status: 'delivered' }])
    assert.equal((await last(w, id)).status, 'delivered')
    await ana.reads()
    assert.equal((await last(w, id)).status, 'read')
    const sent = await w.events('inbox.message.sent')
    assert.deepEqual(
      sent.map(({ payload }) => payload.actor),
      [{ type: 'agent', id: w.agentId }],
    )
    // A fast platform reports the status before it has returned the message id.
    const told = sent.map(({ payload }) => payload.message.status)
    told.push(...(await w.events('inbox.message.status')).map(({ payload }) => payload.status))
    assert.deepEqual(
      told.filter((status) => status !== 'sent'),
      ['delivered', 'read'],
    )
  })

  test(`${channel}: a rejected message fails with the platform's code and never arrives; a long one arrives complete`, async () => {
    const w = await behaviorWorld(rig)
    const { ana, id } = await beginConversation(w)
    await w.line.refuseNext()
    const answer = await w.send(id, 'Hello?', 'refused')
    assert.equal(answer.body.status, 'failed')
    assert.deepEqual((await w.send(id, 'Hello?', 'refused')).body, answer.body)
    await w.settled()
    assert.deepEqual(await deliveredTexts(ana), [])
    const { status, error_code } = await last(w, id)
    assert.equal(status, 'failed')
    assert.match(error_code, /^\d+$/)
    const words = Array.from({ length: 1200 }, (_, n) => `word${n}`)
    assert.equal((await w.send(id, words.join(' '))).body.status, 'sent')
    await w.settled()
    assert.deepEqual((await deliveredTexts(ana)).join(' ').split(/\s+/), words)
  })

  test(`${channel}: a later status corrects a message with an unknown outcome`, async () => {
    const w = await behaviorWorld(rig)
    const { ana, id } = await beginConversation(w)
    await w.line.silenceNext()
    const sending = w.send(id, 'Did it go?', 'unknown')
    await w.arrived(ana, 1)
    w.outwaitSession()
    const answer = await sending
    assert.deepEqual([answer.status, answer.body.data.code], [502, 'DELIVERY_FAILED'])
    const [message] = await outbound(w, id)
    assert.deepEqual([message.status, message.error_code], ['failed', 'outcome_unknown'])
    await w.line.resumeEvents()
    const [mended, ...others] = await outbound(w, id)
    assert.deepEqual([mended.status, mended.error_code, others], ['delivered', null, []])
    const again = await w.send(id, 'Did it go?', 'unknown')
    assert.deepEqual([again.status, again.body], [answer.status, answer.body])
    const told = [...(await w.events('inbox.message.sent')), ...(await w.events('inbox.message.status'))]
    assert.equal(told[0].payload.message.status, 'failed')
    const { message_id, status, error_code } = told.at(-1).payload
    assert.deepEqual([message_id, status, error_code], [mended.id, 'delivered', null])
    await ana.reads()
    assert.equal((await outbound(w, id))[0].status, 'read')
    assert.deepEqual(await deliveredTexts(ana), ['Did it go?'])
  })

  test(`${channel}: a member's message arrives, is attributed to the member, and assigns the conversation to people`, async () => {
    const w = await behaviorWorld(rig)
    const { ana, id } = await beginConversation(w)
    const answers = [1, 2].map(() => w.sendAsMember(id, { kind: 'text', text: 'Ana here, in person' }, 'one-key'))
    const [first, second] = await Promise.all(answers)
    assert.equal(first?.status, 202, JSON.stringify(first?.body))
    assert.deepEqual(first?.body, second?.body)
    await w.settled()
    assert.deepEqual(await deliveredTexts(ana), ['Ana here, in person'])
    assert.equal((await w.conversation(ana.phone)).owner, 'human')
    assert.deepEqual(
      (await w.events('inbox.message.sent')).map(({ payload }) => payload.actor),
      [{ type: 'user', id: w.member.userId }],
    )
    assert.deepEqual(
      (await outbound(w, id)).map(({ status }) => status),
      ['delivered'],
    )
    assert.equal((await w.send(id, 'x')).body.data.code, 'OWNER_MISMATCH')
  })

  test(`${channel}: a paused connection sends nothing and still receives; one that its platform rejects is unavailable until accepted again`, async () => {
    const w = await behaviorWorld(rig)
    const { ana, id } = await beginConversation(w)
    const connection = `/connections/${w.line.connectionId}`
    await w.team('POST', `${connection}/pause`)
    const paused = await w.send(id, 'x')
    assert.deepEqual([paused.status, paused.body.data.code], [409, 'CONNECTION_UNAVAILABLE'])
    await ana.writes('still there?')
    assert.equal((await last(w, id)).text, 'still there?')
    assert.equal((await w.team('POST', `${connection}/resume`)).body.connection.state, 'active')
    assert.equal((await w.send(id, 'Yes')).body.status, 'sent')

    await w.line.rejectCredentials()
    if (rig.isOfficial) assert.equal((await w.send(id, 'x')).body.status, 'failed')
    const { state, stateReason } = (await w.team('GET', connection)).body.connection
    assert.equal(state, 'unavailable')
    assert.match(stateReason, /^[a-z0-9_]+$/)
    assert.equal((await w.send(id, 'x')).body.data.code, 'CONNECTION_UNAVAILABLE')
    await w.line.restoreCredentials()
    assert.equal((await w.team('GET', connection)).body.connection.state, 'active')
    if (!rig.isOfficial) {
      const refused = await w.send(id, 'x')
      assert.deepEqual([refused.status, refused.body.data.code], [409, 'ACKNOWLEDGEMENT_REQUIRED'])
      assert.equal((await w.member.call('POST', `${connection}/acknowledge`)).status, 200)
    }
    assert.equal((await w.send(id, 'x')).body.status, 'sent')
  })

  test(`${channel}: a template can be sent outside the window, where supported; a text cannot`, async () => {
    const w = await behaviorWorld(rig)
    const { ana, id } = await beginConversation(w)
    const template = { name: 'order_update', language: 'en', body_params: ['Ana', 'A-17'] }
    await w.team('POST', `/connections/${w.line.connectionId}/templates/sync`)
    await w.later(25 * 3_600_000)
    const refused = await w.send(id, 'too late')
    assert.deepEqual([refused.status, refused.body.data.code], [422, 'WINDOW_CLOSED'])
    const answer = await w.agent('POST', `/conversations/${id}/messages`, {
      body: { kind: 'template', template },
      headers: { 'idempotency-key': 'template' },
    })
    if (!rig.isOfficial) {
      assert.equal(answer.body.data.code, 'TEMPLATE_NOT_APPROVED')
      return
    }
    assert.equal(answer.body.status, 'sent', JSON.stringify(answer.body))
    await w.settled()
    assert.deepEqual(await deliveredTexts(ana), ['Hi Ana, your order A-17 ships today.'])
  })
}
