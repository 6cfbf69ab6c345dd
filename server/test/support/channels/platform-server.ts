import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Loose } from './rigs.ts'

export interface Asked {
  method: string
  url: string
  headers: IncomingMessage['headers']
  raw: Buffer
  body: Loose
}

export interface PlatformServer {
  baseUrl: string
  /** Every request, oldest first. */
  asked: Asked[]
  answer: (asked: Asked, response: ServerResponse, socket: Socket) => void
  close(): Promise<void>
}

/** A platform of the tests' own, on a real socket: `answer` does as the test says. */
export async function platformServer(answer?: PlatformServer['answer']): Promise<PlatformServer> {
  const server = createServer(async (request, response) => {
    const raw = await buffer(request)
    const { method = '', url = '', headers } = request
    const asked = { method, url, headers, raw, body: raw.length === 0 ? null : JSON.parse(raw.toString()) }
    platform.asked.push(asked)
    platform.answer(asked, response, request.socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const platform: PlatformServer = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    answer: answer ?? ((_, response) => sendJson(response, 200, {})),
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return platform
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
