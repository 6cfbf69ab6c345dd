import type { Log } from '../../../src/base/log.ts'
import type { AuthKey, AuthStore } from '../../../src/channels/unofficial/transport/auth-store.ts'
import type { OpenSocket, SocketEvent } from '../../../src/channels/unofficial/transport/transport.ts'
import { sessionAt } from './connections.ts'

export interface MemoryAuth extends AuthStore {
  creds: string | null
  keys: Map<string, string>
  /** What was written, in order. */
  writes: string[]
  /** Rejects every write from now on, as after another process has taken over. */
  isFenced: boolean
}

export function memoryAuth(): MemoryAuth {
  const note = (...written: string[]) => {
    if (auth.isFenced) throw new Error('Another process holds the session')
    auth.writes.push(...written)
  }
  const auth: MemoryAuth = {
    creds: null,
    keys: new Map(),
    writes: [],
    isFenced: false,
    readCreds: async () => auth.creds,
    writeCreds: async (value) => {
      note('creds')
      auth.creds = value
    },
    readKeys: async (type, ids) => {
      const known = ids.map((id) => [id, auth.keys.get(`${type} ${id}`)] as const)
      return new Map(known.flatMap(([id, value]) => (value === undefined ? [] : [[id, value] as const])))
    },
    writeKeys: async (entries: readonly AuthKey[]) => {
      note(...entries.map(({ type, id, value }) => `${value === null ? 'forget' : 'keep'} ${type} ${id}`))
      for (const { type, id, value } of entries) {
        if (value === null) auth.keys.delete(`${type} ${id}`)
        else auth.keys.set(`${type} ${id}`, value)
      }
    },
  }
  return auth
}

type Fits = (event: SocketEvent) => boolean

export interface Hearing extends OpenSocket {
  auth: MemoryAuth
  heard: SocketEvent[]
  /** Resolves with the first event heard, from now or before, that it answers true for. */
  until(fits: Fits): Promise<SocketEvent>
  /** The same, but each event is found once. */
  next(fits: Fits): Promise<SocketEvent>
}

/** Somebody who opens a socket and keeps what it tells; `commit` is what happens with an event before it counts as heard. */
export function hearing(changes: Partial<OpenSocket> = {}, commit?: (event: SocketEvent) => Promise<void>): Hearing {
  const heard: SocketEvent[] = []
  const found = new Set<SocketEvent>()
  const waiting = new Set<() => void>()
  const until = (fits: Fits) =>
    new Promise<SocketEvent>((resolve) => {
      const look = () => {
        const event = heard.find(fits)
        if (event === undefined) return
        waiting.delete(look)
        resolve(event)
      }
      waiting.add(look)
      look()
    })
  return {
    connection: sessionAt(null),
    auth: memoryAuth(),
    heard,
    hear: async (event) => {
      await commit?.(event)
      heard.push(event)
      for (const look of waiting) look()
    },
    sentText: async () => null,
    until,
    next: (fits) =>
      until((event) => {
        if (found.has(event) || !fits(event)) return false
        found.add(event)
        return true
      }),
    ...changes,
  } as Hearing
}

export const isClose = ({ event, data }: SocketEvent): boolean =>
  event === 'connection.update' && (data as { connection?: string }).connection === 'close'

/** A log that keeps its messages. */
export function keptLog(): Log & { lines: string[] } {
  const lines: string[] = []
  const keep = (message: string) => void lines.push(message)
  return { debug: keep, info: keep, warn: keep, error: keep, lines }
}
