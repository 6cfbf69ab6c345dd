import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { conflict, unprocessable } from '../../../server/src/base/errors.ts'
import { phoneClass } from '../../../server/src/base/phone/phone-variants.ts'
import type { Platform } from '../platform.ts'
import type { BusinessNumber } from '../world.ts'
import { addDevice, type Device, devicesOf, type LinkedSocket, linkedLimits, type Pairing } from './network.ts'
import { contactOf, historyOf, jidOf } from './shapes.ts'
import { closeSocket, push, pushUpdate, tellDevices } from './socket.ts'

/** Shows QR codes to whoever wants to be linked, one after another, until nobody has scanned the last. */
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
  linked.patience.after(goodForMs, () => showNext(platform, socket, pairing))
  platform.changed()
}

const makeQr = (): string => `2@${[66, 32, 32, 32].map((bytes) => randomBytes(bytes).toString('base64')).join(',')}`

const codeCharacters = '123456789ABCDEFGHJKLMNPQRSTVWXYZ'

/** Eight characters that link the device when they are typed on the phone with these digits. */
export function makeCode({ changed }: Platform, socket: LinkedSocket, phone: string): string {
  if (socket.pairing === null) throw conflict('This socket is linked already, or closed')
  const code = Array.from({ length: 8 }, () => codeCharacters[randomInt(codeCharacters.length)]).join('')
  Object.assign(socket.pairing, { code, phone })
  changed()
  return code
}

/** The phone's owner holds the camera to a QR code. */
export function scan(platform: Platform, number: BusinessNumber, qr: string): Device {
  const socket = waiting(platform).find(({ pairing }) => pairing?.qr === qr)
  if (socket === undefined) throw unprocessable('This QR code is not shown any more')
  return link(platform, number, socket)
}

/** The phone's owner types the eight characters. */
export function enterCode(platform: Platform, number: BusinessNumber, typed: string): Device {
  const code = typed.toUpperCase().replace(/[^0-9A-Z]/g, '')
  const socket = waiting(platform).find(({ pairing }) => pairing?.code === code && isFor(number, pairing))
  if (socket === undefined) throw unprocessable('No device waits for this code on this phone')
  return link(platform, number, socket)
}

/** Those who wait to be linked. */
export const waiting = ({ linked }: Platform): LinkedSocket[] =>
  [...linked.sockets.values()].filter(({ pairing }) => pairing !== null)

export const isFor = (number: BusinessNumber, { phone }: Pairing): boolean =>
  phone !== null && phoneClass(phone) === phoneClass(number.phone)

// The network ends the socket on which a device was linked; the device comes back as itself.
function link(platform: Platform, number: BusinessNumber, socket: LinkedSocket): Device {
  const { linked, clock, world } = platform
  if (devicesOf(linked, number.numberId).length >= linkedLimits.devicesOfPhone) {
    throw conflict('A phone has four linked devices at most. Unlink one first')
  }
  const secret = randomBytes(24).toString('base64url')
  const { numberId } = number
  const device = addDevice(linked, { id: randomUUID(), secret, ratchet: 0, numberId, linkedAt: clock.now() })
  const chats = [...world.customers.values()].filter((customer) => customer.numberId === numberId)
  tellDevices(platform, [device], 'messaging-history.set', historyOf(platform, number, chats))
  tellDevices(platform, [device], 'contacts.upsert', chats.map(contactOf))
  const me = meOf(number)
  push(socket, 'creds.update', { device: device.id, secret: device.secret, phone: number.phone, me })
  pushUpdate(socket, { isNewLogin: true, me })
  closeSocket(platform, socket, 515)
  return device
}

/** The phone as a device knows it. */
export const meOf = ({ phone, name }: BusinessNumber): object => ({ id: jidOf(`${phone}:7`), name })
