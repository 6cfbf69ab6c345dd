import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { DbOptions } from '../../../src/base/db.ts'
import { atEnd } from '../file-end.ts'
import { reset } from '../wire/reset.ts'

export interface CuttingProxy {
  port: number
  /** Ends each connection that is open. */
  cutAll(): void
  /** From now on, a connection ends once the server has answered so many bytes by it; null to let all through. */
  cutAfter(bytes: number | null): void
  /** What the server says does not arrive any more, though connections stay open. */
  silence(isSilent: boolean): void
  /** Keeps back each word that the server is ready, until it is to be held no longer. */
  holdReady(isHeld: boolean): void
  /** How many such words are kept back. */
  keptReady(): number
  /** Bytes that clients have said since the start. */
  asked(): number
  /** The next connection alone ends once the server has answered so many bytes by it. */
  cutNextAfter(bytes: number): void
  /** The next connection by which a client says this ends: before the server hears of it, at once then, or when it has answered. */
  cutAtWord(word: string, when: Moment): void
  /** Connections since the start. */
  accepted(): number
}

type Moment = 'unheard' | 'heard' | 'answered'

const readyBytes = 6
/** A server that has said nothing for so long has said all that it had to say. */
const quietMs = 50

function debounced(work: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  return () => {
    clearTimeout(timer)
    timer = setTimeout(work, quietMs)
  }
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
        // It may go on reading, and closes its side when it is done.
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
    holdReady: (isHeld) => {
      isReadyHeld = isHeld
      for (const pass of held.splice(0)) pass()
    },
    keptReady: () => held.length,
    asked: () => asked,
    accepted: () => accepted,
    cutAtWord: (word, when) => {
      cutting = { word, when }
    },
    cutNextAfter: (bytes) => {
      nextLimit = bytes
    },
  }
}

/** The same database, by a proxy of its own. */
export async function databaseByProxy(given: DbOptions): Promise<{ proxy: CuttingProxy; options: DbOptions }> {
  // What the server says is cut, not what a pooler before it does.
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
