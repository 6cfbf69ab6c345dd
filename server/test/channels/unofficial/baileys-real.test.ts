import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { parseEvent } from '../../../src/channels/unofficial/parse/parse-event.ts'
import { type BaileysPackage, loadBaileys } from '../../../src/channels/unofficial/transport/baileys-package.ts'
import { type BaileysState, loadIdentity } from '../../../src/channels/unofficial/transport/baileys-socket.ts'
import {
  baileysTransport,
  fileMessage,
  uploadFile,
} from '../../../src/channels/unofficial/transport/baileys-transport.ts'
import { at, socketMessage, upsert } from '../../support/channels/session-events.ts'
import { createListener, createRecordingLog, isClose, memoryAuth } from '../../support/channels/session-socket.ts'

// The package is not a dependency: pass a folder that contains it, or install it here.
const folder = process.env.BAILEYS_FOLDER
const load = async () =>
  folder === undefined
    ? loadBaileys()
    : ((await import(pathToFileURL(join(folder, 'node_modules/baileys/lib/index.js')).href)) as BaileysPackage)
const baileys = await load().catch(() => null)
const skip = baileys === null ? 'baileys is not installed: BAILEYS_FOLDER names no folder that has it' : false
const now = new Date('2026-11-01T00:00:00.000Z')

function installed(): BaileysPackage {
  assert.ok(baileys)
  return baileys
}

interface Codec {
  fromObject(value: object): object
  encode(message: object): { finish(): Uint8Array }
  decode(bytes: Uint8Array): object
}

test('messages decoded by the package are parsed like plain ones', { skip }, () => {
  const { WebMessageInfo } = installed().proto as unknown as { WebMessageInfo: Codec }
  const decoded = (value: object) => {
    const { encode, decode, fromObject } = WebMessageInfo
    return decode(encode(fromObject(value)).finish())
  }
  const contents: [message: object, kind: string, text: string][] = [
    [{ conversation: 'Hello' }, 'text', 'Hello'],
    [{ imageMessage: { caption: 'mine', fileLength: 7 } }, 'image', 'mine'],
    [{ locationMessage: { degreesLatitude: 1.5, degreesLongitude: 2 } }, 'location', '1.5, 2'],
    [{ viewOnceMessageV2: { message: { videoMessage: { caption: 'x' } } } }, 'video', 'x'],
    [{ listResponseMessage: { title: 'Blue' } }, 'text', 'Blue'],
  ]
  const messages = contents.map(([message], n) => decoded(socketMessage(message, {}, { id: `3A${n}` })))
  messages.push(decoded(socketMessage({ protocolMessage: { type: 0, key: { id: 'x' } } })))
  messages.push(decoded(socketMessage(undefined, { messageStubType: 2 })))
  const { events, skipped } = parseEvent(upsert(...messages), now)
  assert.deepEqual(
    events.map((event) => event.type === 'message' && [event.kind, event.text]),
    contents.map(([, kind, text]) => [kind, text]),
  )
  for (const event of events) assert.ok(event.type === 'message' && event.at.getTime() === at * 1000)
  assert.equal(skipped.length, 2)
  // History contains no status for most messages.
  const old = [decoded(socketMessage({ conversation: 'x' }, {}, { fromMe: true }))]
  const [told] = parseEvent({ event: 'messaging-history.set', data: { messages: old } }, now).events
  assert.ok(told?.type === 'history' && told.status === 'delivered')
})

