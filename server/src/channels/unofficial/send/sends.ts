import { createSignal } from '../../../base/async/loop.ts'
import { isDistributed } from '../../../base/citus/distributed-sql.ts'
import { type Db, publish, type Sql, type Tx } from '../../../base/db.ts'
import type { Keyring } from '../../../base/encryption/keyring.ts'
import { unnested } from '../../../base/postgres/rows.ts'
import type { SessionKey } from '../session/session.ts'
import { type Lease, leaseList, requireLease } from '../session/session-lease.ts'
import type { SocketContent } from '../transport/transport.ts'

/** Marks a message as read. A process of a version that does not know `typing` only marks it. */
export interface ReadReceipt {
  jid: string
  read: string
  typing?: 'composing' | 'paused'
}

/** Content of a send for the process that holds the session. */
export type SendContent =
  | ({ jid: string } & SocketContent)
  | ReadReceipt
  /** Upload: the id of our file. */
  | { give: string }
  /** Result of an upload: the network's value for the file. */
  | { given: string }
type SendState = 'waiting' | 'claimed' | 'sent' | 'accepted' | 'refused' | 'cancelled'

export interface SendKey extends SessionKey {
  id: string
}

export interface NewSessionSend extends SendKey {
  kind: 'message' | 'read' | 'file'
  correlator: string | null
  content: SendContent
  /** Returns the remaining milliseconds at the time of the call. */
  leftMs(): number
}

/** Published when a send is waiting; the id is the connection's. */
export const waitingTopic = 'session_sends_waiting'
/** Published when a send has ended; the id is the send's. */
const endedTopic = 'session_sends_ended'

/**
 * Enqueues a send for the holder; returns false if no process holds the session. Repeating it changes nothing. The
 * deadline counts from the start of the transaction, which precedes the call of `leftMs`, so it is never later than
 * intended.
 */
export async function enqueueSend(tx: Tx, keyring: Keyring, send: NewSessionSend, now: Date): Promise<boolean> {
  const { workspaceId, connectionId, id } = send
  const encrypted = keyring.encrypt(contentPlace(connectionId, id), JSON.stringify(send.content))
  const [row] = await tx<{ is_held: boolean }[]>`
    with held as (
      select workspace_id, connection_id
      from channel_sessions
      where workspace_id = ${workspaceId}
        and connection_id = ${connectionId}
        and holder is not null
        and lease_until > clock_timestamp()
    ),
    asked as (
      insert into session_sends (
        workspace_id, connection_id, id, kind, correlator, content, deadline, state, created_at
      )
      select
        workspace_id, connection_id, ${id}::text, ${send.kind}::text, ${send.correlator}::text, ${encrypted}::bytea,
        now() + ${send.leftMs()}::float8 * interval '1 millisecond', 'waiting', ${now}::timestamptz
      from held
      on conflict do nothing
    )
    select exists (select 1 from held) as is_held`
  publish(tx, waitingTopic, connectionId)
  return row?.is_held ?? false
}

interface SendProgress {
  state: SendState
  errorCode: string | null
  /** Whether the process that claimed it still holds the session. */
  isHeld: boolean
  /** No process may claim it anymore. */
  isOver: boolean
}

async function readSendProgress(
  sql: Sql,
  { workspaceId, connectionId, id }: SendKey,
): Promise<SendProgress | undefined> {
  const [row] = await sql<SendProgress[]>`
    select
      t.state,
      t.error_code as "errorCode",
      s.holder is not null and s.lease_until > clock_timestamp() and coalesce(t.fence = s.fence, true) as "isHeld",
      t.deadline <= clock_timestamp() as "isOver"
    from session_sends t
    join channel_sessions s
      on s.workspace_id = t.workspace_id
      and s.connection_id = t.connection_id
    where t.workspace_id = ${workspaceId}
      and t.connection_id = ${connectionId}
      and t.id = ${id}`
  return row
}

/**
 * How a send has ended. `unclaimed`: it was cancelled, and certainly not sent. `lost`: its holder is gone; `late`: there
 * is no answer yet. It may then have been sent.
 */
export type SendOutcome =
  | { state: 'accepted' }
  | { state: 'refused' | 'cancelled'; errorCode: string | null }
  | { state: 'unclaimed' | 'lost' | 'late' }

