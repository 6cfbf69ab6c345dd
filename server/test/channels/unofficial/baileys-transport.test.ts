import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { parseEvent } from '../../../src/channels/unofficial/parse/parse-event.ts'
import { baileysMissing } from '../../../src/channels/unofficial/session/disconnect.ts'
import { baileysTransport } from '../../../src/channels/unofficial/transport/baileys-transport.ts'
import {
  createListener,
  createRecordingLog,
  isClose,
  type SocketListener,
} from '../../support/channels/session-socket.ts'
import { boom, type FakeSocket, fakeBaileys } from './fake-baileys.ts'

const now = new Date('2026-11-01T00:00:00.000Z')
const jid = '5511987650001@s.whatsapp.net'
const own = { id: '5511900000001:7@s.whatsapp.net' }

async function opened(who: SocketListener = createListener()) {
  const { promise: opening, resolve } = Promise.withResolvers<FakeSocket>()
  const baileys = fakeBaileys(resolve)
  const log = createRecordingLog()
  const socket = baileysTransport({ log, load: async () => baileys }).open(who)
  return { who, socket, wa: await opening, log, baileys }
}

const names = (who: SocketListener) => who.receivedEvents.map(({ event }) => event)
const closeOf = (who: SocketListener) =>
  parseEvent(who.receivedEvents.find(isClose) ?? { event: 'connection.update', data: {} }, now).update

test('without the package the socket closes with its own code, and the log refers to the documentation', async () => {
  const who = createListener()
  const log = createRecordingLog()
  const load = () => Promise.reject(Object.assign(new Error('not there'), { code: 'ERR_MODULE_NOT_FOUND' }))
  const socket = baileysTransport({ log, load }).open(who)
  await who.until(isClose)
  assert.deepEqual(closeOf(who), { state: 'closed', code: baileysMissing })
  assert.match(log.lines.join(), /Baileys is not installed/)
  await assert.rejects(socket.send({ id: '3EB0', jid, text: 'x', previewUrl: false }))
  await assert.rejects(socket.pairingCode('5511900000001'))
  await socket.close()
})

test('a store that fails is reported as a close without a code, so that it is retried', async () => {
  const who = createListener()
  who.auth.readCreds = () => Promise.reject(new Error('away'))
  baileysTransport({ log: createRecordingLog(), load: async () => fakeBaileys() }).open(who)
  await who.until(isClose)
  assert.deepEqual(closeOf(who), { state: 'closed', code: null })
})

test('events are delivered one at a time, however long each takes', async () => {
  const gates = [1, 2, 3].map(() => Promise.withResolvers<void>())
  const who = createListener()
  const keep = who.onEvent
  who.onEvent = async (event) => {
    await keep(event)
    await gates[who.receivedEvents.length - 1]?.promise
  }
  const { wa } = await opened(who)
  wa.happen({ 'messages.upsert': { messages: [] } })
  wa.happen({ 'messages.update': [], 'contacts.upsert': [] })
  for (const [before, gate] of gates.entries()) {
    await who.until(() => who.receivedEvents.length === before + 1)
    await turn()
    assert.equal(who.receivedEvents.length, before + 1)
    gate.resolve()
  }
  assert.deepEqual(names(who), ['messages.upsert', 'contacts.upsert', 'messages.update'])
})

test('a handler that fails still receives the next event; unused events are not delivered', async () => {
  const who = createListener()
  const keep = who.onEvent
  who.onEvent = async (event) => {
    await keep(event)
    if (who.receivedEvents.length === 1) throw new Error('a fault of ours')
  }
  const { wa } = await opened(who)
  wa.happen({ 'messages.upsert': {} })
  wa.happen({ 'presence.update': {}, 'chats.update': [], 'groups.update': [] })
  wa.happen({ 'messages.update': [] })
  await who.until(({ event }) => event === 'messages.update')
  assert.equal(who.receivedEvents.length, 2)
})

test('events buffered in a burst are delivered before the close', async () => {
  const { wa, who } = await opened()
  wa.keptBack.push({ 'messages.upsert': { messages: [] } })
  wa.happen({ 'connection.update': { connection: 'close', lastDisconnect: { error: boom(428) } } })
  await who.until(isClose)
  assert.deepEqual(names(who), ['messages.upsert', 'connection.update'])
  assert.deepEqual(closeOf(who), { state: 'closed', code: 428 })
})

