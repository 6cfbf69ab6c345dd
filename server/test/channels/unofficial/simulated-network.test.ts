import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import { type InboundKind, inboundKinds } from '../../../src/simulator/inbound.ts'
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
const fault = (fields: object) => w.call('POST', '/simulator/faults', { on: 'send', times: 1, ...fields })

test('a message has the shape that devices know; an answer of ours is told of as it climbs', async () => {
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
  const statuses = (await w.chat(zoe.id)).map(({ status, arrivals }) => [status, arrivals])
  assert.deepEqual(statuses, [
    ['read', 1],
    ['read', 1],
  ])
})

test('what is not committed comes again on the next socket, as what came meanwhile does: append', async () => {
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
    third.heard.some(({ event }) => event === 'messages.upsert'),
    false,
  )
})

test('the second socket of a device replaces the first, which hears 440 and sends no more', async () => {
  const first = await linkDevice(w)
  const second = openDevice(url, { store: first.store })
  await second.opened()
  assert.equal(await first.closed(), 440)
  const leo = await w.person({ name: 'Leo' })
  await assert.rejects(send(first, leo.userId, 'From the past'))
  await send(second, leo.userId, 'From now')
  assert.deepEqual(
    (await w.chat(leo.id)).map(({ text }) => text),
    ['From now'],
  )
})

