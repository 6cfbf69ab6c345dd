import { singleFlightByKey } from '../base/async/batch.ts'
import type { Clock } from '../base/clock.ts'
import type { Db } from '../base/db.ts'
import type { KeyStore } from '../base/encryption/key-store.ts'
import { liveUpdatesTopic, readLiveUpdate } from '../team/live-updates.ts'
import type { Channel, StoredConnection } from './connection/connection.ts'
import { decryptConnection, findCallbackConnections } from './connection/queries.ts'

// A live update removes a changed connection; this limit covers updates that are lost. API keys use the same rule.
const ttlMs = 4_000
const maxAddresses = 5_000

/** A connection that a platform may call. `isReserved`: the platform has confirmed its number. */
export interface CallbackConnection {
  connection: StoredConnection
  isReserved: boolean
}

/** Cache of decrypted connections for platform callbacks. */
export interface CallbackConnectionCache {
  /** Returns all connections of this channel in the workspace of connection `id`; empty if `id` does not exist. */
  find(channel: Channel, id: string): Promise<readonly CallbackConnection[]>
}

interface Entry {
  workspaceId: string
  connections: readonly CallbackConnection[]
  readAtMs: number
}

export function createCallbackConnectionCache({
  db,
  keyStore,
  clock,
}: {
  db: Db
  keyStore: KeyStore
  clock: Clock
}): CallbackConnectionCache {
  const entries = new Map<string, Entry>()
  let generation = 0
  db.subscribe(liveUpdatesTopic, (payload) => {
    const update = readLiveUpdate(payload)
    if (update?.name !== 'team.connection.changed') return
    generation++
    for (const [address, { workspaceId }] of entries) if (workspaceId === update.workspaceId) entries.delete(address)
  })
  db.onReconnect(() => {
    generation++
    entries.clear()
  })

  const load = singleFlightByKey(async (address: string): Promise<readonly CallbackConnection[]> => {
    // A call that waited for an earlier load of the same address finds the result here.
    const cached = findFresh(address)
    if (cached !== null) return cached
    const [channel = '', id = ''] = address.split(' ')
    const startGeneration = generation
    const readAtMs = clock.now().getTime()
    const rows = await findCallbackConnections(db.sql, id, channel as Channel)
    const workspaceId = rows[0]?.workspaceId
    // Unknown addresses are chosen by the caller; caching them would let callers fill the cache.
    if (workspaceId === undefined) return []
    const connections = await keyStore.withKeyring(workspaceId, (keyring) =>
      rows.map((row) => ({ connection: decryptConnection(keyring, row), isReserved: row.reservedAs !== null })),
    )
    // A load that started before a change may return old rows: use the result once, do not cache it.
    if (startGeneration === generation) {
      for (const { connection } of connections) {
        storeEntry(`${channel} ${connection.id}`, { workspaceId, connections, readAtMs })
      }
    }
    return connections
  })

  const storeEntry = (address: string, entry: Entry) => {
    const [oldest] = entries.keys()
    if (entries.size >= maxAddresses && oldest !== undefined) entries.delete(oldest)
    entries.delete(address)
    entries.set(address, entry)
  }

  const findFresh = (address: string): readonly CallbackConnection[] | null => {
    const entry = entries.get(address)
    const ageMs = entry === undefined ? ttlMs : clock.now().getTime() - entry.readAtMs
    return entry !== undefined && ageMs >= 0 && ageMs < ttlMs ? entry.connections : null
  }

  return {
    find: async (channel, id) => {
      const address = `${channel} ${id}`
      return findFresh(address) ?? load(address)
    },
  }
}
