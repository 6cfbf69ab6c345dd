import { randomBytes } from 'node:crypto'
import { conflict } from '../../../server/src/base/errors.ts'
import type { Platform } from '../platform.ts'
import { type Device, type Entry, type LinkedSocket, linkedLimits } from './network.ts'

// Real time: a connected device polls more often than this.
const idleMs = 45_000
const maxAtOnce = 50

/** Opens a socket without events. */
export function addSocket(platform: Platform): LinkedSocket {
  const { linked } = platform
  if (linked.sockets.size >= linkedLimits.sockets) throw conflict('Too many open sockets')
  const socket: LinkedSocket = {
    id: randomBytes(16).toString('base64url'),
    device: null,
    pairing: null,
    stream: [],
    lastSeq: 0,
    isClosed: false,
    wake: () => {},
    idleTimer: undefined,
  }
  linked.sockets.set(socket.id, socket)
  keepAlive(platform, socket)
  return socket
}

/** Sends an event to the socket; an entry is sent again on the next socket unless it is acknowledged. */
export function push(socket: LinkedSocket, event: string, data: unknown, entry: Entry | null = null): void {
  if (socket.isClosed) return
  socket.stream.push({ seq: ++socket.lastSeq, event, data, entry })
  socket.wake()
}

export const pushUpdate = (socket: LinkedSocket, data: object): void => push(socket, 'connection.update', data)

/** Closes a socket from the network's side. The code is the last event of the socket. */
export function closeSocket({ clock, changed }: Platform, socket: LinkedSocket, code: number): void {
  if (socket.isClosed) return
  // Unacknowledged entries are sent on the next socket.
  socket.stream = socket.stream.filter(({ entry }) => entry === null)
  const error = { message: closeWords[code] ?? 'Connection closed', output: { statusCode: code } }
  pushUpdate(socket, { connection: 'close', lastDisconnect: { error, date: clock.now().toISOString() } })
  markClosed(socket)
  changed()
}

const closeWords: Record<number, string> = {
  401: 'Logged out',
  408: 'QR refs attempts ended',
  440: 'Stream Errored (conflict)',
  500: 'Bad session',
  515: 'Stream Errored (restart required)',
}

/** Removes a socket that its device has closed or abandoned. */
export function dropSocket({ linked, changed }: Platform, socket: LinkedSocket): void {
  markClosed(socket)
  clearTimeout(socket.idleTimer)
  linked.sockets.delete(socket.id)
  changed()
}

function markClosed(socket: LinkedSocket): void {
  socket.isClosed = true
  socket.pairing = null
  if (socket.device?.socket === socket) socket.device.socket = null
  socket.wake()
}

/** Returns events after `after` when there are any or the wait ends, and acknowledges the events up to `after`. */
export async function poll(platform: Platform, socket: LinkedSocket, after: number, waitMs: number) {
  keepAlive(platform, socket)
  acknowledge(platform, socket, after)
  // Allows one poll at a time; an earlier one returns empty.
  socket.wake()
  if (socket.stream.length === 0 && !socket.isClosed) await waitForEvent(socket, waitMs)
  const events = socket.stream.slice(0, maxAtOnce).map(({ seq, event, data }) => ({ seq, event, data }))
  const isOver = socket.isClosed && events.length === 0
  if (isOver) dropSocket(platform, socket)
  return { events, isOver }
}

function waitForEvent(socket: LinkedSocket, waitMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => wake(), waitMs).unref()
    const wake = () => {
      clearTimeout(timer)
      if (socket.wake === wake) socket.wake = () => {}
      resolve()
    }
    socket.wake = wake
  })
}

function acknowledge({ changed }: Platform, socket: LinkedSocket, after: number): void {
  const acknowledged = socket.stream.filter(({ seq }) => seq <= after)
  if (acknowledged.length === 0) return
  socket.stream = socket.stream.filter(({ seq }) => seq > after)
  const entries = new Set(acknowledged.flatMap(({ entry }) => entry ?? []))
  if (socket.device !== null) socket.device.queue = socket.device.queue.filter((one) => !entries.has(one))
  for (const { onDelivered } of entries) onDelivered()
  changed()
}

function keepAlive(platform: Platform, socket: LinkedSocket): void {
  clearTimeout(socket.idleTimer)
  socket.idleTimer = setTimeout(() => dropSocket(platform, socket), idleMs).unref()
}

/** Queues an entry for a device until acknowledged, and sends it at once if the device is connected. */
export function queueEntry(device: Device, entry: Entry): void {
  device.queue.push(entry)
  if (device.queue.length > linkedLimits.queue) device.queue.shift()
  if (device.socket !== null) push(device.socket, entry.event, entry.data, entry)
}

/** Sends what was queued while the device was disconnected, marked as `append`. */
export function resendQueued(socket: LinkedSocket, device: Device): void {
  for (const entry of device.queue) {
    const { event, data } = entry
    const isUpsert = event === 'messages.upsert' && typeof data === 'object'
    push(socket, event, isUpsert ? { ...data, type: 'append' } : data, entry)
  }
}

const maxCollectMs = 1_000

/** Queues an event for every device of a phone except `except`. Delivery settings may duplicate and reorder it. */
export function queueForDevices(
  platform: Platform,
  devices: readonly Device[],
  event: string,
  data: unknown,
  { except = null, onDelivered = () => {} }: { except?: Device | null; onDelivered?: () => void } = {},
): void {
  const { linked, webhookSender, scheduler } = platform
  const { reorder } = webhookSender.settings
  for (const device of devices) {
    if (device !== except) linked.collected.push([device, { event, data, onDelivered }])
  }
  if (linked.collected.length >= reorder) flushEntries(platform)
  else if (linked.collected.length > 0) {
    linked.cancelFlush()
    linked.cancelFlush = scheduler.after(maxCollectMs, () => flushEntries(platform))
  }
}

function flushEntries({ linked, webhookSender }: Platform): void {
  linked.cancelFlush()
  const { reorder, duplicates } = webhookSender.settings
  const held = linked.collected.splice(0)
  for (const [device, entry] of reorder > 1 ? held.reverse() : held) {
    for (let copy = 0; copy <= duplicates; copy += 1) queueEntry(device, copyOf(entry))
  }
}

// Each copy is acknowledged separately.
const copyOf = (entry: Entry): Entry => ({ ...entry })
