import assert from 'node:assert/strict'
import { simulatedTransport } from '../../../src/channels/unofficial/transport/simulated-transport.ts'
import type { Socket, SocketEvent } from '../../../src/channels/unofficial/transport/transport.ts'
import type { SimulatorOptions } from '../../../src/simulator/simulator.ts'
import { openTestOutgoing } from '../outgoing/outgoing.ts'
import { sessionAt } from './connections.ts'
import { hearing, type MemoryAuth, memoryAuth } from './session-socket.ts'
import { type SimulatorWorld, simulatorWorld } from './simulator.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into events of every shape, and fail where one is wrong
export type Loose = any

export interface QrNetwork extends SimulatorWorld {
  /** `/simulator/phones/phone-15550783882` */
  phonePath: string
  /** The owner of the phone scans the QR code. */
  scan(qr: string): Promise<{ status: number; body: Loose }>
  enterCode(code: string): Promise<{ status: number; body: Loose }>
  /** The phone as its owner sees it. */
  phone(): Promise<Loose>
  /** Somebody with a phone who can write to the owner's. */
  person(fields?: object): Promise<{ id: string; phone: string; userId: string }>
  writes(customerId: string, text: string, more?: object): Promise<string>
  /** The owner types on the phone. */
  types(customerId: string, text: string): Promise<string>
  /** The chat as the customer's phone shows it: the truth about what arrived, and how often. */
  chat(customerId: string): Promise<Loose[]>
  drop(code: number, again?: number): Promise<void>
  tell(event: string, data: unknown): Promise<void>
  /** The owner unlinks every device. */
  unlinkAll(): Promise<void>
  /** Resolves once the devices that are there have acknowledged all that they were told. */
  drained(): Promise<void>
}

/** A simulator whose owner's phone is driven by a test. */
export async function qrNetwork(options: Partial<SimulatorOptions> = {}): Promise<QrNetwork> {
  const w = await simulatorWorld(options)
  const { numberId } = w.simulator.phone
  const phonePath = `/simulator/phones/${numberId}`
  const done = async (method: string, path: string, body?: unknown) => {
    const answer = await w.call(method, path, body)
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  let people = 0
  return {
    ...w,
    phonePath,
    scan: (qr) => w.call('POST', `${phonePath}/scan`, { qr }),
    enterCode: (code) => w.call('POST', `${phonePath}/code`, { code }),
    phone: () => done('GET', phonePath),
    person: (fields = {}) => {
      const phone = `4420795560${String(people++).padStart(2, '0')}`
      return done('POST', '/simulator/customers', { name: 'Zoë', phone, numberId, ...fields })
    },
    writes: async (customerId, text, more = {}) =>
      (await done('POST', `/simulator/customers/${customerId}/messages`, { text, ...more })).id,
    types: async (customerId, text) => (await done('POST', `/simulator/customers/${customerId}/echo`, { text })).id,
    chat: async (customerId) => (await done('GET', `/simulator/customers/${customerId}`)).messages,
    drop: (code, again = 0) => done('POST', `${phonePath}/drop`, { code, again }),
    tell: (event, data) => done('POST', `${phonePath}/events`, { event, data }),
    unlinkAll: async () => {
      const { devices } = await done('GET', phonePath)
      for (const { id } of devices) await done('DELETE', `${phonePath}/devices/${id}`)
    },
    drained: async () => {
      const isDrained = ({ isOnline, unacknowledged }: Loose) => !isOnline || unacknowledged === 0
      while (!(await done('GET', phonePath)).devices.every(isDrained)) await new Promise(setImmediate)
    },
  }
}

export interface TestDevice {
  socket: Socket
  store: MemoryAuth
  /** What it heard, oldest first. */
  heard: SocketEvent[]
  /** The first event of those heard and to come that fits; each is found once. */
  next(fits: (event: string, data: Loose) => boolean): Promise<Loose>
  closed(): Promise<number>
  opened(): Promise<Loose>
  upsert(type: 'notify' | 'append'): Promise<Loose>
  status(id: string, status: number): Promise<Loose>
}

export interface DeviceOptions {
  store?: MemoryAuth
  /** What happens with an event before it counts as committed. */
  commit?: (event: SocketEvent) => Promise<void>
}

const outgoing = openTestOutgoing()

/** Opens a socket through the transport and listens to it. */
export function openDevice(baseUrl: string, { store = memoryAuth(), commit }: DeviceOptions = {}): TestDevice {
  const who = hearing({ connection: sessionAt(baseUrl), auth: store }, commit)
  const socket = simulatedTransport(outgoing).open(who)
  const next: TestDevice['next'] = async (fits) => (await who.next(({ event, data }) => fits(event, data))).data
  const ofUpdate = (fits: (data: Loose) => boolean) =>
    next((event, data) => event === 'connection.update' && fits(data))
  return {
    socket,
    store,
    heard: who.heard,
    next,
    closed: async () =>
      (await ofUpdate(({ connection }) => connection === 'close')).lastDisconnect.error.output.statusCode,
    opened: () => ofUpdate(({ connection }) => connection === 'open'),
    upsert: async (type) =>
      (await next((event, data) => event === 'messages.upsert' && data.type === type)).messages[0],
    status: (id, status) =>
      next((event, data) => event === 'messages.update' && data[0].key.id === id && data[0].update.status === status),
  }
}

/** Links a device to the owner's phone by its QR code, and opens it again as the network wants it. */
export async function linkDevice(network: QrNetwork, options: DeviceOptions = {}): Promise<TestDevice> {
  const { url } = network.simulator
  const first = openDevice(url, options)
  const { qr } = await first.next((_event, data) => typeof data.qr === 'string')
  assert.equal((await network.scan(qr)).status, 200)
  assert.equal(await first.closed(), 515)
  const device = openDevice(url, { ...options, store: first.store })
  await device.opened()
  return device
}
