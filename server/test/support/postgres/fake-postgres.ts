import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { TLSSocket } from 'node:tls'
import { atEnd } from '../file-lifecycle.ts'

export interface FakePostgres {
  port: number
  /** Startup message of each connection as text; names and values end with a zero byte. */
  startupMessages: string[]
  /** Resolves when no connection is open. */
  allClosed(): Promise<void>
}

/** Fake PostgreSQL server: `answer` is called at the first data from a client. */
export async function fakePostgres(answer: (socket: Socket) => void): Promise<FakePostgres> {
  const sockets = new Set<Socket>()
  const startupMessages: string[] = []
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).once('close', () => sockets.delete(socket))
    socket.once('data', (first) => {
      startupMessages.push(first.toString('latin1'))
      answer(socket)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const allClosed = async () => {
    await Promise.all([...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))))
  }
  return { port: (server.address() as AddressInfo).port, startupMessages, allClosed }
}

/** Accepts connections and never answers; advances the mocked time after each request. */
export function silentServer(t: TestContext, ms = 60_000, onPass = (_ms: number) => {}): Promise<FakePostgres> {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  return fakePostgres(() => {
    onPass(ms)
    t.mock.timers.tick(ms)
  })
}

/** Upgrades the socket of a client that has requested TLS. */
export function acceptTls(socket: Socket, options: { cert: string; key: string }): TLSSocket {
  socket.write('S')
  return new TLSSocket(socket, { isServer: true, ...options }).on('error', () => {}).resume()
}

export function message(type: string, body: string | Buffer): Buffer {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeUInt32BE(bytes.length + 4, 1)
  return Buffer.concat([head, bytes])
}

export const status = (name: string, value: string): Buffer => message('S', `${name}\0${value}\0`)

export const failure = (code: string, words: string): Buffer => message('E', `SFATAL\0VFATAL\0C${code}\0M${words}\0\0`)

export const ready: Buffer = message('Z', 'I')

/** Returns a server's messages to a client that it accepts without a password. */
export function startupReply(isStandby = 'off', isReadOnly = 'off'): Buffer {
  return Buffer.concat([
    message('R', Buffer.alloc(4)),
    status('in_hot_standby', isStandby),
    status('default_transaction_read_only', isReadOnly),
    message('K', Buffer.from('0000000100000002', 'hex')),
    ready,
  ])
}

/** Returns the answer to a statement with one row of texts. */
export function oneRow(row: Readonly<Record<string, string>>): Buffer {
  const count = Buffer.from([0, Object.keys(row).length])
  const columns = Object.keys(row).map((name) =>
    Buffer.concat([Buffer.from(`${name}\0`), Buffer.from('00000000000000000019ffffffffffff0000', 'hex')]),
  )
  const values = Object.values(row).map((value) =>
    Buffer.concat([Buffer.from([0, 0, 0, value.length]), Buffer.from(value)]),
  )
  return Buffer.concat([
    message('T', Buffer.concat([count, ...columns])),
    message('D', Buffer.concat([count, ...values])),
    message('C', 'SELECT 1\0'),
    ready,
  ])
}
