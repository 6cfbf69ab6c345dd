import { type Static, Type } from 'typebox'
import { wholeNumber } from '../../../server/src/base/schema-types.ts'
import type { Platform } from '../platform.ts'
import type { BusinessNumber } from '../world.ts'
import { addDevice, type Device, devicesOf, type LinkedSocket } from './network.ts'
import { meOf, startPairing } from './pairing.ts'
import { addSocket, closeSocket, pushUpdate, replay } from './socket.ts'

export const credentials = Type.Object(
  {
    device: Type.String({ minLength: 1, maxLength: 60 }),
    secret: Type.String({ minLength: 16, maxLength: 120 }),
    phone: Type.String({ pattern: '^\\d{5,20}$', maxLength: 20 }),
    ratchet: wholeNumber('How far the keys of the device have moved on'),
  },
  { additionalProperties: false },
)
type Credentials = Static<typeof credentials>

/** Opens a socket for a device, or for one that is still to be linked. What is wrong with it arrives as its close. */
export function openSocket(platform: Platform, creds: Credentials | null): LinkedSocket {
  const socket = addSocket(platform)
  const refusal = takeRefusal(platform)
  if (refusal !== null) closeSocket(platform, socket, refusal)
  else if (creds === null) startPairing(platform, socket)
  else join(platform, socket, creds)
  return socket
}

function takeRefusal({ linked }: Platform): number | null {
  const { refusal } = linked
  if (refusal === null) return null
  linked.refusal = refusal.times > 1 ? { ...refusal, times: refusal.times - 1 } : null
  return refusal.code
}

function join(platform: Platform, socket: LinkedSocket, creds: Credentials): void {
  const { linked, world } = platform
  const device = linked.devices.get(creds.device) ?? trusted(platform, creds)
  const number = world.numbers.get(device?.numberId ?? '')
  if (device === undefined || number === undefined || device.secret !== creds.secret) {
    closeSocket(platform, socket, 401)
  } else if (creds.ratchet < device.ratchet) closeSocket(platform, socket, 500)
  else goOn(platform, socket, { number, device, ratchet: creds.ratchet })
}

interface Known {
  number: BusinessNumber
  device: Device
  ratchet: number
}

function goOn(platform: Platform, socket: LinkedSocket, { number, device, ratchet }: Known): void {
  if (device.socket !== null) closeSocket(platform, device.socket, 440)
  device.socket = socket
  socket.device = device
  device.ratchet = ratchet
  pushUpdate(socket, { connection: 'open', me: meOf(number) })
  replay(socket, device)
  pushUpdate(socket, { receivedPendingNotifications: true })
  platform.changed()
}

// A simulator that has started anew takes devices at their word, where it runs for a demo that goes on.
function trusted({ linked, world, clock }: Platform, creds: Credentials): Device | undefined {
  const number = [...world.numbers.values()].find(({ network, phone }) => network === 'linked' && phone === creds.phone)
  if (number === undefined || !number.trustsUnknownDevices) return undefined
  const { device: id, secret, ratchet } = creds
  return addDevice(linked, { id, secret, ratchet, numberId: number.numberId, linkedAt: clock.now() })
}

/** The phone's owner unlinks a device, or the device itself goes. */
export function unlink(platform: Platform, device: Device): void {
  platform.linked.devices.delete(device.id)
  if (device.socket !== null) closeSocket(platform, device.socket, 401)
  platform.changed()
}

/** Closes every socket of a phone's devices; those that open next as well, `again` times. */
export function dropDevices(platform: Platform, number: BusinessNumber, code: number, again: number): void {
  if (again > 0) platform.linked.refusal = { code, times: again }
  for (const device of devicesOf(platform.linked, number.numberId)) {
    if (device.socket !== null) closeSocket(platform, device.socket, code)
  }
}
