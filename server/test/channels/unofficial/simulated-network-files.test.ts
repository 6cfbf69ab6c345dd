import assert from 'node:assert/strict'
import { createDecipheriv, createHash, createHmac, hkdfSync } from 'node:crypto'
import { test } from 'node:test'
import type { Loose } from '../../support/channels/rigs.ts'
import { linkDevice } from '../../support/channels/session-socket.ts'
import { simulatorWorld } from '../../support/channels/simulator.ts'

const w = await simulatorWorld()
const { url } = w.simulator
const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('base64')

/** Fetches and opens a file as Baileys does. */
async function download(told: Loose, type: 'Image' | 'Video' | 'Audio' | 'Document'): Promise<Buffer> {
  const answer = await fetch(`${url}${told.directPath}`)
  assert.equal(answer.status, 200)
  const sealed = Buffer.from(await answer.arrayBuffer())
  assert.equal(digest(sealed), told.fileEncSha256)
  const mediaKey = Buffer.from(told.mediaKey, 'base64')
  const keys = Buffer.from(hkdfSync('sha256', mediaKey, Buffer.alloc(32), `WhatsApp ${type} Keys`, 112))
  const [bytes, mac] = [sealed.subarray(0, -10), sealed.subarray(-10)]
  const iv = keys.subarray(0, 16)
  const expected = createHmac('sha256', keys.subarray(48, 80)).update(iv).update(bytes).digest()
  assert.deepEqual(mac, expected.subarray(0, 10))
  const cipher = createDecipheriv('aes-256-cbc', keys.subarray(16, 48), iv)
  const opened = Buffer.concat([cipher.update(bytes), cipher.final()])
  assert.deepEqual([opened.length, digest(opened)], [told.fileLength, told.fileSha256])
  return opened
}

test('each kind of file comes with all that opens it, and opens to what was sent', async () => {
  const device = await linkDevice(w)
  const uma = await w.person({ name: 'Uma' })
  const rows = [
    ['image', 'imageMessage', 'Image', 'image/jpeg'],
    ['video', 'videoMessage', 'Video', 'video/mp4'],
    ['voice', 'audioMessage', 'Audio', 'audio/ogg; codecs=opus'],
    ['audio', 'audioMessage', 'Audio', 'audio/ogg; codecs=opus'],
    ['document', 'documentMessage', 'Document', 'application/pdf'],
    ['sticker', 'stickerMessage', 'Image', 'image/webp'],
  ] as const
  for (const [kind, name, type, mimetype] of rows) {
    await w.says(uma.id, { kind })
    const told = (await device.upsert('notify')).message[name]
    assert.equal(told.mimetype, mimetype)
    await download(told, type)
    if (name === 'audioMessage') assert.equal(told.ptt, kind === 'voice')
    if (kind === 'voice') assert.deepEqual([told.seconds, Buffer.from(told.waveform, 'base64').length], [4, 64])
    if (kind === 'image')
      assert.deepEqual([told.width, told.height, told.jpegThumbnail.slice(0, 4)], [960, 720, '/9j/'])
  }
})

test('a file from a disk, with words below it, opens to the same bytes', async () => {
  const device = await linkDevice(w)
  const uma = await w.person({ name: 'Uma' })
  const bytes = Buffer.from('any bytes at all '.repeat(50_000))
  const { numberId } = w.simulator.phone
  const { body } = await w.bring(bytes, { numberId, type: 'text/csv', name: 'prices.csv' })
  await w.says(uma.id, { kind: 'document', fileId: body.fileId, text: 'The prices' })
  const { documentMessage } = (await device.upsert('notify')).message.documentWithCaptionMessage.message
  assert.deepEqual([documentMessage.fileName, documentMessage.caption], ['prices.csv', 'The prices'])
  assert.deepEqual(await download(documentMessage, 'Document'), bytes)
  assert.equal((await w.says(uma.id, { kind: 'image', fileId: '1' })).status, 422)
})

test('faults of files meet linked devices as well', async () => {
  const device = await linkDevice(w)
  const uma = await w.person({ name: 'Uma' })
  await w.says(uma.id, { kind: 'image' })
  const { directPath } = (await device.upsert('notify')).message.imageMessage
  await w.call('POST', '/simulator/faults', { effect: 'expired' })
  assert.equal((await fetch(url + directPath)).status, 404)
  assert.equal((await fetch(url + directPath)).status, 200)
  assert.equal((await fetch(`${url}/linked/media/guess`)).status, 404)
})

test('quotes carry what they quote; reactions and edits name the message and whose it is', async () => {
  const device = await linkDevice(w)
  const uma = await w.person({ name: 'Uma' })
  const typed = await w.types(uma.id, 'Green or blue?')
  await device.upsert('notify')
  await w.says(uma.id, { text: 'Green', about: typed })
  const { contextInfo } = (await device.upsert('notify')).message.extendedTextMessage
  assert.deepEqual([contextInfo.stanzaId, contextInfo.quotedMessage.conversation], [typed, 'Green or blue?'])
  await w.says(uma.id, { kind: 'reaction', text: '👍', about: typed })
  const { reactionMessage } = (await device.upsert('notify')).message
  assert.deepEqual([reactionMessage.key.id, reactionMessage.key.fromMe, reactionMessage.text], [typed, true, '👍'])
  const { body } = await w.says(uma.id, { kind: 'image', text: 'This gren' })
  const before = (await device.upsert('notify')).message.imageMessage
  await w.says(uma.id, { kind: 'edit', text: 'This green', about: body.id })
  const { protocolMessage } = (await device.upsert('notify')).message.editedMessage.message
  const { caption, fileSha256 } = protocolMessage.editedMessage.imageMessage
  assert.deepEqual([protocolMessage.key.id, caption, fileSha256], [body.id, 'This green', before.fileSha256])
})

/** Gives a file to the network by the one socket that is open. */
async function give(bytes: Buffer) {
  const socket = [...w.simulator.platform.linked.sockets.values()].find((one) => one.device?.socket === one)
  const base = `${url}/linked/sockets/${socket?.id}`
  const answer = await fetch(`${base}/files?type=image/png&name=a.png`, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream' },
    body: new Uint8Array(bytes),
  })
  assert.equal(answer.status, 201)
  const send = (body: object) =>
    w.call('POST', `/linked/sockets/${socket?.id}/messages`, { previewUrl: false, ratchet: 99, ...body })
  return { send, fileId: ((await answer.json()) as Loose).fileId }
}

test('a file that a device sends, and what it answers to, is with the other devices', async () => {
  await w.unlinkAll()
  await linkDevice(w)
  const uma = await w.person({ name: 'Uma' })
  const { body: said } = await w.says(uma.id, { text: 'Show me' })
  const jid = uma.userId
  const { send, fileId } = await give(Buffer.from('a picture, as it were'))
  const other = await linkDevice(w)
  const file = { fileId, kind: 'image' }
  assert.equal((await send({ id: 'A1', jid, file, text: 'Here', quotes: said.id })).status, 200)
  const told = (await other.next((event, data) => event === 'messages.upsert' && data.messages[0].key.id === 'A1'))
    .messages[0].message.imageMessage
  assert.deepEqual([told.caption, told.contextInfo.stanzaId], ['Here', said.id])
  assert.equal((await download(told, 'Image')).toString(), 'a picture, as it were')
  assert.equal((await send({ id: 'A4', jid })).status, 422)
  assert.equal((await send({ id: 'A5', jid, file: { fileId: '1', kind: 'image' } })).status, 422)
})
