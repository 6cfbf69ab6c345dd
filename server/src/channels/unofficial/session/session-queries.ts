import { publish, type Sql, type Tx } from '../../../base/db.ts'
import type { Keyring } from '../../../base/encryption/keyring.ts'
import type { ConnectionKey } from '../../connection/connection.ts'
import {
  decryptSession,
  encryptPairing,
  type Pairing,
  type Session,
  type SessionCommand,
  type SessionKey,
  type SessionRow,
  type SessionState,
  sessionColumns,
} from './session.ts'
import { endWhenStalled, type Lease } from './session-lease.ts'

/** Published when a member requests a session command; the id is the connection's. */
export const commandTopic = 'session_wishes'

/** Published when a stopping process releases a session; the id is the connection's. */
export const releasedTopic = 'session_freed'

/** Returns the session; given a lease, only while it is valid. Locked, the database ends a stalled transaction. */
export async function findSession(
  sql: Sql,
  keyring: Keyring,
  one: SessionKey | Lease,
  lock: 'for update' | null = null,
): Promise<Session | undefined> {
  const [row] = await sql<SessionRow[]>`
    select ${sessionColumns(sql)} ${lock === null ? sql`` : sql`, ${endWhenStalled(sql)}`}
    from channel_sessions s
    where s.workspace_id = ${one.workspaceId}
      and s.connection_id = ${one.connectionId}
      ${'fence' in one ? sql`and s.fence = ${one.fence} and s.holder is not null` : sql``}
    ${lock === null ? sql`` : sql`for update`}`
  return row && decryptSession(keyring, row)
}

/** Returns the state of a session, without encrypted columns. */
export async function findSessionState(sql: Sql, { workspaceId, id }: ConnectionKey) {
  const [row] = await sql<Pick<Session, 'state' | 'reason'>[]>`
    select state, reason
    from channel_sessions
    where workspace_id = ${workspaceId}
      and connection_id = ${id}`
  return row
}

/** Returns the session, locked, creating its row if needed; undefined if the connection has no session. */
export async function lockOrCreateSession(
  tx: Tx,
  keyring: Keyring,
  one: SessionKey,
  now: Date,
): Promise<Session | undefined> {
  await tx`
    insert into channel_sessions (workspace_id, connection_id, state, reason, state_changed_at)
    select workspace_id, id, 'unpaired', 'never_paired', ${now}::timestamptz
    from connections
    where workspace_id = ${one.workspaceId}
      and id = ${one.connectionId}
      and channel = 'unofficial'
      and removed_at is null
    on conflict do nothing`
  return findSession(tx, keyring, one, 'for update')
}

/** Requests a command from the current or next holder. */
export async function storeCommand(
  tx: Tx,
  keyring: Keyring,
  { workspaceId, connectionId }: Session,
  wish: SessionCommand,
  pairing: Pairing | null,
): Promise<void> {
  await tx`
    update channel_sessions
    set wish = ${wish},
      pairing = ${encryptPairing(keyring, connectionId, pairing)},
      shown_until = null
    where workspace_id = ${workspaceId}
      and connection_id = ${connectionId}`
  publish(tx, commandTopic, connectionId)
}

/** Requests the end of the session of a removed connection. */
export async function requestSessionEnd(tx: Tx, { workspaceId, id }: ConnectionKey): Promise<void> {
  const { count } = await tx`
    update channel_sessions
    set wish = 'unpair',
      pairing = null
    where workspace_id = ${workspaceId}
      and connection_id = ${id}`
  if (count > 0) publish(tx, commandTopic, id)
}

/** Deletes the session of a removed connection; returns false if the connection was not removed. */
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

/** Counts sessions by state; a session that should have a holder but has none counts as `unheld`. */
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
