import type { Db, Fragment, Sql, Tx } from '../../base/db.ts'
import type { KeyStore } from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { publishConnection } from '../../team/live-updates.ts'
import { deleteDraftsOf } from '../templates/template-drafts.ts'
import { requestSessionEnd } from '../unofficial/session/session-queries.ts'
import {
  type Channel,
  type ConnectionKey,
  connectionNotFound,
  emptySettings,
  type Settings,
  type StoredConnection,
  setupReason,
} from './connection.ts'

/** A connection as stored, with encrypted settings. */
export type ConnectionRow = Omit<StoredConnection, 'settings'> & { settings: Buffer }

const columns = (sql: Sql) => sql`
  c.workspace_id as "workspaceId", c.id, c.channel, c.name, c.number_id as "numberId", c.account_id as "accountId",
  c.settings, c.state, c.state_reason as "stateReason", c.state_changed_at as "stateChangedAt", c.holds,
  c.sends_marketing as "sendsMarketing", c.acknowledged_at as "acknowledgedAt", c.acknowledged_by as "acknowledgedBy",
  c.is_on_phone as "isOnPhone", c.last_event_in_at as "lastEventInAt", c.last_event_out_at as "lastEventOutAt",
  c.templates_synced_at as "templatesSyncedAt", c.reserved_as as "reservedAs", c.phone,
  c.number_status as "numberStatus", c.number_status_due_at as "numberStatusDueAt", c.created_at as "createdAt",
  c.updated_at as "updatedAt"`

/** Returns connections of the workspace that were not removed, in any state, filtered by the SQL in `more`. */
async function select(sql: Sql, keyring: Keyring, workspaceId: string, more: Fragment): Promise<StoredConnection[]> {
  const rows = await sql<ConnectionRow[]>`
    select ${columns(sql)}
    from connections c
    where c.workspace_id = ${workspaceId}
      and c.removed_at is null
      ${more}`
  return rows.map((row) => decryptConnection(keyring, row))
}

export async function findConnection(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  id: string,
): Promise<StoredConnection | undefined> {
  const [one] = await select(sql, keyring, workspaceId, sql`and c.id = ${id}`)
  return one
}

/** Returns the connection. Throws 404 if there is none. */
export async function requireConnection(
  { db, keyStore }: { db: Db; keyStore: KeyStore },
  workspaceId: string,
  id: string,
): Promise<StoredConnection> {
  const one = await keyStore.withKeyring(workspaceId, (keyring) => findConnection(db.sql, keyring, workspaceId, id))
  if (one === undefined) throw connectionNotFound()
  return one
}

/** Returns the connection, locked until the transaction ends. */
export async function lockConnection(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  id: string,
): Promise<StoredConnection | undefined> {
  const [one] = await select(tx, keyring, workspaceId, tx`and c.id = ${id} for no key update`)
  return one
}

/** Returns all connections, oldest first. */
export const listConnections = (sql: Sql, keyring: Keyring, workspaceId: string): Promise<StoredConnection[]> =>
  select(sql, keyring, workspaceId, sql`order by c.id`)

/** Returns the connections with these ids that were not removed, in any state. `ids`: SQL that selects ids. */
export async function findConnections(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  ids: Fragment,
): Promise<StoredConnection[]> {
  const rows = await sql<ConnectionRow[]>`
    select ${columns(sql)}
    from connections c
    where c.workspace_id = (select ${workspaceId}::uuid)
      and c.id = any (array(${ids}))
      and c.removed_at is null`
  return rows.map((row) => decryptConnection(keyring, row))
}

/** Returns the ids that are not connections of the workspace or were removed. */
export async function strangeConnections(tx: Tx, workspaceId: string, ids: readonly string[]): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select asked.id
    from unnest(${[...ids]}::text[]) as asked (id)
    where not exists (
      select 1
      from connections c
      where c.workspace_id = ${workspaceId}
        and c.id = asked.id::uuid
        and c.removed_at is null
    )`
  return rows.map((row) => row.id)
}

/** Counts the connections that are being set up; others of the workspace wait until the transaction ends. */
export async function countInSetup(tx: Tx, workspaceId: string): Promise<number> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`setup ${workspaceId}`}, 0))`
  const [row] = await tx<{ count: number }[]>`
    select count(*)::integer as count
    from connections
    where workspace_id = ${workspaceId}
      and state_reason = ${setupReason}
      and removed_at is null`
  return row?.count ?? 0
}

/** Returns the workspaces that have a connection. Not scoped to a workspace, because it searches for them. */
export async function listConnectedWorkspaces(sql: Sql): Promise<string[]> {
  const rows = await sql<{ workspace_id: string }[]>`
    select distinct workspace_id
    from connections
    where removed_at is null
    order by workspace_id`
  return rows.map((row) => row.workspace_id)
}

