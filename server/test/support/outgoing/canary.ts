import { createServer } from 'node:net'

export interface Canary {
  port: number
  /** Connections that somebody has opened. */
  count(): number
  close(): Promise<void>
}

/** Listens on both loopback addresses, on one port, where nobody may come. */
export async function openCanary(): Promise<Canary> {
  let count = 0
  const listen = async (host: string, port: number) => {
    const server = createServer((socket) => {
      count++
      socket.destroy()
    })
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, host, resolve)
    })
    return server
  }
  const first = await listen('127.0.0.1', 0)
  const address = first.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  // Not every machine has IPv6.
  const second = await listen('::1', port).catch(() => null)
  return {
    port,
    count: () => count,
    close: async () => {
      for (const server of [first, second]) await new Promise((resolve) => server?.close(resolve) ?? resolve(null))
    },
  }
}
