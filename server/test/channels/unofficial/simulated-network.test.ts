import assert from 'node:assert/strict'
import { createDecipheriv, createHash, createHmac, hkdfSync } from 'node:crypto'
import { after, afterEach, test } from 'node:test'
import { inboundKinds } from '../../../../simulator/src/inbound.ts'
import { parseEvent } from '../../../src/channels/unofficial/parse/parse-event.ts'
import { platformServer, sendJson } from '../../support/channels/platform-server.ts'
import type { Loose } from '../../support/channels/rigs.ts'
import { linkDevice, openDevice } from '../../support/channels/session-socket.ts'
import { simulatorWorld } from '../../support/channels/simulator.ts'

const w = await simulatorWorld()
const { url } = w.simulator
afterEach(() => w.unlinkAll())
const jidOf = (phone: string) => `${phone}@s.whatsapp.net`
let ids = 0
const newId = () => `3EB0${String(++ids).padStart(18, '0')}`
const send = async (device: Awaited<ReturnType<typeof linkDevice>>, jid: string, text: string, id = newId()) => {
  await device.socket.send({ id, jid, text, previewUrl: false })
  return id
}

test('an unlinked or logged-out device receives 401 and does not reconnect; outdated keys are a bad session', async () => {
  const device = await linkDevice(w)
  await w.unlinkAll()
  assert.equal(await device.closed(), 401)
  assert.equal(await openDevice(url, { store: device.store }).closed(), 401)
  const second = await linkDevice(w)
  await second.socket.logout()
  assert.equal(await second.closed(), 401)
  const third = await linkDevice(w)
  const copy = new Map(third.store.keys)
  await third.status(await send(third, (await w.person()).userId, 'One'), 2)
  third.store.keys = copy
  assert.equal(await openDevice(url, { store: third.store }).closed(), 500)
})

test("a message has the devices' format; statuses of our reply are reported in order", async () => {
  const device = await linkDevice(w)
  const zoe = await w.person({ name: 'Zoë' })
  const said = await w.writes(zoe.id, 'Olá! Tudo bem?')
  const told = await device.upsert('notify')
  const address = { remoteJid: zoe.userId, remoteJidAlt: jidOf(zoe.phone), addressingMode: 'lid' }
  assert.deepEqual(told.key, { ...address, fromMe: false, id: said })
  assert.match(said, /^3A[0-9A-F]{18}$/)
  assert.deepEqual([told.pushName, told.message], ['Zoë', { conversation: 'Olá! Tudo bem?' }])
  assert.ok(Number.isInteger(told.messageTimestamp))
  await w.call('PATCH', `/simulator/customers/${zoe.id}`, { readsAtOnce: true })
  const id = await send(device, jidOf(zoe.phone), 'Tudo ótimo!')
  const own = await device.upsert('append')
  assert.deepEqual([own.key.id, own.key.fromMe, own.status], [id, true, 1])
  for (const status of [2, 3, 4]) await device.status(id, status)
  await device.socket.markRead(zoe.userId, said)
  for (const isTyping of [true, false]) {
    await device.socket.setTyping(zoe.userId, isTyping)
    assert.equal((await w.call('GET', `/simulator/customers/${zoe.id}`)).body.businessIsTyping, isTyping)
  }
  const statuses = (await w.chat(zoe.id)).map(({ status, arrivals }) => [status, arrivals])
  assert.deepEqual(statuses, [
    ['read', 1],
    ['read', 1],
  ])
})

test('uncommitted and missed messages arrive on the next socket as append', async () => {
  const crash = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<void>()
  const device = await linkDevice(w, {
    commit: async ({ event }) => {
      if (event !== 'messages.upsert') return
      arrived.resolve()
      await crash.promise
    },
  })
  const ana = await w.person({ name: 'Ana' })
  const first = await w.writes(ana.id, 'Lost in a crash')
  await arrived.promise
  await device.socket.close()
  const second = await w.writes(ana.id, 'While nobody was there')
  assert.deepEqual(
    (await w.chat(ana.id)).map(({ status }) => status),
    ['sent', 'sent'],
  )
  const back = openDevice(url, { store: device.store })
  assert.deepEqual([(await back.upsert('append')).key.id, (await back.upsert('append')).key.id], [first, second])
  await back.next((_event, data) => data.receivedPendingNotifications === true)
  await w.simulator.settled()
  assert.deepEqual(
    (await w.chat(ana.id)).map(({ status }) => status),
    ['delivered', 'delivered'],
  )
  crash.resolve()
  const third = openDevice(url, { store: device.store })
  await third.next((_event, data) => data.receivedPendingNotifications === true)
  assert.equal(
    third.receivedEvents.some(({ event }) => event === 'messages.upsert'),
    false,
  )
})

test('a device that cannot store keys sends and acknowledges nothing, and closes', async () => {
  const device = await linkDevice(w)
  const mia = await w.person({ name: 'Mia' })
  device.store.isFenced = true
  await assert.rejects(send(device, mia.userId, 'Fenced'))
  const id = await w.writes(mia.id, 'For the next holder')
  assert.equal(await device.closed(), 428)
  device.store.isFenced = false
  const next = openDevice(url, { store: device.store })
  assert.equal((await next.upsert('append')).key.id, id)
  assert.deepEqual(
    (await w.chat(mia.id)).map(({ text }) => text),
    ['For the next holder'],
  )
})

