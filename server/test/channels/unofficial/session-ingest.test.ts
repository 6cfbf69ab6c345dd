import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presetId } from '../../../src/channels/unofficial/send/preset-id.ts'
import { customerPhone, sessionWorld } from '../../support/channels/session-world.ts'

test('a hidden address and its phone become one conversation once the network tells', async () => {
  const w = await sessionWorld()
  const socket = await w.pair()
  const lid = '210000000000001@lid'
  const message = { key: { remoteJid: lid, fromMe: false, id: 'L1' }, message: { conversation: 'Hidden' } }
  await socket.tell('messages.upsert', { type: 'notify', messages: [{ ...message, messageTimestamp: 1_772_000_000 }] })
  assert.equal((await w.conversation()).contact.phone, null)
  await socket.tell('lid-mapping.update', { lid, pn: `${customerPhone}@s.whatsapp.net` })
  assert.equal((await w.conversation()).contact.phone, customerPhone)
})

test('what fails to be stored is tried again before it counts as heard; what can never be is given up, and the next is heard', async () => {
  const heard: string[] = []
  let failures = 3
  const w = await sessionWorld({
    retryMs: 1,
    receive: async (_connection, events) => {
      for (const event of events) {
        if (event.type !== 'message') continue
        if (event.text === 'poison') throw new Error('It does not fit')
        if (failures-- > 0) throw new Error('The database is away')
        heard.push(event.text)
      }
    },
  })
  const socket = await w.pair()
  await socket.customerWrites(customerPhone, 'Hello')
  assert.deepEqual(heard, ['Hello'])
  await socket.customerWrites(customerPhone, 'poison')
  await socket.customerWrites(customerPhone, 'fine')
  assert.deepEqual(heard, ['Hello', 'fine'])
})

test('an id follows from the message, and differs between connections', () => {
  const id = presetId('01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e:1', 'a')
  assert.match(id, /^3EB0[0-9A-F]{18}$/)
  assert.equal(id, presetId('01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e:1', 'a'))
  assert.notEqual(id, presetId('01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e:1', 'b'))
  assert.notEqual(id, presetId('01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e:2', 'a'))
})