test('who cannot keep the keys any more sends nothing, acknowledges nothing and closes', async () => {
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

test('what may not leave any more once the keys are stored stays back', async () => {
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

test('the network may close with any code, and refuse who opens next', async () => {
  const { store, ...device } = await linkDevice(w)
  await w.drop(515)
  assert.equal(await device.closed(), 515)
  for (const code of [428, 403]) {
    const back = openDevice(url, { store })
    await back.opened()
    await w.drop(code, 1)
    assert.equal(await back.closed(), code)
    const refused = openDevice(url, { store })
    assert.equal(await refused.closed(), code)
    assert.equal(
      refused.heard.some(({ data }) => (data as Loose).connection === 'open'),
      false,
    )
  }
  const last = openDevice(url, { store })
  await last.opened()
})

test('refusals, silence and broken answers: each message has arrived as often as the fault says', async () => {
  const device = await linkDevice(w)
  const kim = await w.person({ name: 'Kim' })
  await fault({ effect: 'refuse', code: 463, to: kim.phone })
  const refused = await send(device, jidOf(kim.phone), 'Refused')
  const [told] = await device.status(refused, 0)
  assert.deepEqual(told.update.messageStubParameters, ['463'])

  await fault({ effect: 'hang', accepts: true })
  const silent = await send(device, kim.userId, 'Arrives in silence')
  await fault({ effect: 'hang' })
  await send(device, kim.userId, 'Is lost in silence')
  await fault({ effect: 'late', afterMs: 3_600_000 })
  const late = await send(device, kim.userId, 'Is told late')
  await w.call('POST', '/simulator/clock', { advanceMs: 3_600_000 })
  await device.status(late, 3)
  await fault({ effect: 'reset', accepts: true })
  await send(device, kim.userId, 'Reset, yet taken')
  await fault({ effect: 'server_error' })
  await send(device, kim.userId, 'Nobody knows')
  const known = await send(device, kim.userId, 'Well')
  await device.status(known, 3)
  assert.equal(
    device.heard.some(({ event, data }) => event === 'messages.update' && (data as Loose)[0].key.id === silent),
    false,
  )
  assert.deepEqual(
    (await w.chat(kim.id)).map(({ text, status }) => [text, status]),
    [
      ['Refused', 'failed'],
      ['Arrives in silence', 'delivered'],
      ['Is told late', 'delivered'],
      ['Reset, yet taken', 'delivered'],
      ['Well', 'delivered'],
    ],
  )
  const ida = await w.person({ name: 'Ida' })
  const id = newId()
  for (const _ of [1, 2]) await send(device, ida.userId, 'Twice', id)
  const [shown, ...others] = await w.chat(ida.id)
  assert.deepEqual([shown.text, shown.arrivals, others], ['Twice', 2, []], 'arrives twice, is shown once')
  assert.deepEqual((await device.status(await send(device, '100000000000001@lid', 'Who?'), 0))[0].update, {
    status: 0,
    messageStubParameters: ['404'],
  })
})

test('what the owner types, and what another device sends, is told as an echo', async () => {
  const device = await linkDevice(w)
  const other = await linkDevice(w)
  const tom = await w.person({ name: 'Tom' })
  const typed = await w.types(tom.id, 'From the phone itself')
  for (const one of [device, other]) {
    const echo = await one.upsert('notify')
    assert.deepEqual([echo.key.id, echo.key.fromMe, echo.key.remoteJid], [typed, true, tom.userId])
  }
  const sent = await send(device, tom.userId, 'From the device')
  const seen = await other.upsert('notify')
  assert.deepEqual([seen.key.id, seen.key.fromMe], [sent, true])
  const began = await w.call('POST', `${w.phonePath}/messages`, { phone: '5511955500001', text: 'A new chat' })
  assert.equal(began.status, 201)
  assert.equal((await other.upsert('notify')).key.remoteJidAlt, '5511955500001@s.whatsapp.net')
})

test('a hidden phone is known by its hidden id until the network tells who it is', async () => {
  const device = await linkDevice(w)
  const eli = await w.person({ name: 'Eli', hidesNumber: true })
  await w.writes(eli.id, 'Guess who')
  const told = await device.upsert('notify')
  assert.match(told.key.remoteJid, /^\d{15}@lid$/)
  assert.equal(told.key.remoteJidAlt, undefined)
  await w.call('PATCH', `/simulator/customers/${eli.id}`, { hidesNumber: false, name: 'Eli Roth' })
  const mapping = await device.next((event) => event === 'lid-mapping.update')
  assert.deepEqual(mapping, { lid: told.key.remoteJid, pn: jidOf(eli.phone) })
  assert.deepEqual(await device.next((event) => event === 'contacts.update'), [
    { id: told.key.remoteJid, notify: 'Eli Roth' },
  ])
  await w.call('PATCH', `/simulator/numbers/${w.simulator.phone.numberId}`, { addressing: 'pn' })
  await w.writes(eli.id, 'By number')
  const { key } = await device.upsert('notify')
  assert.deepEqual([key.remoteJid, key.remoteJidAlt], [jidOf(eli.phone), told.key.remoteJid])
  await w.call('PATCH', `/simulator/customers/${eli.id}`, { phone: '442079559999' })
  assert.equal((await device.next((event) => event === 'lid-mapping.update')).pn, '442079559999@s.whatsapp.net')
  await w.call('PATCH', `/simulator/numbers/${w.simulator.phone.numberId}`, { addressing: 'lid' })
})

/** What a message of each kind holds, where it holds what devices know. */
const contents: Partial<Record<InboundKind, string>> = {
  ...{ text: 'conversation', group: 'conversation', reaction: 'reactionMessage', reaction_removed: 'reactionMessage' },
  ...{ image: 'imageMessage', lost_file: 'imageMessage', video: 'videoMessage', sticker: 'stickerMessage' },
  ...{ audio: 'audioMessage', voice: 'audioMessage', document: 'documentMessage', location: 'locationMessage' },
  ...{ contacts: 'contactMessage', contact_request: 'contactMessage', order: 'orderMessage' },
  ...{ button: 'templateButtonReplyMessage', button_reply: 'buttonsResponseMessage' },
  ...{ list_reply: 'listResponseMessage', flow_reply: 'interactiveResponseMessage' },
  ...{ revoke: 'protocolMessage', request_welcome: 'protocolMessage', edit: 'editedMessage' },
  ...{ unsupported: 'pollCreationMessageV3', ephemeral: 'ephemeralMessage', unknown: 'hologramMessage' },
}

test('every kind of message has the shape that devices know', async () => {
  const device = await linkDevice(w)
  const uma = await w.person({ name: 'Uma' })
  for (const kind of inboundKinds) {
    await w.writes(uma.id, 'Words', { kind })
    const { key, message, messageStubType } = await device.upsert('notify')
    const expected = contents[kind]
    assert.deepEqual(Object.keys(message ?? {}), expected === undefined ? [] : [expected], kind)
    assert.equal(messageStubType, kind === 'no_content' ? 2 : undefined, kind)
    assert.match(key.remoteJid, kind === 'group' ? /@g\.us$/ : /@lid$/)
  }
  await w.writes(uma.id, 'I saw your ad', { ad: 'image' })
  const { contextInfo } = (await device.upsert('notify')).message.extendedTextMessage
  assert.equal(contextInfo.externalAdReply.title, 'Summer collection')
  assert.match(contextInfo.externalAdReply.ctwaClid, /^AR/)
})

test('any event at all can be told', async () => {
  const device = await linkDevice(w)
  for (const [event, data] of [
    ['messages.upsert', { type: 'notify', messages: [null, 7, { key: {} }] }],
    ['contacts.update', null],
  ] as const) {
    await w.call('POST', `${w.phonePath}/events`, { event, data })
    assert.deepEqual(await device.next((told) => told === event), data)
  }
})

test('nonsense is refused, and a socket that nobody opened is gone', async () => {
  const post = (path: string, body: unknown) => w.call('POST', `/linked/sockets${path}`, body)
  const opened = await post('', { credentials: null })
  const one = `/${opened.body.socketId}`
  const message = { id: 'A', jid: 'nobody', text: 'Hi', previewUrl: false, ratchet: 0 }
  const refusals: [string, unknown, number][] = [
    ['', {}, 400],
    ['', { credentials: { device: 'x' } }, 400],
    ['', 7, 400],
    ['/nobody/poll', { after: 0, ratchet: 0, waitMs: 0 }, 410],
    [`${one}/poll`, { after: -1, ratchet: 0, waitMs: 0 }, 400],
    [`${one}/poll`, { after: 0, ratchet: 0, waitMs: 1e9 }, 400],
    [`${one}/messages`, message, 409],
    [`${one}/messages`, { ...message, text: '' }, 400],
    [`${one}/read`, { jid: 'x', id: 'y' }, 409],
    [`${one}/logout`, {}, 409],
    [`${one}/pairing-code`, { phone: 'abc' }, 400],
  ]
  for (const [path, body, status] of refusals) assert.equal((await post(path, body)).status, status, path)
  const secret = 'a-secret-that-nobody-has'
  const stranger = await post('', { credentials: { device: 'x', secret, phone: '15550783882', ratchet: 0 } })
  const told = await post(`/${stranger.body.socketId}/poll`, { after: 0, ratchet: 0, waitMs: 0 })
  assert.equal(told.body.events[0].data.lastDisconnect.error.output.statusCode, 401)
  const over = await post(`/${stranger.body.socketId}/poll`, { after: 1, ratchet: 0, waitMs: 0 })
  assert.deepEqual(over.body, { events: [], isOver: true })
  assert.equal((await post(`/${stranger.body.socketId}/poll`, { after: 1, ratchet: 0, waitMs: 0 })).status, 410)
  assert.equal((await post(`${one}/close`, {})).status, 200)
  assert.equal((await w.call('POST', '/simulator/phones/nobody/scan', { qr: 'x' })).status, 404)
  assert.equal((await w.call('POST', `${w.phonePath}/scan`, {})).status, 400)
  assert.equal((await w.call('POST', `${w.phonePath}/read`, { customerId: 'nobody' })).status, 404)
  assert.equal((await w.call('DELETE', `${w.phonePath}/devices/nobody`)).status, 404)
})

test('an address that answers at once with nothing is asked no further, nor is one where nobody is', async () => {
  const lost = openDevice('http://127.0.0.1:9')
  await lost.next((_event, data) => data.connection === 'connecting')
  assert.equal(await lost.closed(), 428)
  await assert.rejects(lost.socket.markRead('x', 'y'))
  const answers = [{ socketId: 'one' }, { events: [{ seq: 1, event: 'connection.update', data: { qr: 'x' } }] }]
  const server = await platformServer((_, response) =>
    sendJson(response, 200, answers[server.asked.length - 1] ?? { events: [] }),
  )
  after(() => server.close())
  const device = openDevice(server.baseUrl)
  assert.equal(await device.closed(), 428)
  assert.equal(server.asked.length, 3)
})