/** A server that accepts a connection and drops it: at once, or after the first message. */
async function droppingServer(after: 'at once' | 'a word') {
  const server = createServer()
  server.on('upgrade', ({ headers }, socket) => {
    const key = createHash('sha1').update(`${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    const accept = `Sec-WebSocket-Accept: ${key.digest('base64')}`
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n${accept}\r\n\r\n`)
    socket.on('error', () => {})
    if (after === 'at once') socket.end()
    else socket.once('data', () => socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws`, stop: () => server.close() }
}

for (const after of ['at once', 'a word'] as const) {
  test(`the real package on a connection dropped after ${after}: connecting, closed, retried`, {
    skip,
  }, async () => {
    const { url, stop } = await droppingServer(after)
    const who = createListener()
    const log = createRecordingLog()
    const transport = baileysTransport({ log, load, webSocketUrl: url })
    const codes: (number | null | undefined)[] = []
    for (const _ of [0, 1]) {
      who.receivedEvents.length = 0
      const socket = transport.open(who)
      const update = parseEvent(await who.until(isClose), now).update
      assert.deepEqual(parseEvent(who.receivedEvents[0] ?? { event: 'connection.update', data: {} }, now).update, {
        state: 'connecting',
      })
      codes.push(update?.code)
      await assert.rejects(
        socket.send({ id: '3EB0', jid: '5511900000001@s.whatsapp.net', text: 'x', previewUrl: false }),
      )
      await socket.close()
    }
    assert.deepEqual(codes, [428, 428])
    // An unlinked identity is created again each time, and stored.
    assert.deepEqual(who.auth.writes, ['creds', 'creds'])
    assert.deepEqual(log.lines, [])
    stop()
  })
}

test('a real identity is restored unchanged, with its keys', { skip }, async () => {
  const { BufferJSON, proto } = installed()
  const store = memoryAuth()
  const first = await loadIdentity(installed(), store)
  Object.assign(first.creds, { me: { id: '5511900000001:7@s.whatsapp.net' }, account: { details: Buffer.from('x') } })
  await first.save()
  const pair = { public: Buffer.alloc(32, 1), private: Buffer.alloc(32, 2) }
  const state = proto.Message.AppStateSyncKeyData.fromObject({ keyData: Buffer.from('secret'), timestamp: 7 })
  await first.keys.set({ 'pre-key': { 1: pair, 2: pair }, 'app-state-sync-key': { AAAA: state } })
  await first.keys.set({ 'pre-key': { 1: null } })
  const again = await loadIdentity(installed(), store)
  const plain = (value: unknown) => JSON.stringify(value, BufferJSON.replacer)
  assert.equal(plain(again.creds), plain(first.creds))
  assert.deepEqual(await again.keys.get('pre-key', ['1', '2']), { 2: pair })
  const { AAAA: revived } = await again.keys.get('app-state-sync-key', ['AAAA'])
  assert.equal(plain(revived), plain(state))
  assert.equal(Object.getPrototypeOf(revived), Object.getPrototypeOf(state))
})

test('a file that the package encrypted and uploaded can be sent in a message', { skip }, async () => {
  const given: [bytes: number, type: unknown][] = []
  const wa = {
    waUploadToServer: async (path: string, { mediaType }: { mediaType: string }) => {
      given.push([(await readFile(path)).length, mediaType])
      return { mediaUrl: 'https://mmg.whatsapp.net/x', directPath: '/v/x' }
    },
  }
  const line = { wa, baileys: installed(), isOver: false } as unknown as BaileysState
  const bytes = async function* () {
    yield Buffer.from('a file!')
  }
  const { Message } = installed().proto as unknown as { Message: Codec }
  const kinds = ['image', 'video', 'audio', 'voice', 'document', 'sticker'] as const
  for (const kind of kinds) {
    const file = { id: 'x', kind, mimeType: 'a/b', name: null, size: 7, seconds: 3, waveform: [1, 99], bytes }
    const said = await uploadFile(line, file)
    const shown = fileMessage({ kind, name: null, mimeType: 'a/b', fileId: said }, '', null)
    const [type, told] = Object.entries(Message.decode(Message.encode(Message.fromObject(shown)).finish()))[0] as [
      string,
      Record<string, unknown>,
    ]
    assert.equal(type, `${kind === 'voice' ? 'audio' : kind}Message`)
    assert.deepEqual([told.directPath, (told.mediaKey as Buffer).length, Number(told.fileLength)], ['/v/x', 32, 7])
    if (kind === 'voice') assert.deepEqual([told.ptt, [...(told.waveform as Buffer)]], [true, [1, 99]])
  }
  // A block plus the digest: temporary data on disk is encrypted.
  assert.deepEqual(
    given,
    kinds.map((kind) => [26, kind === 'voice' ? 'audio' : kind]),
  )
})
