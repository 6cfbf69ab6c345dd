import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import { shiftedClock, systemClock } from '../../../src/base/clock.ts'
import { createLog } from '../../../src/base/log.ts'
import { type Simulator, type SimulatorOptions, startSimulator } from '../../../src/simulator/simulator.ts'

export interface Received {
  raw: Buffer
  headers: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: tests look into webhooks of every shape, and fail where one is wrong
  body: any
}

export interface SimulatorWorld {
  simulator: Simulator
  received: Received[]
  /** Statuses that the callback answers next; 200 when there are none left. */
  answers: number[]
  /** Calls the simulator; a body makes it JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  call(method: string, path: string, body?: unknown): Promise<{ status: number; body: any }>
  /** Calls the platform's interface with the number's token. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  graph(method: string, path: string, body?: unknown, token?: string): Promise<{ status: number; body: any }>
  // biome-ignore lint/suspicious/noExplicitAny: as above
  send(body: object): Promise<{ status: number; body: any }>
  text(to: string, text: string, more?: object): ReturnType<SimulatorWorld['send']>
  /** All changes that the callback has got, in order. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  changes(): any[]
  statuses(): string[]
  /** A customer who has just written, hence may be written to. */
  customer(fields?: object): Promise<{ id: string; phone: string; userId: string }>
}

/** A simulator at full speed with a callback that keeps what it gets. */
export async function simulatorWorld(options: Partial<SimulatorOptions> = {}): Promise<SimulatorWorld> {
  const received: Received[] = []
  const answers: number[] = []
  const callback = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const status = answers.shift() ?? 200
      const raw = Buffer.concat(chunks)
      if (request.method === 'GET')
        return response.end(new URL(request.url ?? '', 'http://x').searchParams.get('hub.challenge'))
      if (status === 200) received.push({ raw, headers: request.headers, body: JSON.parse(raw.toString()) })
      response.writeHead(status).end()
    })
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => callback.once('listening', resolve))
  const callbackUrl = `http://127.0.0.1:${(callback.address() as AddressInfo).port}/hook`
  const simulator = await startSimulator({
    port: 0,
    clock: shiftedClock(systemClock),
    log: createLog('silent'),
    ladder: { sentMs: 0, deliveredMs: 0, readMs: 0 },
    retryMs: [0, 0, 0],
    ...options,
    number: { callbackUrl, ...options.number },
  })
  after(async () => {
    await simulator.stop()
    callback.closeAllConnections()
    callback.close()
  })
  const call: SimulatorWorld['call'] = (method, path, body) => request(`${simulator.url}${path}`, method, body, {})
  const graph: SimulatorWorld['graph'] = (method, path, body, token = simulator.number.accessToken) =>
    request(`${simulator.url}/v25.0/${path}`, method, body, { authorization: `Bearer ${token}` })
  const send: SimulatorWorld['send'] = (body) =>
    graph('POST', `${simulator.number.numberId}/messages`, { messaging_product: 'whatsapp', ...body })
  const changes = () => received.flatMap(({ body }) => body.entry).flatMap((entry) => entry.changes)
  let people = 0
  return {
    simulator,
    received,
    answers,
    call,
    graph,
    send,
    changes,
    text: (to, text, more = {}) => send({ to, type: 'text', text: { body: text }, ...more }),
    statuses: () =>
      changes().flatMap(({ value }) => (value.statuses ?? []).map(({ status }: { status: string }) => status)),
    customer: async (fields = {}) => {
      const phone = `4420795550${String(people++).padStart(2, '0')}`
      const { body } = await call('POST', '/simulator/customers', { name: 'Zoë', phone, ...fields })
      await call('POST', `/simulator/customers/${body.id}/messages`, { text: 'Hello' })
      await simulator.settled()
      received.length = 0
      return body
    },
  }
}

async function request(url: string, method: string, body: unknown, headers: Record<string, string>) {
  const answer = await fetch(url, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') ?? false
  return { status: answer.status, body: isJson ? JSON.parse(text) : text }
}
