import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChannelEvent } from '../../../src/channels/channel-event.ts'
import { declaredPicture } from '../../support/inbox/declared-files.ts'
import { customerMessage, inboxWorld, marina } from '../../support/inbox/inbox-world.ts'
import { storedFiles, storedMessage } from '../../support/inbox/stored-messages.ts'

const { kind, ...details } = { ...declaredPicture, name: 'a.jpg', realType: null }
const media = { ...declaredPicture, name: 'a.jpg' }

test('the file of a message is due for download as soon as the message is stored', async () => {
  const w = await inboxWorld()
  const at = w.clock.now()
  const { id } = await w.customerWrites('Look', { externalId: 'wamid.1', kind: 'image', detail: { media } })
  const message = await storedMessage(w, 'wamid.1')
  const [file, ...others] = await storedFiles(w)
  assert.deepEqual(others, [])
  const place = { conversationId: id, connectionId: w.connectionId, messageId: message.id, direction: 'inbound' }
  assert.deepEqual(file, { id: file?.id, ...place, kind, state: 'coming', details, dueAt: at })
  assert.deepEqual(message.detail, { media: { id: file?.id, kind: 'image' } })
  assert.equal((await w.messages(id))[0].media, null, 'as the contract says')
})

test('files of echoes and of a history are downloaded like those of customers', async () => {
  const w = await inboxWorld()
  const said = { customer: marina, kind: 'image', text: '', at: w.clock.now(), detail: { media } } as const
  await w.deliver({ type: 'echo', externalId: 'wamid.1', ...said })
  const old = { type: 'history', status: 'read', ...said } as const
  await w.deliver({ ...old, externalId: 'wamid.2', direction: 'inbound' })
  await w.deliver({ ...old, externalId: 'wamid.3', direction: 'outbound' })
  const files = await storedFiles(w)
  assert.deepEqual(
    files.map(({ direction, state }) => [direction, state]),
    [
      ['outbound', 'coming'],
      ['inbound', 'coming'],
      ['outbound', 'coming'],
    ],
  )
})

test('a file that a history sends later belongs to its placeholder message, once', async () => {
  const w = await inboxWorld()
  const said = { externalId: 'wamid.1', customer: marina, at: w.clock.now() }
  const old = { type: 'history', direction: 'inbound', status: 'read', ...said } as const
  const shown: ChannelEvent = { ...old, kind: 'image', text: 'Look', detail: { media } }
  await w.deliver({ ...old, kind: 'system', text: 'Media' })
  await w.deliver(shown)
  await w.deliver(shown)
  await w.deliver({ ...shown, kind: 'video', text: 'Other' })
  const message = await storedMessage(w, 'wamid.1')
  assert.deepEqual([message.kind, message.text], ['image', 'Look'])
  const files = await storedFiles(w)
  assert.deepEqual(
    files.map(({ messageId, state }) => [messageId, state]),
    [[message.id, 'coming']],
  )
  assert.deepEqual(await w.events(message.conversationId), [])
  assert.deepEqual(message.detail, { media: { id: files[0]?.id, kind: 'image' } })
})

test('files stay with their messages when two conversations are merged', async () => {
  const w = await inboxWorld()
  const send = (customer: object) =>
    customerMessage({ at: w.clock.now(), kind: 'image', detail: { media }, customer: { ...marina, ...customer } })
  await w.deliver(send({ userId: null }))
  await w.deliver(send({ userId: 'BR.1', phone: null }))
  await w.deliver(send({ userId: 'BR.1' }))
  const [{ id }, ...others] = await w.conversations()
  assert.equal(others.length, 0)
  const files = await storedFiles(w)
  assert.deepEqual(
    files.map(({ conversationId }) => conversationId),
    [id, id, id],
  )
})
