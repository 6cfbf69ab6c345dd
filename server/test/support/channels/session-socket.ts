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

export interface Hearing extends OpenSocket {
  auth: MemoryAuth
  heard: SocketEvent[]
  /** Resolves with the first event heard, from now or before, that it answers true for. */
  until(isIt: (event: SocketEvent) => boolean): Promise<SocketEvent>
}

/** Somebody who opens a socket and keeps what it tells. */
export function hearing(changes: Partial<OpenSocket> = {}): Hearing {
  const heard: SocketEvent[] = []
  const waiting = new Set<() => void>()
  return {
    connection: sessionAt(null),
    auth: memoryAuth(),
    heard,
    hear: async (event) => {
      heard.push(event)
      for (const look of waiting) look()
    },
    sentText: async () => null,
    until: (isIt) =>
      new Promise((resolve) => {
        const look = () => {
          const found = heard.find(isIt)
          if (found === undefined) return
          waiting.delete(look)
          resolve(found)
        }
        waiting.add(look)
        look()
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
