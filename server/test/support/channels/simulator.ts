import assert from 'node:assert/strict'
import { after } from 'node:test'
import { type SimulatorOptions, startSimulator } from '../../../../simulator/src/simulator.ts'
import { shiftedClock, systemClock } from '../../../src/base/clock.ts'
import { createLog } from '../../../src/base/log.ts'
import { platformServer, type ReceivedRequest } from './platform-server.ts'
import type { Loose } from './rigs.ts'

export type SimulatorWorld = Awaited<ReturnType<typeof simulatorWorld>>

/** Starts a simulator without delays, and a callback that records its requests. */
export async function simulatorWorld(options: Partial<SimulatorOptions> = {}) {
  const received: ReceivedRequest[] = []
  /** Next statuses that the callback answers; 200 when empty. */
  const answers: number[] = []
  const callback = await platformServer((asked, response) => {
    if (asked.method === 'GET') {
      response.end(new URL(asked.url, 'http://x').searchParams.get('hub.challenge'))
      return
    }
    const status = answers.shift() ?? 200
    if (status === 200) received.push(asked)
    response.writeHead(status).end()
  })
  const simulator = await startSimulator({
    ...{ port: 0, clock: shiftedClock(systemClock), log: createLog('silent'), retryMs: [0, 0, 0] },
    ladder: { sentMs: 0, deliveredMs: 0, readMs: 0 },
    ...options,
    number: { callbackUrl: `${callback.baseUrl}/hook`, ...options.number },
  })
  after(async () => {
    await simulator.stop()
    await callback.close()
  })
  const { number, url } = simulator
  const { numberId } = simulator.phone
  const phonePath = `/simulator/phones/${numberId}`
  const call = (method: string, path: string, body?: unknown) => ask(`${url}${path}`, method, body)
  const done = async (method: string, path: string, body?: unknown) => {
    const answer = await call(method, path, body)
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  /** Calls the platform's API with the number's token. */
  const graph = (method: string, path: string, body?: unknown, token: string = number.accessToken) =>
    ask(`${url}/v25.0/${path}`, method, body, { authorization: `Bearer ${token}` })
  const send = (body: object) =>
    graph('POST', `${number.numberId}/messages`, { messaging_product: 'whatsapp', ...body })
  /** Returns all changes received by the callback, in order. */
  const changes = (): Loose[] => received.flatMap(({ body }) => body.entry).flatMap((entry) => entry.changes)
  let people = 0
  const newPerson = (fields: object) => ({
    ...{ name: 'Zoë', phone: `44207955${String(5000 + people++)}`, ...fields },
  })
  return {
    ...{ simulator, received, answers, call, graph, send, changes, phonePath },
    text: (to: string, text: string, more = {}) => send({ to, type: 'text', text: { body: text }, ...more }),
    statuses: () => changes().flatMap(({ value }) => (value.statuses ?? []).map(({ status }: Loose) => status)),
    /** Adds a customer who has just written, so that the window is open. */
    customer: async (fields = {}): Promise<{ id: string; phone: string; userId: string }> => {
      const customer = await done('POST', '/simulator/customers', newPerson(fields))
      await call('POST', `/simulator/customers/${customer.id}/messages`, { text: 'Hello' })
      await simulator.settled()
      received.length = 0
      return customer
    },
    /** Performs an action of a customer; a text message by default. */
    says: (id: string, body: object) => call('POST', `/simulator/customers/${id}/messages`, body),
    /** Returns the messages on a customer's phone, oldest first. */
    chat: async (id: string): Promise<Loose[]> => (await done('GET', `/simulator/customers/${id}`)).messages,
    /** Uploads a file. */
    uploadFile: async (bytes: Buffer, query: Record<string, string>) => {
      const answer = await fetch(`${url}/simulator/files?${new URLSearchParams(query)}`, {
        method: 'POST',
        headers: { 'content-type': 'application/octet-stream' },
        body: new Uint8Array(bytes),
      })
      return { status: answer.status, body: (await answer.json()) as Loose }
    },
    /** Scans the QR code with the owner's phone. */
    scan: (qr: string) => call('POST', `${phonePath}/scan`, { qr }),
    /** Adds a person whose phone can write to the owner's. */
    person: (fields = {}): Promise<{ id: string; phone: string; userId: string }> =>
      done('POST', '/simulator/customers', newPerson({ numberId, ...fields })),
    writes: async (customerId: string, text: string, more = {}): Promise<string> =>
      (await done('POST', `/simulator/customers/${customerId}/messages`, { text, ...more })).id,
    /** Unlinks every device as the owner. */
    unlinkAll: async () => {
      const { devices } = await done('GET', phonePath)
      for (const { id } of devices) await done('DELETE', `${phonePath}/devices/${id}`)
    },
  }
}

async function ask(url: string, method: string, body: unknown, headers: Record<string, string> = {}) {
  const answer = await fetch(url, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') ?? false
  return { status: answer.status, body: (isJson ? JSON.parse(text) : text) as Loose }
}