test('an identity is stored before the events that depend on it are delivered', async () => {
  const { wa, who } = await opened()
  let mayWrite = () => {}
  const kept = who.auth.writeCreds
  who.auth.writeCreds = async (value) => {
    await new Promise<void>((resolve) => {
      mayWrite = resolve
    })
    await kept(value)
  }
  Object.assign(wa.options.auth.creds, { me: own, account: {} })
  wa.happen({ 'creds.update': {} })
  wa.happen({ 'connection.update': { isNewLogin: true } })
  await turn()
  assert.equal(who.receivedEvents.length, 0)
  mayWrite()
  await who.until(({ event }) => event === 'connection.update')
  assert.match(who.auth.creds ?? '', /5511900000001/)
})

test('an identity that cannot be stored ends the socket', async () => {
  const { wa, who, log } = await opened()
  who.auth.writeCreds = () => Promise.reject(new Error('away'))
  wa.happen({ 'creds.update': {} })
  await who.until(isClose)
  assert.deepEqual(closeOf(who), { state: 'closed', code: null })
  assert.deepEqual(log.lines, ['failed to store the identity of a linked session; closing it'])
})

/** An identity that changed earlier is stored by then. */
async function told({ wa, who }: Awaited<ReturnType<typeof opened>>): Promise<void> {
  wa.happen({ 'connection.update': { isNewLogin: true } })
  await who.until(({ event }) => event === 'connection.update')
}

test('credentials and keys are restored unchanged', async () => {
  const who = createListener()
  const first = await opened(who)
  assert.deepEqual(who.auth.writes, ['creds'])
  Object.assign(first.wa.options.auth.creds, { me: own, account: { details: new Uint8Array([9]) } })
  first.wa.happen({ 'creds.update': {} })
  const { keys } = first.wa.options.auth
  const session = new Uint8Array([1, 2])
  await keys.set({ session: { a: session, b: session }, 'app-state-sync-key': { k: { keyData: 'x' } } })
  await keys.set({ session: { b: null } })
  await told(first)
  assert.deepEqual(who.auth.writes.slice(-1), ['forget session b'])
  const again = await opened(who)
  assert.deepEqual(again.wa.options.auth.creds, {
    noiseKey: new Uint8Array([1, 2, 3]),
    me: own,
    account: { details: new Uint8Array([9]) },
  })
  assert.deepEqual(await again.wa.options.auth.keys.get('session', ['a', 'b', 'c']), { a: session })
  assert.deepEqual(await again.wa.options.auth.keys.get('app-state-sync-key', ['k']), {
    k: { revived: { keyData: 'x' } },
  })
})

test('the remains of a failed pairing are not used as an identity', async () => {
  const who = createListener()
  const first = await opened(who)
  Object.assign(first.wa.options.auth.creds, { me: { id: jid, name: '~' } })
  first.wa.happen({ 'creds.update': {} })
  await told(first)
  const again = await opened(who)
  assert.equal(again.wa.options.auth.creds.me, undefined)
})

test('the number is reported once linked, not when only typed', async () => {
  const { wa, who } = await opened()
  wa.user = own
  wa.happen({ 'connection.update': { qr: '2@x' } })
  wa.happen({ 'connection.update': { isNewLogin: true } })
  wa.happen({ 'connection.update': { connection: 'open' } })
  await who.until(({ data }) => (data as { connection?: string }).connection === 'open')
  const phones = who.receivedEvents.map((event) => parseEvent(event, now).update?.phone)
  assert.deepEqual(phones, [undefined, '5511900000001', '5511900000001'])
})

test('a message is sent with the chosen id, and its acknowledgement is reported', async () => {
  const { wa, who, socket } = await opened()
  await socket.send({ id: '3EB0A', jid, text: 'Hello', previewUrl: false })
  await socket.send({ id: '3EB0B', jid, text: 'see https://x.test', previewUrl: true })
  assert.deepEqual(wa.calls, [
    ['sendMessage', jid, { text: 'Hello', linkPreview: null }, { messageId: '3EB0A' }],
    ['sendMessage', jid, { text: 'see https://x.test' }, { messageId: '3EB0B' }],
  ])
  wa.acks({ id: '3EB0A', from: jid, t: '1790000000' })
  // Reported by the package itself, of another message, and a repeat.
  wa.acks({ id: '3EB0B', from: jid, error: '463' })
  wa.acks({ id: '3EB0C', from: jid })
  wa.acks({ id: '3EB0A', from: jid })
  wa.happen({ 'contacts.update': [] })
  const told = await who.until(({ event }) => event === 'messages.update')
  await who.until(({ event }) => event === 'contacts.update')
  assert.equal(who.receivedEvents.length, 2)
  const [event] = parseEvent(told, now).events
  assert.ok(event?.type === 'status')
  assert.deepEqual([event.externalId, event.status, event.at], ['3EB0A', 'sent', new Date(1_790_000_000_000)])
})

