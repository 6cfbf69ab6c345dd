import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FileServer {
  baseUrl: string
  port: number
  /** `METHOD path`, oldest first, with the credential if there was one. */
  asked: { line: string; authorization: string | undefined; headers: IncomingMessage['headers'] }[]
  answer: (request: IncomingMessage, response: ServerResponse) => void
  close(): Promise<void>
}

/** Serves files, as well or as badly as `answer` says. */
export async function fileServer(answer: FileServer['answer'], host = '127.0.0.1'): Promise<FileServer> {
  const server: Server = createServer((request, response) => {
    const { method, url, headers } = request
    files.asked.push({ line: `${method} ${url}`, authorization: headers.authorization, headers })
    files.answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  const files: FileServer = {
    baseUrl: `http://${host}:${port}`,
    port,
    asked: [],
    answer,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return files
}

/** Writes for ever, as fast as it is taken; `written` says how much so far. */
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
