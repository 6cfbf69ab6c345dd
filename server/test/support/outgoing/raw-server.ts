import { createServer, type Socket } from 'node:net'

export interface RawServer {
  port: number
  /** Requests that have come in whole, as text, oldest first. */
  requests: string[]
  sockets: Socket[]
  /** What is done with each request: `of` counts the requests of its socket from 1. */
  answer: (socket: Socket, of: number) => void
  close(): Promise<void>
}

/** A server that answers by bytes, so that it can answer wrongly. Requests end at an empty line, or with their body `{}`. */
export async function rawServer(host = '127.0.0.1', port = 0): Promise<RawServer> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    raw.sockets.push(socket)
    let text = ''
    let count = 0
    socket.on('error', () => {})
    socket.on('end', () => socket.end())
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      if (!/\r\n\r\n(?:\{\})?$/.test(text) || (/content-length: 2/i.test(text) && !text.endsWith('{}'))) return
      raw.requests.push(text)
      text = ''
      raw.answer(socket, ++count)
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const address = server.address()
  const raw: RawServer = {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    requests: [],
    sockets: [],
    answer: (socket) => socket.write(okAnswer()),
    close: async () => {
      for (const socket of raw.sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return raw
}

export const okAnswer = (body = 'ok'): string => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`
