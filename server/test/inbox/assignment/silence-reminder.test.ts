import assert from 'node:assert/strict'
import { test } from 'node:test'
import { remindOfSilence } from '../../../src/inbox/assignment/silence-reminder.ts'
import { inboxWorld } from '../../support/inbox/inbox-world.ts'
import { signedInMember } from '../../support/member.ts'

const dayMs = 86_400_000

async function silentWorld() {
  const w = await inboxWorld()
  const member = await signedInMember(w)
  const { id } = await w.customerWrites('I will think about it')
  const path = `/inbox/conversations/${id}`
  return {
    ...w,
    set: async (days: number) => {
      assert.equal((await member.call('PUT', `${path}/silence-reminder`, { days })).status, 200)
    },
    remove: () => member.call('DELETE', `${path}/silence-reminder`),
    shown: async () => (await member.call('GET', `${path}/follow-ups`)).body.silenceReminder,
    run: () => remindOfSilence(w.db, w.clock),
    reminded: async () =>
      (await member.call('GET', '/notices')).body.notices.filter((one: { kind: string }) => one.kind === 'silence')
        .length,
  }
}

test('a person is reminded once of a customer who has not written, by whichever node', async () => {
  const w = await silentWorld()
  await w.set(3)
  assert.equal((await w.shown()).name, 'Ana Lima')
  w.clock.advance(3 * dayMs - 1)
  await w.run()
  assert.equal(await w.reminded(), 0)
  w.clock.advance(1)
  await Promise.all([w.run(), w.run(), w.run()])
  assert.deepEqual([await w.reminded(), await w.shown()], [1, null])
})

test('a message of the customer ends the reminder, and a later reminder replaces it', async () => {
  const w = await silentWorld()
  await w.set(1)
  w.clock.advance(1_000)
  await w.customerWrites('I have decided')
  assert.equal(await w.shown(), null)
  w.clock.advance(dayMs)
  await w.run()
  assert.equal(await w.reminded(), 0)
  await w.set(1)
  await w.set(2)
  w.clock.advance(dayMs)
  await w.run()
  assert.equal(await w.reminded(), 0)
  w.clock.advance(dayMs)
  await w.run()
  assert.equal(await w.reminded(), 1)
  await w.set(1)
  assert.equal((await w.remove()).status, 200)
  w.clock.advance(dayMs)
  await w.run()
  assert.equal(await w.reminded(), 1)
})
