import assert from 'node:assert/strict'
import { readEvent } from '../../../src/channels/unofficial/read/read-event.ts'
import type { SocketEvent } from '../../../src/channels/unofficial/transport/transport.ts'
import {
  customerDigits,
  customerJid,
  customerLid,
  socketMessage,
  upsert,
} from '../../support/channels/session-events.ts'
import { test, type WorldMaker } from '../../support/inbox/both-forms.ts'

/** An inbox that is told what a session's socket told. */
async function sessionWorld(inboxWorld: WorldMaker) {
  const w = await inboxWorld()
  return {
    ...w,
    hear: async (event: SocketEvent) => w.tell(...readEvent(event, w.clock.now()).events),
    people: async () => {
      const all = await w.conversations()
      return all.map(({ contact, unread_count }) => [contact.name, contact.phone, unread_count])
    },
  }
}

const says = (text: string, key: object = {}, more: object = {}) =>
  upsert(socketMessage({ conversation: text }, { messageTimestamp: 1_773_144_000, ...more }, { ...key }))
const hidden = { remoteJid: customerLid }
const mapping: SocketEvent = { event: 'lid-mapping.update', data: { lid: customerLid, pn: customerJid } }

test('who seemed to be two becomes one, with all they wrote', async (inboxWorld) => {
  const { hear, people, conversations, messages } = await sessionWorld(inboxWorld)
  await hear(says('By phone'))
  await hear(says('Hidden', hidden))
  await hear(says('Hidden again', hidden))
  assert.equal((await people()).length, 2)
  await hear(mapping)
  await hear(mapping)
  assert.deepEqual(await people(), [['Ana', customerDigits, 3]])
  const [one] = await conversations()
  assert.equal((await messages(one.id)).length, 3)
})

test('what could not be decrypted shows nothing, and counts when it comes again', async (inboxWorld) => {
  const { hear, people } = await sessionWorld(inboxWorld)
  const key = { id: '3A0LATE' }
  await hear(upsert(socketMessage(undefined, { messageStubType: 2 }, key)))
  assert.deepEqual(await people(), [])
  await hear(says('Here I am', key))
  await hear(says('Here I am', key))
  assert.deepEqual(await people(), [['Ana', customerDigits, 1]])
})

test("history raises no unread count, and the phone's own words make the conversation human", async (inboxWorld) => {
  const { hear, people, conversations, messages } = await sessionWorld(inboxWorld)
  const old = socketMessage({ conversation: 'Long ago' }, { messageTimestamp: 1_770_000_000 }, hidden)
  const data = { messages: [old], contacts: [{ id: customerJid, name: 'Ana Souza' }], lidPnMappings: [mapping.data] }
  await hear({ event: 'messaging-history.set', data })
  assert.deepEqual(await people(), [['Ana', customerDigits, 0]])
  await hear(says('Good morning', { fromMe: true }, { pushName: 'The shop' }))
  const [one] = await conversations()
  assert.deepEqual([one.owner, one.contact.name], ['human', 'Ana'])
  const said = (await messages(one.id)).map((message: { direction: string; text: string }) => [
    message.direction,
    message.text,
  ])
  assert.deepEqual(said.sort(), [
    ['inbound', 'Long ago'],
    ['outbound', 'Good morning'],
  ])
})