/** Waits until the network answers, the holder is gone, or it is late. `pollMs`: in case a notification is lost. */
export async function waitForSend(db: Db, send: SendKey, pollMs: number, isLate: () => boolean): Promise<SendOutcome> {
  const signal = createSignal()
  const stop = db.subscribe(endedTopic, (ended) => {
    if (ended === send.id) signal.wake()
  })
  try {
    for (;;) {
      const woken = signal.nextWithin(pollMs)
      const outcome = outcomeOf(await readSendProgress(db.sql, send), isLate())
      // Waiting continues if it was claimed meanwhile.
      const isOver = outcome?.state === 'unclaimed' ? await db.tx((tx) => cancelSend(tx, send)) : true
      if (outcome !== null && isOver) return outcome
      await woken
    }
  } finally {
    stop()
  }
}

function outcomeOf(progress: SendProgress | undefined, isLate: boolean): SendOutcome | null {
  if (progress === undefined) return { state: 'lost' }
  const { state, errorCode, isHeld, isOver } = progress
  switch (state) {
    case 'accepted':
      return { state }
    case 'refused':
    case 'cancelled':
      return { state, errorCode }
    case 'waiting':
      return isOver || !isHeld || isLate ? { state: 'unclaimed' } : null
    case 'claimed':
    case 'sent':
      // A send claimed by a dead process is not retried; if it was sent, its status arrives later.
      if (!isHeld) return { state: 'lost' }
      return isLate ? { state: 'late' } : null
    default:
      return state satisfies never
  }
}

/** Cancels an unclaimed send; returns false if it was claimed. */
async function cancelSend(tx: Tx, { workspaceId, connectionId, id }: SendKey): Promise<boolean> {
  const { count } = await tx`
    update session_sends
    set state = 'cancelled'
    where workspace_id = ${workspaceId}
      and connection_id = ${connectionId}
      and id = ${id}
      and state = 'waiting'`
  return count > 0
}

const emptyContent: SendContent = { jid: '', text: '', previewUrl: false }

/**
 * Ensures that a message whose sender died is never sent; returns false if it was claimed. Inserts a cancelled row if
 * there is none, so that a sender that is merely slow finds its send cancelled.
 */
export async function preventSend(
  tx: Tx,
  keyring: Keyring,
  { workspaceId, connectionId, id, correlator }: SendKey & { correlator: string },
  now: Date,
): Promise<boolean> {
  const encrypted = keyring.encrypt(contentPlace(connectionId, id), JSON.stringify(emptyContent))
  const forbidden = await tx`
    insert into session_sends as t (
      workspace_id, connection_id, id, kind, correlator, content, deadline, state, error_code, created_at
    )
    select
      workspace_id, connection_id, ${id}::text, 'message', ${correlator}::text, ${encrypted}::bytea, clock_timestamp(),
      'cancelled', 'not_sent', ${now}::timestamptz
    from channel_sessions
    where workspace_id = ${workspaceId}
      and connection_id = ${connectionId}
    on conflict (workspace_id, connection_id, id) do update
    set state = 'cancelled',
      error_code = coalesce(t.error_code, excluded.error_code)
    where t.state in ('waiting', 'cancelled')
    returning id`
  return forbidden.length > 0
}

/** Returns the sessions with sends to claim. */
export async function listWaiting(sql: Sql, leases: readonly Lease[]): Promise<string[]> {
  if (leases.length === 0) return []
  // Looks up each session. Citus does not support that query; there all waiting sends are read, which are few.
  const rows = isDistributed(sql)
    ? await sql<{ id: string }[]>`
        select distinct t.workspace_id, t.connection_id as id
        from session_sends t
        join ${leaseList(sql, leases)}
          on t.workspace_id = l.workspace_id
          and t.connection_id = l.connection_id
        where t.state = 'waiting'
          and t.deadline > clock_timestamp()`
    : await sql<{ id: string }[]>`
        select l.connection_id as id
        from ${leaseList(sql, leases)}
        where exists (
          select 1
          from session_sends t
          where t.workspace_id = l.workspace_id
            and t.connection_id = l.connection_id
            and t.state = 'waiting'
            and t.deadline > clock_timestamp()
        )`
  return rows.map((row) => row.id)
}

export interface ClaimedSend {
  id: string
  content: Buffer
  leftMs: number
}

const claimLimit = 20

/** Claims waiting sends for this fence, in the order they were enqueued. */
export async function claimSends(tx: Tx, lease: Lease): Promise<ClaimedSend[]> {
  const { workspaceId, connectionId, fence } = lease
  await requireLease(tx, lease)
  return tx<ClaimedSend[]>`
    with due as (
      select id, created_at
      from session_sends
      where workspace_id = ${workspaceId}
        and connection_id = ${connectionId}
        and state = 'waiting'
        and deadline > clock_timestamp()
      order by created_at, id
      limit ${claimLimit}
      for update
    ),
    claimed as (
      update session_sends t
      set state = 'claimed',
        fence = ${fence}
      from due
      where t.workspace_id = ${workspaceId}
        and t.connection_id = ${connectionId}
        and t.id = due.id
      returning t.id, t.content, t.created_at, t.deadline
    )
    select id, content, (extract(epoch from deadline - clock_timestamp()) * 1000)::float8 as "leftMs"
    from claimed
    order by created_at, id`
}

