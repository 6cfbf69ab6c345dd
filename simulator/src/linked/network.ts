import type { Clock } from '../../../server/src/base/clock.ts'
import { type Agenda, createAgenda } from '../callbacks/webhook-sender.ts'
import type { SealedFiles } from '../files/file-store.ts'

/** A program that shares a phone's number, as a linked device of it. */
export interface Device {
  id: string
  numberId: string
  /** Shows that who opens a socket is this device. */
  secret: string
  /** The farthest that the device's keys have moved on. Who comes with older ones has lost some. */
  ratchet: number
  linkedAt: Date
  /** What it has not acknowledged, oldest first. */
  queue: Entry[]
  socket: LinkedSocket | null
}

export interface Entry {
  event: string
  data: unknown
  /** The device has it for good. */
  onTaken: () => void
}

export interface LinkedSocket {
  id: string
  /** Null while it waits to be linked. */
  device: Device | null
  pairing: Pairing | null
  /** What is to be sent next; what the device must acknowledge has its entry. */
  stream: { seq: number; event: string; data: unknown; entry: Entry | null }[]
  lastSeq: number
  isClosed: boolean
  /** Ends the wait of whoever asks for events. */
  wake: () => void
  idleTimer: NodeJS.Timeout | undefined
}

export interface Pairing {
  /** What the QR code says; null before the first. */
  qr: string | null
  expiresAt: Date
  shown: number
  /** Eight characters for the phone with these digits, in place of the QR code. */
  code: string | null
  phone: string | null
}

/** How long a QR code is good: the first, then each of the others. */
export interface PairingTimes {
  firstMs: number
  nextMs: number
  codes: number
}

/** The network of phones and their linked devices. */
export interface LinkedNetwork {
  devices: Map<string, Device>
  sockets: Map<string, LinkedSocket>
  /** What waits for people, which nobody who waits for the network waits for. */
  patience: Agenda
  pairingTimes: PairingTimes
  /** The next sockets that open are closed with this. */
  refusal: { code: number; times: number } | null
  /** Messages whose statuses are kept back. */
  unheard: Set<string>
  sealed: SealedFiles
  /** What waits to be sent in another order. */
  held: [Device, Entry][]
  /** Keeps what is held from being sent by itself. */
  dropTimer: () => void
}

export const linkedLimits = { sockets: 1000, devicesOfPhone: 4, queue: 20_000, unheard: 1000 } as const

const realTimes: PairingTimes = { firstMs: 60_000, nextMs: 20_000, codes: 6 }

export function createNetwork(
  clock: Clock,
  times: Partial<PairingTimes>,
  onError: (error: unknown) => void,
): LinkedNetwork {
  return {
    devices: new Map(),
    sockets: new Map(),
    patience: createAgenda(clock, onError),
    pairingTimes: { ...realTimes, ...times },
    refusal: null,
    unheard: new Set(),
    sealed: new Map(),
    held: [],
    dropTimer: () => {},
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

export function stopNetwork({ patience, sockets }: LinkedNetwork): void {
  patience.stop()
  for (const socket of sockets.values()) {
    clearTimeout(socket.idleTimer)
    socket.wake()
  }
}