const faults: [what: string, fault: unknown, isRejected: boolean][] = [
  ['the line was down before', boom(428), true],
  ['it could not be encrypted', new Error('No sessions'), true],
  ['the time was up while it was written', boom(408), false],
  ['the system cut the line', Object.assign(new Error('x'), { code: 'ECONNRESET' }), false],
]

for (const [what, fault, isRejected] of faults) {
  test(`a send is ${isRejected ? 'certainly not sent' : 'unknown'} when ${what}`, async () => {
    const { wa, who, socket } = await opened()
    wa.fault = fault
    const sent = socket.send({ id: '3EB0A', jid, text: 'Hello', previewUrl: false })
    if (isRejected) return assert.rejects(sent, (error) => error === fault)
    await sent
    wa.acks({ id: '3EB0A', from: jid })
    await who.until(({ event }) => event === 'messages.update')
  })
}

test('a pairing code is requested once the network is ready, and never on a closed socket', async () => {
  const { wa, socket } = await opened()
  const code = socket.pairingCode('5511900000001')
  await turn()
  assert.deepEqual(wa.calls, [])
  wa.happen({ 'connection.update': { qr: '2@x' } })
  assert.equal(await code, 'ABCD1234')
  const other = await opened()
  const none = other.socket.pairingCode('5511900000001')
  other.wa.happen({ 'connection.update': { connection: 'close' } })
  await assert.rejects(none, /socket of the session has closed/)
})

test('a phone that requests a message again receives it if still stored; groups and broadcasts are ignored', async () => {
  const loadSentText = async (id: string) =>
    id === 'bad' ? Promise.reject(new Error('away')) : id === '3EB0A' ? 'Hello' : null
  const { wa } = await opened(createListener({ loadSentText }))
  const { getMessage, shouldIgnoreJid } = wa.options
  assert.deepEqual(await getMessage({ id: '3EB0A' }), { conversation: 'Hello' })
  for (const id of ['3EB0Z', 'bad', null]) assert.equal(await getMessage({ id }), undefined)
  const ignored = ['1203630469@g.us', 'status@broadcast', '17@newsletter', jid, '7001@lid', 's.whatsapp.net']
  assert.deepEqual(ignored.map(shouldIgnoreJid), [true, true, true, false, false, false])
})

const timeIsUp = { 'connection.update': { connection: 'close', lastDisconnect: { error: boom(408) } } }
const closes: [what: string, act: (one: Awaited<ReturnType<typeof opened>>) => unknown, code: number | null][] = [
  ['logging out', ({ socket }) => socket.logout(), 401],
  ['time that is up before a code was offered, which is a bad line', ({ wa }) => wa.happen(timeIsUp), null],
  [
    'time that is up after one was, which ends the pairing',
    ({ wa }) => {
      wa.happen({ 'connection.update': { qr: '2@x' } })
      wa.happen(timeIsUp)
    },
    408,
  ],
]
for (const [what, act, code] of closes) {
  test(`${what} is reported as a close with ${code}`, async () => {
    const one = await opened()
    await act(one)
    await one.who.until(isClose)
    assert.deepEqual(closeOf(one.who), { state: 'closed', code })
  })
}

async function silentAfter(wa: FakeSocket, who: SocketListener): Promise<void> {
  const before = who.receivedEvents.length
  wa.happen({ 'messages.upsert': { messages: [] }, 'connection.update': { connection: 'close' } })
  for (const _ of Array(5)) await turn()
  assert.equal(who.receivedEvents.length, before)
}

test('after close a socket delivers nothing, not even the close, and sends nothing', async () => {
  const { wa, who, socket } = await opened()
  await socket.close()
  assert.deepEqual(wa.calls, [['end']])
  await silentAfter(wa, who)
  await assert.rejects(socket.send({ id: '3EB0', jid, text: 'x', previewUrl: false }), /no socket/)
})

test('queued and buffered events are delivered before close resolves', async () => {
  const who = createListener()
  const keep = who.onEvent
  who.onEvent = async (event) => {
    for (const _ of Array(3)) await turn()
    await keep(event)
  }
  const { wa, socket } = await opened(who)
  wa.happen({ 'messages.upsert': { messages: [] } })
  wa.happen({ 'messages.update': [] })
  wa.keptBack.push({ 'contacts.upsert': [] })
  await socket.close()
  assert.deepEqual(names(who), ['messages.upsert', 'messages.update', 'contacts.upsert'])
  await silentAfter(wa, who)
})

