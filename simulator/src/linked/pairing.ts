import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { conflict, unprocessable } from '../../../server/src/base/errors.ts'
import { phoneClass } from '../../../server/src/base/phone/phone-variants.ts'
import { wholeNumber } from '../../../server/src/base/schema-types.ts'
import type { Platform } from '../platform.ts'
import type { BusinessNumber } from '../world.ts'
import { contactOf, historyOf, jidOf } from './baileys-shapes.ts'
import { addDevice, type Device, devicesOf, type LinkedSocket, linkedLimits, type Pairing } from './network.ts'
import { addSocket, closeSocket, push, pushUpdate, queueForDevices, resendQueued } from './socket.ts'

/** Shows one QR code after another to a device that is to be linked, until the last has expired. */
export function startPairing(platform: Platform, socket: LinkedSocket): void {
  socket.pairing = { qr: null, expiresAt: platform.clock.now(), shown: 0, code: null, phone: null }
  showNext(platform, socket, socket.pairing)
}

function showNext(platform: Platform, socket: LinkedSocket, pairing: Pairing): void {
  if (socket.pairing !== pairing) return
  const { clock, linked } = platform
  const { firstMs, nextMs, codes } = linked.pairingTimes
  if (pairing.shown === codes) {
    closeSocket(platform, socket, 408)
    return
  }
  const goodForMs = pairing.shown === 0 ? firstMs : nextMs
  pairing.shown += 1
  pairing.qr = makeQr()
  pairing.expiresAt = new Date(clock.now().getTime() + goodForMs)
  pushUpdate(socket, { qr: pairing.qr })
  linked.pairingScheduler.after(goodForMs, () => showNext(platform, socket, pairing))
  platform.changed()
}

const makeQr = (): string => `2@${[66, 32, 32, 32].map((bytes) => randomBytes(bytes).toString('base64')).join(',')}`

const codeCharacters = '123456789ABCDEFGHJKLMNPQRSTVWXYZ'

/** Returns an eight-character code that links the device when entered on the phone with these digits. */
export function makeCode({ changed }: Platform, socket: LinkedSocket, phone: string): string {
  if (socket.pairing === null) throw conflict('The socket is already linked or closed')
  const code = Array.from({ length: 8 }, () => codeCharacters[randomInt(codeCharacters.length)]).join('')
  Object.assign(socket.pairing, { code, phone })
  changed()
  return code
}

/** Scans a QR code with the owner's phone. Throws 422 if the code is not current. */
export function scan(platform: Platform, number: BusinessNumber, qr: string): Device {
  const socket = waitingSockets(platform).find(({ pairing }) => pairing?.qr === qr)
  if (socket === undefined) throw unprocessable('This QR code has expired')
  return linkDevice(platform, number, socket)
}

/** Enters a pairing code on the owner's phone. Throws 422 if no device waits for it. */
export function enterCode(platform: Platform, number: BusinessNumber, typed: string): Device {
  const code = typed.toUpperCase().replace(/[^0-9A-Z]/g, '')
  const socket = waitingSockets(platform).find(({ pairing }) => pairing?.code === code && isFor(number, pairing))
  if (socket === undefined) throw unprocessable('No device is waiting for this code on this phone')
  return linkDevice(platform, number, socket)
}

/** Returns the sockets that wait to be linked. */
export const waitingSockets = ({ linked }: Platform): LinkedSocket[] =>
  [...linked.sockets.values()].filter(({ pairing }) => pairing !== null)

export const isFor = (number: BusinessNumber, { phone }: Pairing): boolean =>
  phone !== null && phoneClass(phone) === phoneClass(number.phone)