export interface SendEnd {
  id: string
  state: 'sent' | 'accepted' | 'refused' | 'cancelled'
  errorCode: string | null
}

/** Stores the results of sends. Does not overwrite a result from the network. */
export async function endSends(tx: Tx, { workspaceId, connectionId }: Lease, ends: readonly SendEnd[]): Promise<void> {
  if (ends.length === 0) return
  await tx`
    update session_sends t
    set state = n.state,
      error_code = n.error_code
    from ${unnested(ends, { text: ['id', 'state', 'errorCode'] })}
    where t.workspace_id = ${workspaceId}
      and t.connection_id = ${connectionId}
      and t.id = n.id
      and (t.state = 'claimed' or t.state = 'sent' and n.state in ('accepted', 'refused'))`
  for (const { id } of ends) publish(tx, endedTopic, id)
}

/** Stores the network's value for an uploaded file. */
export async function storeUploadResult(
  tx: Tx,
  keyring: Keyring,
  lease: Lease,
  id: string,
  given: string,
): Promise<void> {
  const { workspaceId, connectionId } = lease
  const content: SendContent = { given }
  await tx`
    update session_sends
    set state = 'accepted',
      content = ${keyring.encrypt(contentPlace(connectionId, id), JSON.stringify(content))}
    where workspace_id = ${workspaceId}
      and connection_id = ${connectionId}
      and id = ${id}
      and state = 'claimed'`
  publish(tx, endedTopic, id)
}

/** Returns the network's value for an uploaded file and deletes the row; null if unknown. Can be read once. */
export async function takeUploadResult(
  tx: Tx,
  keyring: Keyring,
  { workspaceId, connectionId, id }: SendKey,
): Promise<string | null> {
  const [row] = await tx<{ content: Buffer }[]>`
    delete from session_sends
    where workspace_id = ${workspaceId}
      and connection_id = ${connectionId}
      and id = ${id}
      and kind = 'file'
      and state = 'accepted'
    returning content`
  if (row === undefined) return null
  const content = decryptContent(keyring, connectionId, id, row.content)
  return 'given' in content ? content.given : null
}

/** Returns the correlators of the ids that belong to our messages. */
export async function findOwnSends(
  sql: Sql,
  { workspaceId, connectionId }: Lease,
  ids: readonly string[],
): Promise<Map<string, string | null>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<{ id: string; correlator: string | null }[]>`
    select id, correlator
    from session_sends
    where workspace_id = ${workspaceId}
      and connection_id = ${connectionId}
      and id = any (${[...ids]}::text[])`
  return new Map(rows.map(({ id, correlator }) => [id, correlator]))
}

/** Returns the text sent with this id, while it is stored. */
export async function findSentText(
  sql: Sql,
  keyring: Keyring,
  { workspaceId, connectionId }: Lease,
  id: string,
): Promise<string | null> {
  const [row] = await sql<{ content: Buffer }[]>`
    select content
    from session_sends
    where workspace_id = ${workspaceId}
      and connection_id = ${connectionId}
      and id = ${id}
      and kind = 'message'`
  if (row === undefined) return null
  const content = decryptContent(keyring, connectionId, id, row.content)
  return 'text' in content ? content.text : null
}

export const contentPlace = (connectionId: string, id: string) => ({
  table: 'session_sends',
  row: `${connectionId} ${id}`,
  column: 'content',
})

export function decryptContent(keyring: Keyring, connectionId: string, id: string, encrypted: Buffer): SendContent {
  return JSON.parse(keyring.decryptText(contentPlace(connectionId, id), encrypted)) as SendContent
}

const retentionMs = 3 * 24 * 3_600_000
const batch = 1000

/** Deletes sends older than three days; returns how many. */
export async function deleteOldSends(db: Db, now: Date): Promise<number> {
  const before = new Date(now.getTime() - retentionMs)
  for (let deleted = 0; ; ) {
    const { count } = await db.tx(
      (tx) => tx`
        delete from session_sends
        where created_at <= (
          select max(created_at)
          from (
            select created_at
            from session_sends
            where created_at < ${before}
            order by created_at
            limit ${batch}
          ) as oldest
        )`,
    )
    deleted += count
    if (count === 0) return deleted
  }
}
