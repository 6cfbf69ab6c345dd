import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginConversation, behaviorWorld, deliveredTexts } from '../../support/channels/behavior-world.ts'
import { phoneRig, rigs } from '../../support/channels/rigs.ts'
import { until } from '../../support/until.ts'

// Slow: a takeover waits for a started send, up to its maximum duration.
for (const rig of rigs) {
  const { channel } = rig

  test(`${channel}: a takeover during an agent's send lets that message finish and blocks later ones`, async () => {
    const w = await behaviorWorld(rig)
    const { ana, id } = await beginConversation(w)
    const outbound = async () => (await w.messages(id)).filter(({ direction }) => direction === 'outbound')
    await w.line.stallNext()
    const first = w.send(id, 'on its way')
    await w.arrived(ana, 1)
    const second = w.send(id, 'too late')
    await until(async () => (await outbound()).length === 2, 'the second message in the line')
    const taken = await w.team('POST', `/inbox/conversations/${id}/take-over`)
    assert.deepEqual([taken.status, taken.body.conversation.owner], [200, 'human'])
    assert.equal((await w.send(id, 'refused')).body.data.code, 'OWNER_MISMATCH')
    await w.line.resumeEvents()
    await Promise.all([first, second])
    await w.settled()
    assert.deepEqual(await deliveredTexts(ana), ['on its way'])
    const stand = (await outbound()).map(({ text, status, error_code }) => [text, status, error_code])
    assert.deepEqual(stand, [
      ['on its way', 'delivered', null],
      ['too late', 'failed', 'owner_changed'],
    ])
  })
}

test('a session that loses its connection is unavailable and reconnects automatically', async () => {
  const w = await behaviorWorld(phoneRig)
  const { ana, id } = await beginConversation(w)
  const { phones } = await w.simulate('GET', 'phones')
  const { numberId } = phones.at(-1)
  const { connectionId } = w.line
  await w.simulate('POST', `phones/${numberId}/drop`, { code: 428, again: 2 })
  await w.whenSession(connectionId, ({ state }) => state === 'waiting')
  assert.equal((await w.team('GET', `/connections/${connectionId}`)).body.connection.stateReason, 'reconnecting')
  assert.equal((await w.send(id, 'x')).body.data.code, 'CONNECTION_UNAVAILABLE')
  const isOpen = async () => (await w.team('GET', `/connections/${connectionId}/session`)).body.session.state === 'open'
  await until(async () => {
    await w.later(10_000)
    return isOpen()
  }, 'an open session')
  assert.equal((await w.send(id, 'There we are')).body.status, 'sent')
  assert.deepEqual(await deliveredTexts(ana), ['There we are'])
})
