import assert from 'node:assert/strict'
import { test } from 'node:test'
import { begun, behaviourWorld } from '../../support/channels/behaviour-world.ts'
import { type Phone, rigs } from '../../support/channels/rigs.ts'
import { until } from '../../support/until.ts'

const arrived = async (phone: Phone) =>
  (await phone.chat()).filter(({ from }) => from === 'business').map(({ text }) => text)

// Slow: a takeover waits for a send that has begun, as long as its start may take.
for (const rig of rigs) {
  const { channel } = rig

  test(`${channel}: an agent that is taken over in the middle of a send has sent that, and nothing after it`, async () => {
    const w = await behaviourWorld(rig)
    const { ana, id } = await begun(w)
    const outbound = async () => (await w.messages(id)).filter(({ direction }) => direction === 'outbound')
    await w.line.stallNext()
    const first = w.send(id, 'on its way')
    await until(async () => (await arrived(ana)).length === 1, 'the first message')
    const second = w.send(id, 'too late')
    await until(async () => (await outbound()).length === 2, 'the second message in the line')
    const taken = await w.team('POST', `/inbox/conversations/${id}/take-over`)
    assert.deepEqual([taken.status, taken.body.conversation.owner], [200, 'human'])
    assert.equal((await w.send(id, 'refused')).body.data.code, 'OWNER_MISMATCH')
    await w.line.speaks()
    await Promise.all([first, second])
    await w.settled()
    assert.deepEqual(await arrived(ana), ['on its way'])
    const stand = (await outbound()).map(({ text, status, error_code }) => [text, status, error_code])
    assert.deepEqual(stand, [
      ['on its way', 'delivered', null],
      ['too late', 'failed', 'owner_changed'],
    ])
  })
}