/** Counts the connected numbers of all workspaces by what the platform reports about them, for metrics. */
export function countNumbers(sql: Sql): Promise<{ quality: string | null; isBlocked: boolean; count: number }[]> {
  return sql`
    select number_status ->> 'quality' as quality, coalesce(number_status ->> 'canSend' = 'blocked', false) as "isBlocked",
      count(*)::integer as count
    from connections
    where removed_at is null
    group by 1, 2`
}

/**
 * Returns all connections of the same workspace and channel as `id`. Not scoped to a workspace: a callback URL contains
 * only a connection id.
 */
export async function findCallbackConnections(sql: Sql, id: string, channel: Channel): Promise<ConnectionRow[]> {
  return sql<ConnectionRow[]>`
    select ${columns(sql)}
    from connections called
    join connections c on c.workspace_id = called.workspace_id
    where called.id = ${id}
      and called.channel = ${channel}
      and called.removed_at is null
      and c.channel = ${channel}
      and c.removed_at is null
    order by c.id`
}

export async function insertConnection(
  tx: Tx,
  keyring: Keyring,
  one: StoredConnection,
  hasTemplates: boolean,
): Promise<void> {
  await tx`
    insert into connections (
      workspace_id, id, channel, name, number_id, account_id, settings, state, state_reason, state_changed_at,
      is_on_phone, reserved_as, phone, templates_due_at, created_at, updated_at
    )
    values (
      ${one.workspaceId}, ${one.id}, ${one.channel}, ${one.name}, ${one.numberId}, ${one.accountId},
      ${encryptSettings(keyring, one.id, one.settings)}, ${one.state}, ${one.stateReason}, ${one.stateChangedAt},
      ${one.isOnPhone}, ${one.reservedAs}, ${one.phone}, ${hasTemplates ? one.createdAt : null},
      ${one.createdAt}, ${one.updatedAt}
    )`
  publishConnection(tx, one.workspaceId, one.id)
}

export async function updateConnection(tx: Tx, keyring: Keyring, one: StoredConnection): Promise<void> {
  await tx`
    update connections
    set name = ${one.name},
      number_id = ${one.numberId},
      account_id = ${one.accountId},
      settings = ${encryptSettings(keyring, one.id, one.settings)},
      state = ${one.state},
      state_reason = ${one.stateReason},
      state_changed_at = ${one.stateChangedAt},
      acknowledged_at = ${one.acknowledgedAt},
      acknowledged_by = ${one.acknowledgedBy},
      is_on_phone = ${one.isOnPhone},
      reserved_as = ${one.reservedAs},
      phone = ${one.phone},
      number_status = ${one.numberStatus === null ? null : tx.json(one.numberStatus)}::jsonb,
      number_status_due_at = ${one.numberStatusDueAt},
      updated_at = ${one.updatedAt}
    where workspace_id = ${one.workspaceId}
      and id = ${one.id}`
  publishConnection(tx, one.workspaceId, one.id)
}

/**
 * Marks a connection as removed, deletes its secrets and templates, and requests the end of its session. Keeps the row
 * for its conversations. Returns false if it was already removed.
 */
export async function markConnectionRemoved(
  tx: Tx,
  keyring: Keyring,
  { workspaceId, id }: ConnectionKey,
  now: Date,
): Promise<boolean> {
  const { count } = await tx`
    update connections
    set settings = ${encryptSettings(keyring, id, emptySettings)},
      templates_due_at = null,
      check_report = null,
      removed_at = ${now},
      updated_at = ${now}
    where workspace_id = ${workspaceId}
      and id = ${id}
      and removed_at is null`
  await tx`
    delete from templates
    where workspace_id = ${workspaceId}
      and connection_id = ${id}`
  await deleteDraftsOf(tx, { workspaceId, connectionId: id })
  await requestSessionEnd(tx, { workspaceId, id })
  publishConnection(tx, workspaceId, id)
  return count > 0
}

export function encryptSettings(keyring: Keyring, id: string, settings: Settings | typeof emptySettings): Buffer {
  return keyring.encrypt(settingsPlace(id), JSON.stringify(settings))
}

export function decryptConnection(keyring: Keyring, { settings, ...row }: ConnectionRow): StoredConnection {
  const decrypted = JSON.parse(keyring.decryptText(settingsPlace(row.id), settings)) as Settings
  // Settings and channel are always written together.
  return { ...row, settings: decrypted } as StoredConnection
}

export const settingsPlace = (row: string) => ({ table: 'connections', row, column: 'settings' })
