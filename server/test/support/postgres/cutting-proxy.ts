import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { DbOptions } from '../../../src/base/db.ts'
import { atEnd } from '../file-end.ts'

export interface CuttingProxy {
  port: number
  /** Ends each connection that is open. */
  cutAll(): void
  /** From now on, a connection ends once the server has answered so many bytes by it; null to let all through. */
  cutAfter(bytes: number | null): void
  /** What the server says does not arrive any more, though connections stay open. */
  silence(isSilent: boolean): void
  /** The next connection alone ends once the server has answered so many bytes by it. */
  cutNextAfter(bytes: number): void
  /** Connections since the start. */
  accepted(): number
}

/** Stands between the driver and a server, and ends connections at any byte. */
export async function startCuttingProxy(
  target: { path: string } | { host: string; port: number },
): Promise<CuttingProxy> {
  const open = new Set<Socket>()
  let limit: number | null = null
  let nextLimit: number | null = null
  let isSilent = false
  let accepted = 0
  const server = createServer((client) => {
    accepted++
    const upstream = connect(target)
    const ownLimit = nextLimit ?? limit
    nextLimit = null
    let passed = 0
    const end = () => {
      client.resetAndDestroy()
      upstream.destroy()
      open.delete(client)
    }
    open.add(client)
    client.on('error', end).on('close', end)
    upstream.on('error', end).on('close', end)
    client.on('data', (chunk) => upstream.write(chunk))
    upstream.on('data', (chunk: Buffer) => {
      if (isSilent) return
      const left = ownLimit === null ? chunk.length : Math.min(chunk.length, ownLimit - passed)
      passed += left
      if (left < chunk.length) client.write(chunk.subarray(0, left), end)
      else client.write(chunk)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    for (const client of open) client.destroy()
    server.close()
    if (server.listening) await once(server, 'close')
  }
  atEnd(close)
  return {
    port: (server.address() as AddressInfo).port,
    cutAll: () => {
      for (const client of [...open]) client.resetAndDestroy()
    },
    cutAfter: (bytes) => {
      limit = bytes
    },
    silence: (silent) => {
      isSilent = silent
    },
    accepted: () => accepted,
    cutNextAfter: (bytes) => {
      nextLimit = bytes
    },
  }
}

/** The same database, by a proxy of its own. */
export async function databaseByProxy(options: DbOptions): Promise<{ proxy: CuttingProxy; options: DbOptions }> {
  const proxy = await startCuttingProxy(targetOf(options))
  const url = new URL(options.url ?? `postgres://${options.user}:${options.password}@x/${options.database}`)
  url.host = `127.0.0.1:${proxy.port}`
  return { proxy, options: { url: url.href } }
}

function targetOf({ url, socketFolder }: DbOptions) {
  if (url === undefined) return { path: `${socketFolder}/.s.PGSQL.5432` }
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port || 5432) }
}