test('a message whose deadline passes while keys are stored is not sent', async () => {
  const device = await linkDevice(w)
  const ivo = await w.person({ name: 'Ivo' })
  let isInTime = true
  const { writeKeys } = device.store
  device.store.writeKeys = async (entries) => {
    await writeKeys(entries)
    isInTime = false
  }
  const message = { id: '3EB0AAAAAAAAAAAAAAAAA1', jid: ivo.userId, text: 'Too late', previewUrl: false }
  await assert.rejects(device.socket.send(message, () => isInTime))
  assert.deepEqual(await w.chat(ivo.id), [])
})

test('every kind of message is parsed or deliberately skipped', async () => {
  const device = await linkDevice(w)
  const uma = await w.person({ name: 'Uma' })
  const about = await w.writes(uma.id, 'First')
  await device.upsert('notify')
  const kinds = new Set<string>()
  for (const kind of inboundKinds) {
    await w.writes(uma.id, 'Words', { kind, about })
    const message = await device.upsert('notify')
    const data = { type: 'notify', messages: [message] }
    const { events, skipped } = parseEvent({ event: 'messages.upsert', data }, new Date())
    assert.equal(events.length + skipped.length, 1, kind)
    assert.ok(!skipped.includes('item that could not be parsed'), kind)
    for (const event of events) kinds.add(event.type === 'message' ? event.kind : event.type)
    assert.match(message.key.remoteJid, kind === 'group' ? /@g\.us$/ : /@lid$/)
  }
  const expected = ['text', 'image', 'video', 'audio', 'document', 'location', 'edited', 'withdrawn', 'reaction_lifted']
  for (const kind of expected) assert.ok(kinds.has(kind), kind)
  await w.writes(uma.id, 'I saw your ad', { ad: 'image' })
  const { contextInfo } = (await device.upsert('notify')).message.extendedTextMessage
  assert.match(contextInfo.externalAdReply.ctwaClid, /^AR/)
})

test('polling stops at an address that answers at once without events, and at one that does not respond', async () => {
  const lost = openDevice('http://127.0.0.1:9')
  await lost.next((_event, data) => data.connection === 'connecting')
  assert.equal(await lost.closed(), 428)
  await assert.rejects(lost.socket.markRead('x', 'y'))
  const answers = [{ socketId: 'one' }, { events: [{ seq: 1, event: 'connection.update', data: { qr: 'x' } }] }]
  const server = await platformServer((_, response) =>
    sendJson(response, 200, answers[server.requests.length - 1] ?? { events: [] }),
  )
  after(() => server.close())
  const device = openDevice(server.baseUrl)
  assert.equal(await device.closed(), 428)
  assert.equal(server.requests.length, 3)
})

const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('base64')

/** Downloads and decrypts a file as Baileys does. */
async function download(told: Loose, type: 'Image' | 'Video' | 'Audio' | 'Document'): Promise<Buffer> {
  const sealed = Buffer.from(await (await fetch(`${url}${told.directPath}`)).arrayBuffer())
  assert.equal(digest(sealed), told.fileEncSha256)
  const mediaKey = Buffer.from(told.mediaKey, 'base64')
  const keys = Buffer.from(hkdfSync('sha256', mediaKey, Buffer.alloc(32), `WhatsApp ${type} Keys`, 112))
  const [bytes, mac, iv] = [sealed.subarray(0, -10), sealed.subarray(-10), keys.subarray(0, 16)]
  const expected = createHmac('sha256', keys.subarray(48, 80)).update(iv).update(bytes).digest()
  assert.deepEqual(mac, expected.subarray(0, 10))
  const cipher = createDecipheriv('aes-256-cbc', keys.subarray(16, 48), iv)
  const opened = Buffer.concat([cipher.update(bytes), cipher.final()])
  assert.deepEqual([opened.length, digest(opened)], [told.fileLength, told.fileSha256])
  return opened
}

test('each kind of file arrives with its keys and decrypts to the original', async () => {
  const device = await linkDevice(w)
  const uma = await w.person({ name: 'Uma' })
  for (const [kind, name, type, mimetype] of [
    ['image', 'imageMessage', 'Image', 'image/jpeg'],
    ['video', 'videoMessage', 'Video', 'video/mp4'],
    ['voice', 'audioMessage', 'Audio', 'audio/ogg; codecs=opus'],
    ['document', 'documentMessage', 'Document', 'application/pdf'],
    ['sticker', 'stickerMessage', 'Image', 'image/webp'],
  ] as const) {
    await w.writes(uma.id, '', { kind })
    const told = (await device.upsert('notify')).message[name]
    assert.equal(told.mimetype, mimetype)
    await download(told, type)
    if (kind === 'voice') assert.deepEqual([told.ptt, told.seconds], [true, 4])
    if (kind === 'image') assert.deepEqual([told.width, told.jpegThumbnail.slice(0, 4)], [960, '/9j/'])
  }
  const bytes = Buffer.from('any bytes at all '.repeat(50_000))
  const { numberId } = w.simulator.phone
  const { body } = await w.uploadFile(bytes, { numberId, type: 'text/csv', name: 'prices.csv' })
  await w.writes(uma.id, 'The prices', { kind: 'document', fileId: body.fileId })
  const { documentMessage } = (await device.upsert('notify')).message.documentWithCaptionMessage.message
  assert.deepEqual([documentMessage.fileName, documentMessage.caption], ['prices.csv', 'The prices'])
  assert.deepEqual(await download(documentMessage, 'Document'), bytes)
  await w.call('POST', '/simulator/faults', { effect: 'expired' })
  assert.equal((await fetch(url + documentMessage.directPath)).status, 404)
})
