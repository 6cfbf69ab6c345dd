import { connect, type Socket } from 'node:net'

export interface Load {
  host: string
  port: number
  connections: number
  durationMs: number
  /** Returns the bytes of the n-th request of the run. */
  request: (n: number) => Buffer
}

export interface Measured {
  perSecond: number
  p50Ms: number
  p99Ms: number
  answers: number
  /** Number of answers other than 2xx: any makes the figures invalid. */
  failures: number
}

/** Sends requests as fast as the server answers, over bare sockets, since it shares the server's two cores. */
export async function measure(load: Load): Promise<Measured> {
  const latencies: number[] = []
  let next = 0
  let failures = 0
  const started = performance.now()
  const end = started + load.durationMs
  const run = async () => {
    const socket = connect(load.port, load.host).setNoDelay()
    try {
      while (performance.now() < end) {
        const sent = performance.now()
        const status = await exchange(socket, load.request(next++))
        latencies.push(performance.now() - sent)
        if (status < 200 || status > 299) failures++
      }
    } finally {
      socket.destroy()
    }
  }
  await Promise.all(Array.from({ length: load.connections }, run))
  const seconds = (performance.now() - started) / 1000
  latencies.sort((a, b) => a - b)
  const at = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0
  return { perSecond: latencies.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99), answers: latencies.length, failures }
}

/** Opens a connection that sends requests in sequence and returns their statuses. */
export function openExchange(port: number): { send(request: Buffer): Promise<number>; close(): void } {
  const socket = connect(port, '127.0.0.1').setNoDelay()
  return { send: (request) => exchange(socket, request), close: () => void socket.destroy() }
}

function exchange(socket: Socket, request: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    let head: string | null = null
    let left = 0
    const finish = (error: Error | null, status = 0) => {
      socket.off('data', onData)
      socket.off('error', finish)
      socket.off('close', onClose)
      if (error === null) resolve(status)
      else reject(error)
    }
    const onClose = () => finish(new Error('The server closed the connection'))
    const onData = (chunk: Buffer) => {
      if (head === null) {
        // Response heads fit in one chunk: they are small and come first.
        const end = chunk.indexOf('\r\n\r\n')
        head = chunk.toString('latin1', 0, end)
        const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
        left = length - (chunk.length - end - 4)
      } else left -= chunk.length
      if (left <= 0) finish(null, Number(head.slice(9, 12)))
    }
    socket.on('data', onData)
    socket.once('error', finish)
    socket.once('close', onClose)
    socket.write(request)
  })
}

/** Returns the bytes of a keep-alive request. */
export function requestBytes(method: string, path: string, headers: Record<string, string>, body?: unknown): Buffer {
  return rawRequestBytes(method, path, headers, body === undefined ? undefined : JSON.stringify(body))
}

/** Like `requestBytes`, with the exact text of a JSON body. */
export function rawRequestBytes(method: string, path: string, headers: Record<string, string>, payload = ''): Buffer {
  const ofBody = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(payload)) }
  const all: Record<string, string> = { host: 'localhost', ...headers, ...(payload === '' ? {} : ofBody) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${payload}`)
}
