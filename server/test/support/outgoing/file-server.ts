import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type FileServer = Awaited<ReturnType<typeof fileServer>>
type Answer = (request: IncomingMessage, response: ServerResponse) => unknown

/** Serves files as `answer` says. */
export async function fileServer(answer: Answer, host = '127.0.0.1') {
  const server = createServer((request, response) => {
    const { method, url, headers } = request
    files.asked.push({ line: `${method} ${url}`, authorization: headers.authorization, headers })
    files.answer(request, response)
  })
  await once(server.listen(0, host), 'listening')
  const { port } = server.address() as AddressInfo
  const files = {
    baseUrl: `http://${host}:${port}`,
    port,
    /** Requests, oldest first, with the credential if present. */
    asked: [] as { line: string; authorization: string | undefined; headers: IncomingMessage['headers'] }[],
    answer,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return files
}

/** Writes endlessly, as fast as the client reads; `written` counts the bytes. */
export function endless(response: ServerResponse): { written: number } {
  const piece = Buffer.alloc(65_536, 7)
  const count = { written: 0 }
  const write = () => {
    while (!response.destroyed) {
      count.written += piece.length
      if (!response.write(piece)) break
    }
  }
  response.on('drain', write)
  write()
  return count
}
