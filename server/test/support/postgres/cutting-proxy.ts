import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { DbOptions } from '../../../src/base/db.ts'
import { atEnd } from '../file-lifecycle.ts'
import { reset } from '../wire/reset.ts'

export interface CuttingProxy {
  port: number
  /** Closes all open connections. */
  cutAll(): void
  /** Closes every connection after the server has sent this many bytes on it; null disables it. */
  cutAfter(bytes: number | null): void
  /** Drops all further bytes of the server, while connections stay open. */
  silence(isSilent: boolean): void
  /** Withholds each ReadyForQuery message until called with false. */
  withholdReady(isHeld: boolean): void
  /** Number of withheld messages. */
  withheldReady(): number
  /** Number of bytes from clients since the start. */
  clientBytes(): number
  /** Closes only the next connection after the server has sent this many bytes on it. */
  cutNextAfter(bytes: number): void
  /** Closes the next connection on which a client sends this text: before forwarding it, after it, or once answered. */
  cutAtText(word: string, when: Moment): void
  /** Number of connections since the start. */
  accepted(): number
}

type Moment = 'unheard' | 'heard' | 'answered'

const readyBytes = 6
/** A server that has sent nothing for this long counts as finished. */
const quietMs = 50

function debounced(work: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  return () => {
    clearTimeout(timer)
    timer = setTimeout(work, quietMs)
  }
}

/** Proxies between the driver and a server, and can close connections at any byte. */
export async function startCuttingProxy(
  target: { path: string } | { host: string; port: number },
): Promise<CuttingProxy> {
  const open = new Set<Socket>()
  let limit: number | null = null
  let nextLimit: number | null = null
  let isSilent = false
  let accepted = 0
  let asked = 0
  let isReadyHeld = false
  let cutting: { word: string; when: Moment } | null = null
  const held: (() => void)[] = []
  const server = createServer((client) => {
    accepted++
    const upstream = connect(target)
    const ownLimit = nextLimit ?? limit
    nextLimit = null
    let passed = 0
    const end = () => {
      reset(client)
      upstream.destroy()
      open.delete(client)
    }
    open.add(client)
    client.on('error', end).on('close', end)
    upstream.on('error', end).on('close', end)
    const cutAfter = (chunk: Buffer, when: Moment) => {
      upstream.removeAllListeners('data').resume().write(chunk)
      if (when === 'answered') upstream.on('data', debounced(end))
      else {
        // The client may still be reading; it closes its side when done.
        reset(client.removeListener('close', end))
        upstream.end()
      }
    }
    client.on('data', (chunk: Buffer) => {
      asked += chunk.length
      const when = cutting !== null && chunk.includes(cutting.word) ? cutting.when : null
      if (when !== null) cutting = null
      if (when === null) upstream.write(chunk)
      else if (when === 'unheard') end()
      else cutAfter(chunk, when)
    })
    const keepReady = (chunk: Buffer) => {
      const isReady = chunk.at(-readyBytes) === 'Z'.charCodeAt(0)
      client.write(isReady ? chunk.subarray(0, -readyBytes) : chunk)
      if (isReady) held.push(() => client.write(chunk.subarray(-readyBytes)))
    }
    upstream.on('data', (chunk: Buffer) => {
      if (isSilent) return
      if (isReadyHeld) return keepReady(chunk)
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
      for (const client of [...open]) reset(client)
    },
    cutAfter: (bytes) => {
      limit = bytes
    },
    silence: (silent) => {
      isSilent = silent
    },
    withholdReady: (isHeld) => {
      isReadyHeld = isHeld
      for (const pass of held.splice(0)) pass()
    },
    withheldReady: () => held.length,
    clientBytes: () => asked,
    accepted: () => accepted,
    cutAtText: (word, when) => {
      cutting = { word, when }
    },
    cutNextAfter: (bytes) => {
      nextLimit = bytes
    },
  }
}

/** Returns the same database behind a proxy of its own. */
export async function databaseByProxy(given: DbOptions): Promise<{ proxy: CuttingProxy; options: DbOptions }> {
  // The proxy cuts the connection to the server, not to a pooler in front of it.
  const options = { ...given, ...given.direct }
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
