import type { Clock } from '../../base/clock.ts'
import type { Db, Sql, Tx } from '../../base/db.ts'
import type { Caller } from './caller.ts'
import { recordKeyUses } from './queries.ts'

/** What is kept of a call: nothing that anybody said or is named. */
export interface KeyCall {
  at: Date
  method: string
  /** As the API has it, with names in place of ids: `/api/v1/leads/:leadId`. */
  route: string
  /** What an agent called, by its name. */
  verb: string | null
  status: number
  ms: number
}

export interface LastCalls {
  /** The key was let in: its last use is kept to within a minute. */
  use(caller: KeyName): void
  note(caller: KeyName, call: KeyCall): void
  /** The newest calls of a key, with those that only this process knows of yet; of other nodes to within a minute. */
  read(workspaceId: string, keyId: string): Promise<KeyCall[]>
  /** Writes what there is of the keys that are due. A failure keeps it for the next time. */
  flush(): Promise<void>
  /** Writes everything that is left. */
  close(): Promise<void>
}

type KeyName = Pick<Caller, 'workspaceId' | 'keyId'>

export const keptCalls = 100

const flushEveryMs = 5000
const perKeyMs = 60_000
// Of many keys in a minute less of each is kept: in memory it is some 10 MB at most.
const maxKeys = 10_000
const maxCalls = 20_000
const keysPerStatement = 200

interface Pending extends KeyName {
  /** The oldest first. */
  calls: KeyCall[]
  /** The last use, while it is not written. */
  usedAt: Date | null
  writtenAtMs: number | null
}

/**
 * Notes uses and calls in memory, beside the request, and writes them in batches, at most once a minute for each key. A crash
 * loses a minute.
 */
export function createLastCalls(db: Db, clock: Clock): LastCalls {
  const keys = new Map<string, Pending>()
  let before: Promise<unknown> = Promise.resolve()
  const room = () => Math.min(keptCalls, Math.max(1, Math.floor(maxCalls / keys.size)))

  function pendingOf({ workspaceId, keyId }: KeyName): Pending {
    const pending = keys.get(keyId) ?? { workspaceId, keyId, calls: [], usedAt: null, writtenAtMs: null }
    keys.set(keyId, pending)
    return pending
  }

  // One after the other: two writes at once would store the same calls twice, and a read beside one would miss or double them.
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = before.then(work)
    before = done.catch(() => {})
    return done
  }

  async function write(isDue: (pending: Pending) => boolean): Promise<void> {
    const due = [...keys.values()].filter((pending) => !isEmpty(pending) && isDue(pending))
    for (let at = 0; at < due.length; at += keysPerStatement) {
      // In the order of the keys, so that two nodes that write at once wait for each other and not both.
      const batch = due.slice(at, at + keysPerStatement).toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1))
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

  const isEmpty = ({ calls, usedAt }: Pending) => calls.length === 0 && usedAt === null
  const hasRested = ({ writtenAtMs }: Pending) =>
    writtenAtMs === null || clock.now().getTime() - writtenAtMs >= perKeyMs

  async function flush(): Promise<void> {
    await inTurn(() => write(hasRested))
    for (const [keyId, pending] of keys) if (isEmpty(pending) && hasRested(pending)) keys.delete(keyId)
  }

  const timer = setInterval(() => flush().catch(() => {}), flushEveryMs).unref()

  return {
    use: (caller) => {
      pendingOf(caller).usedAt = clock.now()
    },
    note: (caller, call) => {
      if (!keys.has(caller.keyId) && keys.size >= maxKeys) return
      const { calls } = pendingOf(caller)
      calls.push(call)
      if (calls.length > room()) calls.shift()
    },
    flush,
    read: (workspaceId, keyId) =>
      inTurn(async () => {
        const stored = await selectCalls(db.sql, workspaceId, keyId)
        const pending = keys.get(keyId)
        const unwritten = pending?.workspaceId === workspaceId ? pending.calls : []
        return [...unwritten.toReversed(), ...stored].slice(0, keptCalls)
      }),
    close: async () => {
      clearInterval(timer)
      await inTurn(() => write(() => true))
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

async function storeCalls(tx: Tx, batch: readonly (KeyName & { calls: KeyCall[] })[]): Promise<void> {
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
    -- Twice as many as are shown: of two nodes that write by turns, both parts are there, to be read in order.
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
    .slice(0, keptCalls)
    .map(fromStored)
}
