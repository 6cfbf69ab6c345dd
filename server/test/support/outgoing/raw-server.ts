import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

/** Starts a server that answers with raw bytes, also invalid ones. Requests end at an empty line or the body `{}`. */
export async function rawServer(host = '127.0.0.1', port = 0) {
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
  await once(server.listen(port, host), 'listening')
  const raw = {
    port: (server.address() as AddressInfo).port,
    /** Complete requests, oldest first. */
    requests: [] as string[],
    sockets: [] as Socket[],
    /** Answers each request; `of` counts the requests of its socket from 1. */
    answer: (socket: Socket, _of: number): unknown => socket.write(okAnswer()),
    close: async () => {
      for (const socket of raw.sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return raw
}

export const okAnswer = (body = 'ok'): string => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`

/** Listens on both loopback addresses on one port that must not be reached; counts connections. */
export async function openCanary() {
  const first = await rawServer()
  // Not every machine has IPv6.
  const second = await rawServer('::1', first.port).catch(() => null)
  return {
    port: first.port,
    count: () => first.sockets.length + (second?.sockets.length ?? 0),
    close: async () => void (await Promise.all([first.close(), second?.close()])),
  }
}