test('a handler can close its own socket', async () => {
  const who = createListener()
  const { wa, socket } = await opened(who)
  const done = Promise.withResolvers<void>()
  who.onEvent = async () => socket.close().then(done.resolve)
  wa.happen({ 'messages.upsert': {} })
  await done.promise
  await silentAfter(wa, who)
})

test('a socket that is closed before it opens never opens', async () => {
  let opened = 0
  const baileys = fakeBaileys(() => opened++)
  const ready = Promise.withResolvers<typeof baileys>()
  const kept = Promise.withResolvers<void>()
  const who = createListener()
  who.auth.writeCreds = async () => kept.resolve()
  const socket = baileysTransport({ log: createRecordingLog(), load: () => ready.promise }).open(who)
  await socket.close()
  ready.resolve(baileys)
  await kept.promise
  for (const _ of Array(5)) await turn()
  assert.deepEqual([opened, who.receivedEvents.length], [0, 0])
})

test('a message is marked as read; a file is uploaded first and sent with the result and its quote', async () => {
  const { wa, baileys, socket } = await opened()
  wa.user = own
  await socket.markRead(jid, '3A01')
  assert.deepEqual(wa.calls.splice(0), [['readMessages', [{ remoteJid: jid, id: '3A01', fromMe: false }]]])
  await socket.setTyping(jid, true)
  await socket.setTyping(jid, false)
  assert.deepEqual(wa.calls.splice(0), [
    ['sendPresenceUpdate', 'composing', jid],
    ['sendPresenceUpdate', 'paused', jid],
  ])
  const bytes = async function* () {
    yield Buffer.from('a sound')
  }
  const rest = { id: 'x', size: 7, seconds: 3.6, waveform: [1, 2], bytes }
  const given = await socket.upload({ ...rest, kind: 'voice', mimeType: 'audio/ogg', name: null })
  assert.deepEqual(baileys.prepared, [
    {
      type: 'audio',
      told: { mimetype: 'audio/ogg; codecs=opus', seconds: 4, ptt: true, waveform: new Uint8Array([1, 2]) },
      bytes: 'a sound',
      upload: 'the way up',
    },
  ])
  const file = { kind: 'voice', mimeType: 'audio/ogg', name: null, fileId: given } as const
  const quoted = { externalId: 'Q', direction: 'outbound', text: 'before' } as const
  await socket.send({ id: '3EB0A', jid, file, caption: '', quoted })
  const contextInfo = {
    stanzaId: 'Q',
    participant: '5511900000001@s.whatsapp.net',
    quotedMessage: { conversation: 'before' },
  }
  const told = {
    directPath: '/v/1',
    mediaKey: Buffer.from('key').toString('base64'),
    mimetype: 'audio/ogg; codecs=opus',
  }
  assert.deepEqual(wa.calls, [
    ['relayMessage', jid, { audioMessage: { ...told, contextInfo } }, { messageId: '3EB0A' }],
  ])
})

test("a document with caption, a reaction and a quote have the package's format; a late message is not sent", async () => {
  const { wa, socket } = await opened()
  await assert.rejects(socket.send({ id: '3EB0A', jid, text: 'x', previewUrl: false }, () => false))
  const file = {
    kind: 'document',
    mimeType: 'application/pdf',
    name: 'a.pdf',
    fileId: '{"directPath":"/v/2"}',
  } as const
  await socket.send({ id: '3EB0A', jid, file, caption: 'The invoice' })
  const about = { externalId: 'T', direction: 'inbound', text: 'theirs' } as const
  const key = { remoteJid: jid, id: 'T', fromMe: false }
  await socket.send({ id: '3EB0B', jid, reaction: { about, emoji: '👍' } })
  await socket.send({ id: '3EB0C', jid, reaction: { about, emoji: null } })
  await socket.send({ id: '3EB0D', jid, text: 'Yes', previewUrl: false, quoted: about })
  const shown = { directPath: '/v/2', caption: 'The invoice', fileName: 'a.pdf', title: 'a.pdf' }
  const captioned = { documentWithCaptionMessage: { message: { documentMessage: shown } } }
  assert.deepEqual(wa.calls, [
    ['relayMessage', jid, captioned, { messageId: '3EB0A' }],
    ['sendMessage', jid, { react: { text: '👍', key } }, { messageId: '3EB0B' }],
    ['sendMessage', jid, { react: { text: '', key } }, { messageId: '3EB0C' }],
    [
      'sendMessage',
      jid,
      { text: 'Yes', linkPreview: null },
      { messageId: '3EB0D', quoted: { key, message: { conversation: 'theirs' } } },
    ],
  ])
})
