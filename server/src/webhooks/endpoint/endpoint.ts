import type { Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { SigningSecret } from './signing.ts'

export type EndpointState = 'active' | 'disabled'
/** By a member, by its answer 410, or after failing for five days. */
export type StateReason = 'member' | 'gone' | 'failing'

/** What is sealed of an endpoint: an address may hold a token just as a header does. */
export interface EndpointSettings {
  url: string
  /** Custom headers, by their names as they were typed. */
  headers: Record<string, string>
  /** The newest first. */
  secrets: SigningSecret[]
}

/** An endpoint with its settings open. */
export interface Endpoint {
  workspaceId: string
  id: string
  description: string | null
  /** Exact names, `lead.*`, `inbox.*`. */
  events: string[]
  phoneVisibility: 'full' | 'masked'
  settings: EndpointSettings
  state: EndpointState
  stateReason: StateReason | null
  stateChangedAt: Date
  /** The member who answers for it. */
  createdBy: string | null
  createdAt: Date
  updatedAt: Date
}

export interface EndpointRow {
  workspace_id: string
  id: string
  description: string | null
  events: string[]
  phone_visibility: Endpoint['phoneVisibility']
  settings: Buffer
  state: EndpointState
  state_reason: StateReason | null
  state_changed_at: Date
  created_by: string | null
  created_at: Date
  updated_at: Date
}

/** An endpoint that has not been removed. */
export async function selectEndpoint(sql: Sql, workspaceId: string, id: string): Promise<EndpointRow | undefined> {
  const [row] = await sql<EndpointRow[]>`
    select ${columns(sql)}
    from webhook_endpoints
    where workspace_id = ${workspaceId}
      and id = ${id}
      and removed_at is null`
  return row
}

/** The endpoints of a workspace, the newest first. */
export async function selectEndpoints(sql: Sql, workspaceId: string): Promise<EndpointRow[]> {
  return sql<EndpointRow[]>`
    select ${columns(sql)}
    from webhook_endpoints
    where workspace_id = ${workspaceId}
      and removed_at is null
    order by id desc`
}

export function columns(sql: Sql) {
  return sql`
    workspace_id, id, description, events, phone_visibility, settings, state, state_reason, state_changed_at,
    created_by, created_at, updated_at`
}

export function openEndpoint(keyring: Keyring, row: EndpointRow): Endpoint {
  return {
    workspaceId: row.workspace_id,
    id: row.id,
    description: row.description,
    events: row.events,
    phoneVisibility: row.phone_visibility,
    settings: JSON.parse(keyring.openText(settingsPlace(row.id), row.settings)) as EndpointSettings,
    state: row.state,
    stateReason: row.state_reason,
    stateChangedAt: row.state_changed_at,
    createdBy: row.created_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

export function sealSettings(keyring: Keyring, id: string, settings: EndpointSettings): Buffer {
  return keyring.seal(settingsPlace(id), JSON.stringify(settings))
}

export const settingsPlace = (row: string) => ({ table: 'webhook_endpoints', row, column: 'settings' })
