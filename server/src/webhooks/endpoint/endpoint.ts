import type { Fragment, Sql, Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { notFound } from '../../base/errors.ts'
import type { SigningSecret } from './signing.ts'

export type EndpointState = 'active' | 'disabled'
/** Disabled by a member, by response 410, or after failing for five days. */
export type StateReason = 'member' | 'gone' | 'failing'

/** Encrypted settings: a URL can contain a token, just as a header can. */
interface EndpointSettings {
  url: string
  /** Custom headers; names as typed. */
  headers: Record<string, string>
  /** Newest first. */
  secrets: SigningSecret[]
}

/** An endpoint with decrypted settings. */
export interface Endpoint {
  workspaceId: string
  id: string
  description: string | null
  /** Event names, `lead.*`, `inbox.*`. */
  events: string[]
  phoneVisibility: 'full' | 'masked'
  settings: EndpointSettings
  state: EndpointState
  stateReason: StateReason | null
  stateChangedAt: Date
  /** The member who is responsible for it. */
  createdBy: string | null
  createdAt: Date
  updatedAt: Date
}

/** A stored endpoint, with encrypted settings. */
export type EndpointRow = Omit<Endpoint, 'settings'> & { settings: Buffer }

export type EndpointKey = Pick<Endpoint, 'workspaceId' | 'id'>

/** Columns of the alias `e`. */
export const endpointColumns = (sql: Sql): Fragment => sql`
  e.workspace_id as "workspaceId", e.id, e.description, e.events, e.phone_visibility as "phoneVisibility", e.settings,
  e.state, e.state_reason as "stateReason", e.state_changed_at as "stateChangedAt", e.created_by as "createdBy",
  e.created_at as "createdAt", e.updated_at as "updatedAt"`

/** Returns an endpoint that is not removed, optionally locked; throws 404. */
export async function requireEndpoint(sql: Sql, { workspaceId, id }: EndpointKey, lock?: 'for update') {
  const [row] = await sql<EndpointRow[]>`
    select ${endpointColumns(sql)}
    from webhook_endpoints e
    where e.workspace_id = ${workspaceId}
      and e.id = ${id}
      and e.removed_at is null
    ${lock === undefined ? sql`` : sql`for update`}`
  if (row === undefined) throw notFound('Webhook endpoint not found')
  return row
}

/** Returns the endpoints of a workspace, optionally of one creator, newest first, with the time of the last success. */
export async function selectEndpoints(sql: Sql, workspaceId: string, creatorId: string | null) {
  return sql<(EndpointRow & { lastSuccessAt: Date | null })[]>`
    select ${endpointColumns(sql)}, (
      select q.last_success_at
      from webhook_queues q
      where q.workspace_id = e.workspace_id
        and q.endpoint_id = e.id
    ) as "lastSuccessAt"
    from webhook_endpoints e
    where e.workspace_id = ${workspaceId}
      and (${creatorId}::uuid is null or e.created_by = ${creatorId})
      and e.removed_at is null
    order by e.id desc`
}

export async function countEndpoints(tx: Tx, workspaceId: string): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::integer as count
    from webhook_endpoints
    where workspace_id = ${workspaceId}
      and removed_at is null`
  return row?.count ?? 0
}

export async function insertEndpoint(tx: Tx, keyring: Keyring, endpoint: Endpoint): Promise<void> {
  const { workspaceId, id, settings } = endpoint
  await tx`
    insert into webhook_endpoints (
      workspace_id, id, description, events, phone_visibility, settings, state, state_changed_at, created_by, created_at,
      updated_at
    )
    values (
      ${workspaceId}, ${id}, ${endpoint.description}, ${endpoint.events}, ${endpoint.phoneVisibility},
      ${encryptSettings(keyring, id, settings)}, ${endpoint.state}, ${endpoint.stateChangedAt}, ${endpoint.createdBy},
      ${endpoint.createdAt}, ${endpoint.updatedAt}
    )`
}

/** Saves the fields that a member can change. */
export async function updateEndpoint(tx: Tx, keyring: Keyring, endpoint: Endpoint, now: Date): Promise<void> {
  const { workspaceId, id, settings } = endpoint
  await tx`
    update webhook_endpoints
    set description = ${endpoint.description},
      events = ${endpoint.events},
      phone_visibility = ${endpoint.phoneVisibility},
      settings = ${encryptSettings(keyring, id, settings)},
      updated_at = ${now}
    where workspace_id = ${workspaceId}
      and id = ${id}`
}

/** Disables an endpoint for this reason; null: enables it. Returns false if it is in that state already. */
export async function setEndpointState(
  tx: Tx,
  { workspaceId, id }: EndpointKey,
  reason: StateReason | null,
  now: Date,
): Promise<boolean> {
  const state: EndpointState = reason === null ? 'active' : 'disabled'
  const { count } = await tx`
    update webhook_endpoints
    set state = ${state},
      state_reason = ${reason},
      state_changed_at = ${now},
      updated_at = ${now}
    where workspace_id = ${workspaceId}
      and id = ${id}
      and state <> ${state}`
  return count > 0
}

/** Erases the settings; keeps the row until the log is deleted. */
export async function markRemoved(
  tx: Tx,
  keyring: Keyring,
  { workspaceId, id }: EndpointKey,
  now: Date,
): Promise<void> {
  await tx`
    update webhook_endpoints
    set state = 'disabled',
      state_reason = 'member',
      state_changed_at = ${now},
      settings = ${encryptSettings(keyring, id, noSettings)},
      description = null,
      updated_at = ${now},
      removed_at = ${now}
    where workspace_id = ${workspaceId}
      and id = ${id}`
}

const noSettings: EndpointSettings = { url: '', headers: {}, secrets: [] }

export function decryptEndpoint(keyring: Keyring, { settings, ...row }: EndpointRow): Endpoint {
  return { ...row, settings: JSON.parse(keyring.decryptText(settingsContext(row.id), settings)) as EndpointSettings }
}

function encryptSettings(keyring: Keyring, id: string, settings: EndpointSettings): Buffer {
  return keyring.encrypt(settingsContext(id), JSON.stringify(settings))
}

const settingsContext = (row: string) => ({ table: 'webhook_endpoints', row, column: 'settings' })

export const maxEndpoints = 100
