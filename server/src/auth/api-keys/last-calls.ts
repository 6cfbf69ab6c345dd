import type { Clock } from '../../base/clock.ts'
import type { Db, Sql, Tx } from '../../base/db.ts'
import type { Caller } from './caller.ts'
import { recordKeyUses } from './queries.ts'

/** The stored facts of a call. They contain no content, names or values. */
export interface KeyCall {
  at: Date
  method: string
  /** Route pattern, with names instead of ids: `/api/v1/leads/:leadId`. */
  route: string
  /** Name of the tool that an agent called. */
  verb: string | null
  status: number
  ms: number
}

export interface LastCalls {
  /** Notes that the key was accepted. Its last use is stored to within a minute. */
  recordUse(caller: KeyRef): void
  recordCall(caller: KeyRef, call: KeyCall): void
  /** Returns the newest calls of a key, including unwritten ones of this process; other nodes' lag up to a minute. */
  read(workspaceId: string, keyId: string): Promise<KeyCall[]>
  /** Writes the pending data of keys that are due. After a failure it is kept and retried. */
  flush(): Promise<void>
  /** Writes all pending data. */
  close(): Promise<void>
}

type KeyRef = Pick<Caller, 'workspaceId' | 'keyId'>

export const maxCallsPerKey = 100

const flushEveryMs = 5000
const perKeyMs = 60_000
// Keeps fewer calls per key when many keys are active; bounds memory to about 10 MB.
const maxKeys = 10_000
const maxCalls = 20_000
const keysPerStatement = 200

interface PendingKey extends KeyRef {
  /** Oldest first. */
  calls: KeyCall[]
  /** Last use that is not written yet. */
  usedAt: Date | null
  writtenAtMs: number | null
}

/**
 * Collects uses and calls in memory, so that requests don't wait, and writes them in batches, at most once a minute per
 * key. A crash loses up to a minute.
 */
export function createLastCalls(db: Db, clock: Clock): LastCalls {
  const keys = new Map<string, PendingKey>()
  let previousWork: Promise<unknown> = Promise.resolve()
  const callLimit = () => Math.min(maxCallsPerKey, Math.max(1, Math.floor(maxCalls / keys.size)))

  function pendingOf({ workspaceId, keyId }: KeyRef): PendingKey {
    const pending = keys.get(keyId) ?? { workspaceId, keyId, calls: [], usedAt: null, writtenAtMs: null }
    keys.set(keyId, pending)
    return pending
  }

  // Serialized: concurrent writes would store the same calls twice, and a read during a write would miss or repeat
  // some.
  function inSequence<T>(work: () => Promise<T>): Promise<T> {
    const done = previousWork.then(work)
    previousWork = done.catch(() => {})
    return done
  }

  async function write(isDue: (pending: PendingKey) => boolean): Promise<void> {
    const dueKeys = [...keys.values()].filter((pending) => !isEmpty(pending) && isDue(pending))
    for (let at = 0; at < dueKeys.length; at += keysPerStatement) {
      // Sorted by key, so that nodes that write concurrently lock rows in the same order and cannot deadlock.
      const batch = dueKeys.slice(at, at + keysPerStatement).toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1))
      const written = batch.map((pending) => ({ ...pending, calls: [...pending.calls] }))
      await db.tx(async (tx) => {
        await storeCalls(
          tx,
          written.filter(({ calls }) => calls.length > 0),
        )
        const uses = written.flatMap(({ usedAt: at, ...key }) => (at === null ? [] : { ...key, at }))
        if (uses.length > 0) await recordKeyUses(tx, uses)
      })
      for (const [n, pending] of batch.entries()) {
        const stored = new Set(written[n]?.calls)
        pending.calls = pending.calls.filter((call) => !stored.has(call))
        if (pending.usedAt === written[n]?.usedAt) pending.usedAt = null
        pending.writtenAtMs = clock.now().getTime()
      }
    }
  }

  const isEmpty = ({ calls, usedAt }: PendingKey) => calls.length === 0 && usedAt === null
  const isWriteDue = ({ writtenAtMs }: PendingKey) =>
    writtenAtMs === null || clock.now().getTime() - writtenAtMs >= perKeyMs

  async function flush(): Promise<void> {
    await inSequence(() => write(isWriteDue))
    for (const [keyId, pending] of keys) if (isEmpty(pending) && isWriteDue(pending)) keys.delete(keyId)
  }

  const timer = setInterval(() => flush().catch(() => {}), flushEveryMs).unref()

  return {
    recordUse: (caller) => {
      pendingOf(caller).usedAt = clock.now()
    },
    recordCall: (caller, call) => {
      if (!keys.has(caller.keyId) && keys.size >= maxKeys) return
      const { calls } = pendingOf(caller)
      calls.push(call)
      if (calls.length > callLimit()) calls.shift()
    },
    flush,
    read: (workspaceId, keyId) =>
      inSequence(async () => {
        const stored = await selectCalls(db.sql, workspaceId, keyId)
        const pending = keys.get(keyId)
        const unwritten = pending?.workspaceId === workspaceId ? pending.calls : []
        return [...unwritten.toReversed(), ...stored].slice(0, maxCallsPerKey)
      }),
    close: async () => {
      clearInterval(timer)
      await inSequence(() => write(() => true))
    },
  }
}

type StoredCall = [atMs: number, method: string, route: string, verb: string | null, status: number, ms: number]

const toStored = ({ at, method, route, verb, status, ms }: KeyCall): StoredCall => [
  at.getTime(),
  method,
  route,
  verb,
  status,
  ms,
]

const fromStored = ([atMs, method, route, verb, status, ms]: StoredCall): KeyCall => ({
  at: new Date(atMs),
  method,
  route,
  verb,
  status,
  ms,
})

async function storeCalls(tx: Tx, batch: readonly (KeyRef & { calls: KeyCall[] })[]): Promise<void> {
  if (batch.length === 0) return
  await tx`
    insert into key_calls as kept (workspace_id, key_id, calls)
    select made.workspace_id, made.key_id, made.calls::jsonb
    from unnest(
      ${batch.map(({ workspaceId }) => workspaceId)}::uuid[],
      ${batch.map(({ keyId }) => keyId)}::uuid[],
      ${batch.map(({ calls }) => JSON.stringify(calls.toReversed().map(toStored)))}::text[]
    ) as made (workspace_id, key_id, calls)
    on conflict (workspace_id, key_id) do update
    -- Keeps twice as many as are shown: calls of nodes that write alternately are interleaved, and sorted when read.
    set calls = jsonb_path_query_array(excluded.calls || kept.calls, '$[0 to 199]')`
}

async function selectCalls(sql: Sql, workspaceId: string, keyId: string): Promise<KeyCall[]> {
  const [row] = await sql<{ calls: StoredCall[] }[]>`
    select calls
    from key_calls
    where workspace_id = ${workspaceId}
      and key_id = ${keyId}`
  return (row?.calls ?? [])
    .toSorted((a, b) => b[0] - a[0])
    .slice(0, maxCallsPerKey)
    .map(fromStored)
}
