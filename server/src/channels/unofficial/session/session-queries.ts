import { announce, type Sql, type Tx } from '../../../base/db.ts'
import type { Keyring } from '../../../base/sealing/keyring.ts'
import { cutWhenStalled, type Lease } from './lease.ts'
import {
  openSession,
  type Pairing,
  type Session,
  type SessionCommand,
  type SessionRow,
  type SessionState,
  sealPairing,
  sessionColumns,
} from './session.ts'

/** A member has asked for something; the id is the connection's. */
export const wishTopic = 'session_wishes'

/** A session was given back, by a process that stops; the id is the connection's. */
export const freedTopic = 'session_freed'

export async function findSession(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  connectionId: string,
): Promise<Session | undefined> {
  const [row] = await sql<SessionRow[]>`
    select ${sessionColumns(sql)}
    from channel_sessions s
    where s.workspace_id = ${workspaceId}
      and s.connection_id = ${connectionId}`
  return row && openSession(keyring, row)
}

/** Where a session stands, without what is sealed. */
export async function findStanding(
  sql: Sql,
  workspaceId: string,
  connectionId: string,
): Promise<Pick<Session, 'state' | 'reason'> | undefined> {
  const [row] = await sql<Pick<Session, 'state' | 'reason'>[]>`
    select state, reason
    from channel_sessions
    where workspace_id = ${workspaceId}
      and connection_id = ${connectionId}`
  return row
}

/** The session as it stands now; undefined once it is another's. */
export async function findHeldSession(
  sql: Sql,
  keyring: Keyring,
  { workspaceId, connectionId, fence }: Lease,
): Promise<Session | undefined> {
  const [row] = await sql<SessionRow[]>`
    select ${sessionColumns(sql)}
    from channel_sessions s
    where s.workspace_id = ${workspaceId}
      and s.connection_id = ${connectionId}
      and s.fence = ${fence}
      and s.holder is not null`
  return row && openSession(keyring, row)
}

/** The session for asking something of it, its row made if there is none; undefined when the connection has no session. */
export async function lockOrBeginSession(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  connectionId: string,
  now: Date,
): Promise<Session | undefined> {
  await tx`
    insert into channel_sessions (workspace_id, connection_id, state, reason, state_changed_at)
    select workspace_id, id, 'unpaired', 'never_paired', ${now}::timestamptz
    from connections
    where workspace_id = ${workspaceId}
      and id = ${connectionId}
      and channel = 'unofficial'
      and removed_at is null
    on conflict do nothing`
  const [row] = await tx<SessionRow[]>`
    select ${sessionColumns(tx)}, ${cutWhenStalled(tx)}
    from channel_sessions s
    where s.workspace_id = ${workspaceId}
      and s.connection_id = ${connectionId}
    for update`
  return row && openSession(keyring, row)
}

/** Asks the holder for something, whoever that is or will be. */
export async function writeWish(
  tx: Tx,
  keyring: Keyring,
  { workspaceId, connectionId }: Session,
  wish: SessionCommand,
  pairing: Pairing | null,
): Promise<void> {
  await tx`
    update channel_sessions
    set wish = ${wish},
      pairing = ${sealPairing(keyring, connectionId, pairing)},
      shown_until = null
    where workspace_id = ${workspaceId}
      and connection_id = ${connectionId}`
  announce(tx, wishTopic, connectionId)
}

/** Asks for the end of the session of a connection that was removed. */
export async function endSessionOf(tx: Tx, workspaceId: string, connectionId: string): Promise<void> {
  const { count } = await tx`
    update channel_sessions
    set wish = 'unpair',
      pairing = null
    where workspace_id = ${workspaceId}
      and connection_id = ${connectionId}`
  if (count > 0) announce(tx, wishTopic, connectionId)
}

/** Removes everything of a session whose connection was removed; false when the connection is there. */
export async function deleteSession(tx: Tx, { workspaceId, connectionId, fence }: Lease): Promise<boolean> {
  const { count } = await tx`
    delete from channel_sessions s
    using connections c
    where s.workspace_id = ${workspaceId}
      and s.connection_id = ${connectionId}
      and s.fence = ${fence}
      and c.workspace_id = s.workspace_id
      and c.id = s.connection_id
      and c.removed_at is not null`
  return count > 0
}

/** How many sessions there are in each state; one of no holder counts as `unheld` when it should have one. */
export async function countSessions(sql: Sql): Promise<{ state: SessionState | 'unheld'; count: number }[]> {
  return sql<{ state: SessionState | 'unheld'; count: number }[]>`
    select
      case
        when state in ('pairing', 'connecting', 'open', 'waiting')
          and (holder is null or lease_until < clock_timestamp())
        then 'unheld'
        else state
      end as state,
      count(*)::integer as count
    from channel_sessions
    group by 1`
}
