import { andOnlyWorkspace, byWorkspace, type OnlyWorkspace } from '../../base/citus/distributed-sql.ts'
import { type Db, publish, type Sql, type Tx } from '../../base/db.ts'
import type { MediaKind } from '../../channels/channel-event.ts'
import { firstTime } from '../conversation/conversation.ts'
import type { MediaState } from './media.ts'

/** Files to fetch: the id is the workspace. */
export const pendingMediaTopic = 'media_coming'

/** Wakes the workers when the transaction that wrote such a row commits. */
export function publishPendingMedia(tx: Tx, workspaceId: string): void {
  publish(tx, pendingMediaTopic, workspaceId)
}

/** Returns when the next file is due; null if there is none. */
export const readNextDue = (sql: Sql): Promise<Date | null> =>
  firstTime(sql<{ at: Date | null }[]>`select min(due_at) as at from media where due_at is not null`)

/** A file that this process fetches until `until`, when others can claim it. */
export interface Claim {
  workspaceId: string
  id: string
  conversationId: string
  connectionId: string
  messageId: string | null
  kind: MediaKind
  /** Encrypted. */
  details: Buffer
  /** Counts claims, including this one: a file that crashes the process is also retried less and less often. */
  tries: number
  createdAt: Date
  until: Date
}

/** Fetches in progress in this process and free slots. */
export interface FetchCapacity {
  /** Total number of free slots. */
  free: number
  perWorkspace: number
  running: ReadonlyMap<string, number>
}

/**
 * Claims due files, at most `perWorkspace` per workspace, starting with workspaces that have the fewest in progress, so
 * that a thousand videos of one do not delay a voice note of another. Searches across workspaces by skipping through
 * the index, so that workspaces with many rows cost no more.
 */
export async function claimDue(
  db: Db,
  { free, perWorkspace, running }: FetchCapacity,
  now: Date,
  until: Date,
): Promise<Claim[]> {
  const runningOf = ({ workspaceId }: WorkspaceDue) => running.get(workspaceId) ?? 0
  const waiting = (await listWaiting(db.sql)).filter((one) => one.dueAt <= now && runningOf(one) < perWorkspace)
  waiting.sort((a, b) => runningOf(a) - runningOf(b) || a.dueAt.getTime() - b.dueAt.getTime())
  // At most as many as free slots: each row read is locked.
  const first = waiting.slice(0, free).map((one) => ({ workspaceId: one.workspaceId, running: runningOf(one) }))
  let [left, asking] = [free, first.length]
  const claimed = await byWorkspace(
    db.sql,
    first,
    ({ workspaceId }) => workspaceId,
    async (some, only) => {
      const share = Math.ceil((left * some.length) / asking)
      const claims = await db.statement((tx) => claimDueIn(tx, some, { perWorkspace, limit: share, only }, now, until))
      left -= claims.length
      asking -= some.length
      return claims
    },
  )
  return [...claimed]
}

interface WorkspaceDue {
  workspaceId: string
  /** When the first file of the workspace is due. */
  dueAt: Date
}

const listPage = 1000

/** Returns every workspace with files to fetch, now or later. A workspace that fills a page is counted once. */
async function listWaiting(sql: Sql): Promise<WorkspaceDue[]> {
  const listed: WorkspaceDue[] = []
  for (;;) {
    const after = listed.at(-1)?.workspaceId
    const rows = await sql<(WorkspaceDue & { count: number })[]>`
      select workspace_id as "workspaceId", min(due_at) as "dueAt", count(*) as count
      from (
        select workspace_id, due_at
        from media
        where due_at is not null
          ${after === undefined ? sql`` : sql`and workspace_id > ${after}`}
        order by workspace_id, due_at
        limit ${listPage}
      ) as waiting
      group by workspace_id
      order by workspace_id`
    listed.push(...rows)
    if (rows.reduce((sum, { count }) => sum + count, 0) < listPage) return listed
  }
}

