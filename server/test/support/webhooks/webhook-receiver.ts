import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { atEnd } from '../file-lifecycle.ts'

export interface ReceivedWebhook {
  id: string
  event: string
  headers: IncomingHttpHeaders
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  body: any
  /** Number of the request at this receiver, from 1. */
  number: number
}

export interface ReceiverAnswer {
  status: number
  headers?: Record<string, string>
  body?: string
}

/** Answer of the receiver; `hang` never answers, `cut` closes the connection. */
type Answer = ReceiverAnswer | 'hang' | 'cut'
export type ReceiverScript = (webhook: ReceivedWebhook) => Answer | Promise<Answer>
export type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** Starts a real server on this machine that records its requests in order. Accepts everything by default. */
export async function startReceiver() {
  const received: ReceivedWebhook[] = []
  let script: ReceiverScript = () => ({ status: 204 })
  let waiting: { count: number; resolve: () => void }[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    // Ignores requests whose sender died before the end.
    request.on('end', async () => {
      const text = Buffer.concat(chunks).toString('utf8')
      const { headers } = request
      const [id, event] = [String(headers['webhook-id']), String(headers['webhook-event'])]
      const webhook = { id, event, headers, text, body: JSON.parse(text), number: received.length + 1 }
      received.push(webhook)
      for (const wait of waiting) if (wait.count <= received.length) wait.resolve()
      waiting = waiting.filter(({ count }) => count > received.length)
      const answer = await script(webhook)
      if (answer === 'hang') return
      if (answer === 'cut') request.socket.destroy()
      else response.writeHead(answer.status, answer.headers).end(answer.body)
    })
  })
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    /** Answers all further requests like this. */
    answer: (next: ReceiverScript) => {
      script = next
    },
    /** Resolves when this many requests have arrived in total. */
    reached: (count: number) =>
      new Promise<void>((resolve) => {
        if (received.length >= count) resolve()
        else waiting.push({ count, resolve })
      }),
  }
}
