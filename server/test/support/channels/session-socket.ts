import assert from 'node:assert/strict'
import type { Log } from '../../../src/base/log.ts'
import { simulatedTransport } from '../../../src/channels/unofficial/transport/simulated-transport.ts'
import type { AuthStore, SocketEvent, SocketOptions } from '../../../src/channels/unofficial/transport/transport.ts'
import { openTestOutgoing } from '../outgoing/outgoing.ts'
import { sessionAt } from './connections.ts'
import type { Loose } from './rigs.ts'
import type { SimulatorWorld } from './simulator.ts'

export type MemoryAuth = ReturnType<typeof memoryAuth>

export function memoryAuth() {
  const note = (...written: string[]) => {
    if (auth.isFenced) throw new Error('Another process has the session')
    auth.writes.push(...written)
  }
  const store: AuthStore = {
    readCreds: async () => auth.creds,
    writeCreds: async (value) => {
      note('creds')
      auth.creds = value
    },
    readKeys: async (type, ids) => {
      const known = ids.map((id) => [id, auth.keys.get(`${type} ${id}`)] as const)
      return new Map(known.flatMap(([id, value]) => (value === undefined ? [] : [[id, value] as const])))
    },
    writeKeys: async (entries) => {
      note(...entries.map(({ type, id, value }) => `${value === null ? 'forget' : 'keep'} ${type} ${id}`))
      for (const { type, id, value } of entries) {
        if (value === null) auth.keys.delete(`${type} ${id}`)
        else auth.keys.set(`${type} ${id}`, value)
      }
    },
  }
  const auth = {
    ...store,
    creds: null as string | null,
    keys: new Map<string, string>(),
    /** Writes in order. */
    writes: [] as string[],
    /** Rejects all further writes, as after another process has taken over the session. */
    isFenced: false,
  }
  return auth
}

type EventPredicate = (event: SocketEvent) => boolean
export type SocketListener = ReturnType<typeof createListener>

/** Listener that records the events of a socket; `commit` runs for each event before it is acknowledged. */
export function createListener(
  { auth = memoryAuth(), ...changes }: Partial<SocketOptions> & { auth?: MemoryAuth } = {},
  commit?: (event: SocketEvent) => Promise<void>,
) {
  const receivedEvents: SocketEvent[] = []
  const found = new Set<SocketEvent>()
  const waiting = new Set<() => void>()
  /** Resolves with the first event, past or future, for which `fits` returns true. */
  const until = (matches: EventPredicate) =>
    new Promise<SocketEvent>((resolve) => {
      const check = () => {
        const event = receivedEvents.find(matches)
        if (event === undefined) return
        waiting.delete(check)
        resolve(event)
      }
      waiting.add(check)
      check()
    })
  return {
    connection: sessionAt(null),
    auth,
    receivedEvents,
    onEvent: async (event: SocketEvent) => {
      await commit?.(event)
      receivedEvents.push(event)
      for (const check of waiting) check()
    },
    loadSentText: async (_id: string): Promise<string | null> => null,
    until,
    /** The same, but finds each event only once. */
    next: (matches: EventPredicate) =>
      until((event) => {
        if (found.has(event) || !matches(event)) return false
        found.add(event)
        return true
      }),
    ...changes,
  }
}

export const isClose = ({ event, data }: SocketEvent): boolean =>
  event === 'connection.update' && (data as { connection?: string }).connection === 'close'

/** Log that records its messages. */
export function createRecordingLog(): Log & { lines: string[] } {
  const lines: string[] = []
  const keep = (message: string) => void lines.push(message)
  return { debug: keep, info: keep, warn: keep, error: keep, lines }
}

export type TestDevice = ReturnType<typeof openDevice>
type DeviceOptions = { store?: MemoryAuth; commit?: (event: SocketEvent) => Promise<void> }

const outgoing = openTestOutgoing()

/** Opens a socket to a simulator through the transport and records its events. */
export function openDevice(baseUrl: string, { store = memoryAuth(), commit }: DeviceOptions = {}) {
  const who = createListener({ connection: sessionAt(baseUrl), auth: store }, commit)
  const socket = simulatedTransport(outgoing).open(who)
  const next = async (matches: (event: string, data: Loose) => boolean): Promise<Loose> =>
    (await who.next(({ event, data }) => matches(event, data))).data
  const updated = (matches: (data: Loose) => boolean) =>
    next((event, data) => event === 'connection.update' && matches(data))
  return {
    socket,
    store,
    receivedEvents: who.receivedEvents,
    next,
    offered: async (): Promise<string> => (await updated(({ qr }) => typeof qr === 'string')).qr,
    closed: async () =>
      (await updated(({ connection }) => connection === 'close')).lastDisconnect.error.output.statusCode,
    opened: () => updated(({ connection }) => connection === 'open'),
    upsert: async (type: 'notify' | 'append') =>
      (await next((event, data) => event === 'messages.upsert' && data.type === type)).messages[0],
    status: (id: string, status: number) =>
      next((event, data) => event === 'messages.update' && data[0].key.id === id && data[0].update.status === status),
  }
}

/** Links a device to the owner's phone by QR code, and reopens its socket as the network requires. */
export async function linkDevice(network: SimulatorWorld, options: DeviceOptions = {}): Promise<TestDevice> {
  const { url } = network.simulator
  const first = openDevice(url, options)
  assert.equal((await network.scan(await first.offered())).status, 200)
  assert.equal(await first.closed(), 515)
  const device = openDevice(url, { ...options, store: first.store })
  await device.opened()
  return device
}
