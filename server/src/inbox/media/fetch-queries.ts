import { announce, type Db, type Sql, type Tx } from '../../base/db.ts'
import type { MediaKind } from '../../channels/message-detail.ts'
import type { MediaState } from './media.ts'

/** Files that are to be fetched: the id is the workspace. */
export const comingTopic = 'media_coming'

/** Has the workers look, once the transaction that wrote such a row has committed. */
export function tellComing(tx: Tx, workspaceId: string): void {
  announce(tx, comingTopic, workspaceId)
}

/** When the first file that is to be fetched is due; null when there is none. */
export async function readNextDue(sql: Sql): Promise<Date | null> {
  const [row] = await sql<{ at: Date | null }[]>`
    select min(due_at) as at
    from media
    where due_at is not null`
  return row?.at ?? null
}

/** A file that this process fetches until `until`, when others may take it over. */
export interface Claim {
  workspaceId: string
  id: string
  conversationId: string
  connectionId: string
  messageId: string | null
  kind: MediaKind
  /** Sealed. */
  details: Buffer
  /** This one among them: a file that ends the process each time is tried less and less often, too. */
  tries: number
  createdAt: Date
  until: Date
}

/** What this process fetches already. */
export interface Busy {
  /** How many more it can fetch in all. */
  free: number
  perWorkspace: number
  running: ReadonlyMap<string, number>
}

/**
 * Takes files that are due, no more of a workspace than it may have at a time, and first those of whoever has the fewest:
 * so a thousand videos of one hold up nobody else's voice note. Cannot begin with the workspace: it looks for them, by going
 * from one to the next in the index, so that those with many rows cost no more.
 */
export async function claimDue(
  db: Db,
  { free, perWorkspace, running }: Busy,
  now: Date,
  until: Date,
): Promise<Claim[]> {
  const [ids, counts] = [[...running.keys()], [...running.values()]]
  return db.statement(
    (tx) => tx<Claim[]>`
      with recursive waiting as (
        (
          select workspace_id, due_at
          from media
          where due_at is not null
          order by workspace_id, due_at
          limit 1
        )
        union all
        select next.workspace_id, next.due_at
        from waiting
        cross join lateral (
          select m.workspace_id, m.due_at
          from media m
          where m.due_at is not null
            and m.workspace_id > waiting.workspace_id
          order by m.workspace_id, m.due_at
          limit 1
        ) as next
      ),
      -- No more of them than there are places: each row that is looked at is locked.
      first as (
        select waiting.workspace_id, coalesce(busy.running, 0) as running
        from waiting
        left join unnest(${ids}::uuid[], ${counts}::int[]) as busy (workspace_id, running)
          on busy.workspace_id = waiting.workspace_id
        where waiting.due_at <= ${now}
          and coalesce(busy.running, 0) < ${perWorkspace}::int
        order by running, waiting.due_at
        limit ${free}
      ),
      due as (
        select picked.workspace_id, picked.id, picked.due_at,
          first.running + row_number() over (partition by picked.workspace_id order by picked.due_at, picked.id) as turn
        from first
        cross join lateral (
          select m.workspace_id, m.id, m.due_at
          from media m
          where m.workspace_id = first.workspace_id
            and m.due_at <= ${now}
          order by m.due_at
          limit ${perWorkspace}::int - first.running
          for update skip locked
        ) as picked
      ),
      taken as (
        select workspace_id, id
        from due
        order by turn, due_at
        limit ${free}
      )
      update media m
      set due_at = ${until},
        lease_until = ${until},
        tries = m.tries + 1
      from taken
      where m.workspace_id = taken.workspace_id
        and m.id = taken.id
      returning m.workspace_id as "workspaceId", m.id, m.conversation_id as "conversationId",
        m.connection_id as "connectionId", m.message_id as "messageId", m.kind, m.details, m.tries,
        m.created_at as "createdAt", m.lease_until as until`,
  )
}

/**
 * Whether the row is still this process's, and to be fetched. A claim that has lapsed is nobody's: a machine that slept for
 * days would name a file that has been swept meanwhile.
 */
const isOurs = (tx: Sql, { workspaceId, id, until }: Claim, now: Date) => tx`
  workspace_id = ${workspaceId}
    and id = ${id}
    and state = 'coming'
    and lease_until = ${until}
    and lease_until > ${now}`

/** Keeps others from taking it over; false when one has, or when it is not wanted any more. */
export async function renewClaim(db: Db, claim: Claim, until: Date, now: Date): Promise<boolean> {
  const { count } = await db.statement(
    (tx) => tx`
      update media
      set due_at = ${until},
        lease_until = ${until}
      where ${isOurs(tx, claim, now)}`,
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

/** The conversation that has the file now: two may have become one while it was fetched. */
interface Settled {
  conversationId: string
}

/** The one moment from which the file is there; undefined when the row is another's, or gone. */
export async function settleHere(tx: Tx, claim: Claim, file: FetchedFile, now: Date): Promise<Settled | undefined> {
  const [settled] = await tx<Settled[]>`
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
    where ${isOurs(tx, claim, now)}
    returning conversation_id as "conversationId"`
  return settled
}

/** It did not come: `dueAt` is when it is tried again, null when it is not. */
export async function settleProblem(
  tx: Tx,
  claim: Claim,
  { state, dueAt, failure }: { state: MediaState; dueAt: Date | null; failure: string },
  now: Date,
): Promise<Settled | undefined> {
  const [settled] = await tx<Settled[]>`
    update media
    set state = ${state},
      failure = ${failure},
      due_at = ${dueAt},
      lease_until = null,
      updated_at = ${now}
    where ${isOurs(tx, claim, now)}
    returning conversation_id as "conversationId"`
  return settled
}

/** Which of these names in the store rows have. Cannot begin with the workspace: the store does not know of any. */
export async function knownFiles(sql: Sql, names: readonly string[]): Promise<Set<string>> {
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
