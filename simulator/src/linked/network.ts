import type { Clock } from '../../../server/src/base/clock.ts'
import { createScheduler, type Scheduler } from '../callbacks/webhook-sender.ts'
import type { EncryptedFiles } from '../files/file-store.ts'

/** Program that shares a phone's number as a linked device. */
export interface Device {
  id: string
  numberId: string
  /** Authenticates the device when it opens a socket. */
  secret: string
  /** Highest key position that the device has reached. A device that returns with a lower one has lost keys. */
  ratchet: number
  linkedAt: Date
  /** Entries not acknowledged yet, oldest first. */
  queue: Entry[]
  socket: LinkedSocket | null
}

export interface Entry {
  event: string
  data: unknown
  /** Called when the device has acknowledged the entry. */
  onDelivered: () => void
}

export interface LinkedSocket {
  id: string
  /** Null until the socket is linked. */
  device: Device | null
  pairing: Pairing | null
  /** Events to send next; those that the device must acknowledge have an entry. */
  stream: { seq: number; event: string; data: unknown; entry: Entry | null }[]
  lastSeq: number
  isClosed: boolean
  /** Ends a pending poll. */
  wake: () => void
  idleTimer: NodeJS.Timeout | undefined
}

export interface Pairing {
  /** Content of the QR code; null before the first. */
  qr: string | null
  expiresAt: Date
  shown: number
  /** Eight-character code for the phone with these digits, instead of the QR code. */
  code: string | null
  phone: string | null
}

/** Validity of QR codes: of the first, then of each further one. */
export interface PairingTimes {
  firstMs: number
  nextMs: number
  codes: number
}

/** Network of phones and their linked devices. */
export interface LinkedNetwork {
  devices: Map<string, Device>
  sockets: Map<string, LinkedSocket>
  /** Timers of pairing; separate, so that `settled` does not wait for them. */
  pairingScheduler: Scheduler
  pairingTimes: PairingTimes
  /** Closes the next sockets that open with this code. */
  refusal: { code: number; times: number } | null
  /** Ids of messages whose statuses are suppressed. */
  suppressedStatuses: Set<string>
  encryptedFiles: EncryptedFiles
  /** Entries collected to be sent in another order. */
  collected: [Device, Entry][]
  /** Cancels the timer that sends the collected entries. */
  cancelFlush: () => void
}

export const linkedLimits = { sockets: 1000, devicesOfPhone: 4, queue: 20_000, suppressedStatuses: 1000 } as const

const realTimes: PairingTimes = { firstMs: 60_000, nextMs: 20_000, codes: 6 }

export function createNetwork(
  clock: Clock,
  times: Partial<PairingTimes>,
  onError: (error: unknown) => void,
): LinkedNetwork {
  return {
    devices: new Map(),
    sockets: new Map(),
    pairingScheduler: createScheduler(clock, onError),
    pairingTimes: { ...realTimes, ...times },
    refusal: null,
    suppressedStatuses: new Set(),
    encryptedFiles: new Map(),
    collected: [],
    cancelFlush: () => {},
  }
}

export function addDevice(
  { devices }: LinkedNetwork,
  fields: Pick<Device, 'id' | 'numberId' | 'secret' | 'ratchet' | 'linkedAt'>,
): Device {
  const device: Device = { ...fields, queue: [], socket: null }
  devices.set(device.id, device)
  return device
}

export const devicesOf = ({ devices }: LinkedNetwork, numberId: string): Device[] =>
  [...devices.values()].filter((device) => device.numberId === numberId)

export function stopNetwork({ pairingScheduler, sockets }: LinkedNetwork): void {
  pairingScheduler.stop()
  for (const socket of sockets.values()) {
    clearTimeout(socket.idleTimer)
    socket.wake()
  }
}
