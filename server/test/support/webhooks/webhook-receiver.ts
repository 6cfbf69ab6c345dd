import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { atEnd } from '../file-end.ts'

export interface ReceivedWebhook {
  id: string
  event: string
  headers: IncomingHttpHeaders
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  body: any
  /** Its place among the requests of this receiver, from 1. */
  number: number
}

export interface ReceiverAnswer {
  status: number
  headers?: Record<string, string>
  body?: string
}

/** What the receiver answers to a request; `hang` never does, `cut` ends the connection. */
type Answer = ReceiverAnswer | 'hang' | 'cut'
export type ReceiverScript = (webhook: ReceivedWebhook) => Answer | Promise<Answer>

export interface Receiver {
  url: string
  /** Every request so far, in the order in which they came. */
  received: ReceivedWebhook[]
  /** Answers all from now on. */
  answer(script: ReceiverScript): void
  /** Resolves once so many requests have come in all. */
  reached(count: number): Promise<void>
}

/** A real server on this machine that keeps what it is sent. Everything is taken until told otherwise. */
export async function startReceiver(): Promise<Receiver> {
  const received: ReceivedWebhook[] = []
  let script: ReceiverScript = () => ({ status: 204 })
  let waiting: { count: number; resolve: () => void }[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      const text = Buffer.concat(chunks).toString('utf8')
      const { headers } = request
      const webhook: ReceivedWebhook = {
        id: String(headers['webhook-id']),
        event: String(headers['webhook-event']),
        headers,
        text,
        body: JSON.parse(text),
        number: received.length + 1,
      }
      received.push(webhook)
      for (const wait of waiting) if (wait.count <= received.length) wait.resolve()
      waiting = waiting.filter(({ count }) => count > received.length)
      const answer = await script(webhook)
      if (answer === 'hang') return
      if (answer === 'cut') request.socket.destroy()
      else response.writeHead(answer.status, answer.headers).end(answer.body)
    })
  })
  // A sender keeps its connections; that of a dead one is closed by its system.
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    answer: (next) => {
      script = next
    },
    reached: (count) => {
      if (received.length >= count) return Promise.resolve()
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push({ count, resolve })
      return promise
    },
  }
}
