import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Loose } from './rigs.ts'

export type PlatformServer = Awaited<ReturnType<typeof platformServer>>
export interface ReceivedRequest extends Pick<IncomingMessage, 'headers'> {
  method: string
  url: string
  raw: Buffer
  body: Loose
}
type Answer = (requests: ReceivedRequest, response: ServerResponse, socket: Socket) => void

/** Starts a test platform on a real socket; `answer` handles its requests. */
export async function platformServer(answer: Answer = (_, response) => sendJson(response, 200, {})) {
  const server = createServer(async (request, response) => {
    const raw = await buffer(request)
    const { method = '', url = '', headers } = request
    const requests = { method, url, headers, raw, body: raw.length === 0 ? null : JSON.parse(raw.toString()) }
    platform.requests.push(requests)
    platform.answer(requests, response, request.socket)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const platform = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** All requests, oldest first. */
    requests: [] as ReceivedRequest[],
    answer,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return platform
}

export const sendJson = (response: ServerResponse, status: number, body: unknown): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
