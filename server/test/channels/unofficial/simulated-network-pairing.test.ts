import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { linkDevice, openDevice } from '../../support/channels/session-socket.ts'
import { simulatorWorld } from '../../support/channels/simulator.ts'

const w = await simulatorWorld()
const { url } = w.simulator
afterEach(() => w.unlinkAll())
const later = (ms: number) => w.call('POST', '/simulator/clock', { advanceMs: ms })

test('a QR code is shown for a minute, five more for twenty seconds each, and then it is over: 408', async () => {
  const device = openDevice(url)
  const first = await device.next((_event, data) => data.connection === 'connecting')
  assert.equal(first.receivedPendingNotifications, false)
  const codes = [await device.offered()]
  assert.match(codes[0] ?? '', /^2@[\w+/=]+,[\w+/=]{44},[\w+/=]{44},[\w+/=]{44}$/)
  await later(60_000)
  codes.push(await device.offered())
  assert.equal((await w.scan(codes[0] ?? '')).status, 422)
  for (let n = 0; n < 4; n++) {
    await later(20_000)
    codes.push(await device.offered())
  }
  assert.equal(new Set(codes).size, 6)
  await later(20_000)
  assert.equal(await device.closed(), 408)
  assert.equal((await w.phone()).waiting.length, 0)
  await assert.rejects(device.socket.pairingCode('15550783882'))
})

test('a scan logs the device in, ends its socket with 515, and it comes back as itself with the history', async () => {
  const ana = await w.person({ name: 'Ana' })
  await w.writes(ana.id, 'Before the device')
  await w.types(ana.id, 'Typed before the device')
  const device = openDevice(url)
  const qr = await device.offered()
  assert.equal((await w.phone()).waiting[0].qr, qr)
  assert.equal((await w.scan(qr)).status, 200)
  const login = await device.next((_event, data) => data.isNewLogin === true)
  assert.equal(login.me.id, '15550783882:7@s.whatsapp.net')
  assert.equal(await device.closed(), 515)

  const again = openDevice(url, { store: device.store })
  assert.equal((await again.opened()).me.id, '15550783882:7@s.whatsapp.net')
  const history = await again.next((event) => event === 'messaging-history.set')
  const texts = history.messages.map(({ message }: { message: { conversation: string } }) => message.conversation)
  assert.deepEqual(texts.slice(-2), ['Before the device', 'Typed before the device'])
  assert.deepEqual(
    history.messages.slice(-2).map(({ key }: { key: { fromMe: boolean } }) => key.fromMe),
    [false, true],
  )
  await again.next((event) => event === 'contacts.upsert')
  await again.next((_event, data) => data.receivedPendingNotifications === true)
  await w.simulator.settled()

  const third = openDevice(url, { store: device.store })
  await third.opened()
  await third.next((_event, data) => data.receivedPendingNotifications === true)
  assert.equal(
    third.heard.some(({ event }) => event === 'messaging-history.set'),
    false,
  )
})

test('eight characters link a device as well, on the phone that they were made for', async () => {
  const device = openDevice(url)
  await device.offered()
  const code = await device.socket.pairingCode('15550783882')
  assert.match(code, /^[1-9A-HJ-NP-TV-Z]{8}$/)
  assert.equal((await w.phone()).waiting[0].wantsCode, true)
  assert.equal((await w.enterCode(code === 'AAAAAAAA' ? 'BBBBBBBB' : 'AAAAAAAA')).status, 422)
  const other = await w.call('POST', '/simulator/numbers', { network: 'linked', phone: '5511955509000', name: 'Other' })
  assert.equal((await w.call('POST', `/simulator/phones/${other.body.numberId}/code`, { code })).status, 422)
  assert.equal((await w.enterCode(`${code.slice(0, 4)}-${code.slice(4).toLowerCase()}`)).status, 200)
  assert.equal(await device.closed(), 515)
  await openDevice(url, { store: device.store }).opened()
})

test('who is unlinked on the phone, or goes by itself, hears 401 and does not come back', async () => {
  const device = await linkDevice(w)
  await w.unlinkAll()
  assert.equal(await device.closed(), 401)
  const back = openDevice(url, { store: device.store })
  assert.equal(await back.closed(), 401)

  const second = await linkDevice(w)
  await second.socket.logout()
  assert.equal(await second.closed(), 401)
  assert.deepEqual((await w.phone()).devices, [])
})

test('a phone has four devices at most, and each works by itself', async () => {
  const devices = [await linkDevice(w), await linkDevice(w), await linkDevice(w), await linkDevice(w)]
  const fifth = openDevice(url)
  const qr = await fifth.offered()
  assert.equal((await w.scan(qr)).status, 409)
  const ben = await w.person({ name: 'Ben' })
  const id = await w.writes(ben.id, 'To all four')
  for (const device of devices) assert.equal((await device.upsert('notify')).key.id, id)
  await fifth.socket.close()
  assert.equal((await w.phone()).waiting.length, 0)
})

test('keys from an older copy are a bad session: 500', async () => {
  const device = await linkDevice(w)
  const copy = new Map(device.store.keys)
  const eva = await w.person({ name: 'Eva' })
  await device.socket.send({ id: '3EB0000000000000000001', jid: eva.userId, text: 'One', previewUrl: false })
  await device.status('3EB0000000000000000001', 2)
  device.store.keys = copy
  const back = openDevice(url, { store: device.store })
  assert.equal(await back.closed(), 500)
})

test('a simulator that has forgotten takes devices at their word only where it was told to', async () => {
  const device = await linkDevice(w)
  const strict = await simulatorWorld()
  assert.equal(await openDevice(strict.simulator.url, { store: device.store }).closed(), 401)
  const trusting = await simulatorWorld({ phone: { trustsUnknownDevices: true } })
  const again = openDevice(trusting.simulator.url, { store: device.store })
  await again.opened()
  const leo = await trusting.person({ name: 'Leo' })
  await trusting.writes(leo.id, 'Still here?')
  assert.equal((await again.upsert('notify')).message.conversation, 'Still here?')
})