// The network closes the socket on which a device was linked; the device reconnects with its credentials.
function linkDevice(platform: Platform, number: BusinessNumber, socket: LinkedSocket): Device {
  const { linked, clock, world } = platform
  if (devicesOf(linked, number.numberId).length >= linkedLimits.devicesOfPhone) {
    throw conflict('A phone can have at most four linked devices. Unlink one first')
  }
  const secret = randomBytes(24).toString('base64url')
  const { numberId } = number
  const device = addDevice(linked, { id: randomUUID(), secret, ratchet: 0, numberId, linkedAt: clock.now() })
  const chats = [...world.customers.values()].filter((customer) => customer.numberId === numberId)
  queueForDevices(platform, [device], 'messaging-history.set', historyOf(platform, number, chats))
  queueForDevices(platform, [device], 'contacts.upsert', chats.map(contactOf))
  const me = meOf(number)
  push(socket, 'creds.update', { device: device.id, secret: device.secret, phone: number.phone, me })
  pushUpdate(socket, { isNewLogin: true, me })
  closeSocket(platform, socket, 515)
  return device
}

/** Returns the phone's identity as a device knows it. */
export const meOf = ({ phone, name }: BusinessNumber): object => ({ id: jidOf(`${phone}:7`), name })

export const credentials = Type.Object(
  {
    device: Type.String({ minLength: 1, maxLength: 60 }),
    secret: Type.String({ minLength: 16, maxLength: 120 }),
    phone: Type.String({ pattern: '^\\d{5,20}$', maxLength: 20 }),
    ratchet: wholeNumber('Key position of the device'),
  },
  { additionalProperties: false },
)
type Credentials = Static<typeof credentials>

/** Opens a socket for a device, or for one that is still to be linked. Errors arrive as a close event. */
export function openSocket(platform: Platform, creds: Credentials | null): LinkedSocket {
  const socket = addSocket(platform)
  const refusal = consumeRefusal(platform)
  if (refusal !== null) closeSocket(platform, socket, refusal)
  else if (creds === null) startPairing(platform, socket)
  else connectDevice(platform, socket, creds)
  return socket
}

function consumeRefusal({ linked }: Platform): number | null {
  const { refusal } = linked
  if (refusal === null) return null
  linked.refusal = refusal.times > 1 ? { ...refusal, times: refusal.times - 1 } : null
  return refusal.code
}

function connectDevice(platform: Platform, socket: LinkedSocket, creds: Credentials): void {
  const { linked, world } = platform
  const device = linked.devices.get(creds.device) ?? addTrustedDevice(platform, creds)
  const number = world.numbers.get(device?.numberId ?? '')
  if (device === undefined || number === undefined || device.secret !== creds.secret) {
    closeSocket(platform, socket, 401)
  } else if (creds.ratchet < device.ratchet) closeSocket(platform, socket, 500)
  else completeConnection(platform, socket, { number, device, ratchet: creds.ratchet })
}

interface KnownDevice {
  number: BusinessNumber
  device: Device
  ratchet: number
}

function completeConnection(platform: Platform, socket: LinkedSocket, { number, device, ratchet }: KnownDevice): void {
  if (device.socket !== null) closeSocket(platform, device.socket, 440)
  device.socket = socket
  socket.device = device
  device.ratchet = ratchet
  pushUpdate(socket, { connection: 'open', me: meOf(number) })
  resendQueued(socket, device)
  pushUpdate(socket, { receivedPendingNotifications: true })
  platform.changed()
}

// A simulator that restarts under a continuing demo accepts unknown devices.
function addTrustedDevice({ linked, world, clock }: Platform, creds: Credentials): Device | undefined {
  const number = [...world.numbers.values()].find(({ network, phone }) => network === 'linked' && phone === creds.phone)
  if (number === undefined || !number.trustsUnknownDevices) return undefined
  const { device: id, secret, ratchet } = creds
  return addDevice(linked, { id, secret, ratchet, numberId: number.numberId, linkedAt: clock.now() })
}

/** Unlinks a device, by the phone's owner or by the device itself. */
export function unlink(platform: Platform, device: Device): void {
  platform.linked.devices.delete(device.id)
  if (device.socket !== null) closeSocket(platform, device.socket, 401)
  platform.changed()
}

/** Closes all sockets of a phone's devices, and the next `again` that open. */
export function closeDeviceSockets(platform: Platform, number: BusinessNumber, code: number, again: number): void {
  if (again > 0) platform.linked.refusal = { code, times: again }
  for (const device of devicesOf(platform.linked, number.numberId)) {
    if (device.socket !== null) closeSocket(platform, device.socket, code)
  }
}