/** Updates locked rows by `ctid`: a generic plan that joins by key may scan the whole table. */
async function claimDueIn(
  tx: Tx,
  first: readonly { workspaceId: string; running: number }[],
  { perWorkspace, limit, only }: { perWorkspace: number; limit: number; only: OnlyWorkspace },
  now: Date,
  until: Date,
): Promise<Claim[]> {
  return tx<Claim[]>`
    with due as (
      select picked.place, picked.due_at,
        first.running + row_number() over (partition by picked.workspace_id order by picked.due_at, picked.id) as turn
      from unnest(
        ${first.map(({ workspaceId }) => workspaceId)}::uuid[],
        ${first.map((one) => one.running)}::integer[]
      ) as first (workspace_id, running)
      cross join lateral (
        select m.ctid as place, m.workspace_id, m.id, m.due_at
        from media m
        where m.workspace_id = first.workspace_id
          and m.due_at <= ${now}
          ${andOnlyWorkspace(tx, only, 'm')}
        order by m.due_at
        limit ${perWorkspace}::int - first.running
        for update skip locked
      ) as picked
    )
    update media m
    set due_at = ${until},
      lease_until = ${until},
      tries = m.tries + 1
    where m.ctid = any (array(
      select place
      from due
      order by turn, due_at
      limit ${limit}
    ))
      ${andOnlyWorkspace(tx, only, 'm')}
    returning m.workspace_id as "workspaceId", m.id, m.conversation_id as "conversationId",
      m.connection_id as "connectionId", m.message_id as "messageId", m.kind, m.details, m.tries,
      m.created_at as "createdAt", m.lease_until as until`
}

/**
 * SQL: whether this process still holds the claim. An expired claim is never valid: after days of suspend, a machine
 * would record a file that the cleanup job has deleted.
 */
const isOwnClaim = (tx: Sql, { workspaceId, id, until }: Claim, now: Date) => tx`
  workspace_id = ${workspaceId}
    and id = ${id}
    and state = 'coming'
    and lease_until = ${until}
    and lease_until > ${now}`

/** Renews the claim; returns false if it was lost or the file is no longer needed. */
export async function renewClaim(db: Db, claim: Claim, until: Date, now: Date): Promise<boolean> {
  const { count } = await db.statement(
    (tx) => tx`
      update media
      set due_at = ${until},
        lease_until = ${until}
      where ${isOwnClaim(tx, claim, now)}`,
  )
  return count > 0
}

export interface FetchedFile {
  details: Buffer
  fileKey: Buffer
  storedAs: string
  previewStoredAs: string | null
  bytes: number
}

/** Conversation of the file now: two may have been merged during the fetch. */
interface FetchOutcome {
  conversationId: string
}

/** Makes the file available, atomically. Returns undefined if the claim is lost or the row was deleted. */
export async function recordFetched(
  tx: Tx,
  claim: Claim,
  file: FetchedFile,
  now: Date,
): Promise<FetchOutcome | undefined> {
  const [settled] = await tx<FetchOutcome[]>`
    update media
    set state = 'here',
      details = ${file.details},
      file_key = ${file.fileKey},
      stored_as = ${file.storedAs},
      preview_stored_as = ${file.previewStoredAs},
      size_bytes = ${file.bytes},
      failure = null,
      due_at = null,
      lease_until = null,
      updated_at = ${now}
    where ${isOwnClaim(tx, claim, now)}
    returning conversation_id as "conversationId"`
  return settled
}

/** Records a failed attempt: `dueAt` is the time of the next one, null for none. */
export async function recordProblem(
  tx: Tx,
  claim: Claim,
  { state, dueAt, failure }: { state: MediaState; dueAt: Date | null; failure: string },
  now: Date,
): Promise<FetchOutcome | undefined> {
  const [settled] = await tx<FetchOutcome[]>`
    update media
    set state = ${state},
      failure = ${failure},
      due_at = ${dueAt},
      lease_until = null,
      updated_at = ${now}
    where ${isOwnClaim(tx, claim, now)}
    returning conversation_id as "conversationId"`
  return settled
}

/** Returns which of these stored names have a row. Searches all workspaces, which the store does not know. */
export async function findReferencedFiles(sql: Sql, names: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ name: string }[]>`
    select stored_as as name
    from media
    where stored_as = any (${[...names]}::uuid[])
    union all
    select preview_stored_as
    from media
    where preview_stored_as = any (${[...names]}::uuid[])`
  return new Set(rows.map(({ name }) => name))
}
