import type { Keyring } from '../../base/sealing/keyring.ts'
import type { Hold } from '../health/holds.ts'
import type { Channel, ConnectionState, noSettings, Settings, StoredConnection } from './connection.ts'

export interface ConnectionRow {
  workspace_id: string
  id: string
  channel: Channel
  name: string
  number_id: string
  account_id: string | null
  settings: Buffer
  state: ConnectionState
  state_reason: string | null
  state_changed_at: Date
  holds: Hold[]
  sends_marketing: boolean
  acknowledged_at: Date | null
  acknowledged_by: string | null
  is_on_phone: boolean
  last_event_in_at: Date | null
  last_event_out_at: Date | null
  templates_synced_at: Date | null
  reserved_as: string | null
  phone: string | null
  created_at: Date
  updated_at: Date
}

export function sealSettings(keyring: Keyring, id: string, settings: Settings | typeof noSettings): Buffer {
  return keyring.seal(settingsPlace(id), JSON.stringify(settings))
}

export function openConnection(keyring: Keyring, row: ConnectionRow): StoredConnection {
  const one = {
    workspaceId: row.workspace_id,
    id: row.id,
    channel: row.channel,
    name: row.name,
    numberId: row.number_id,
    accountId: row.account_id,
    settings: JSON.parse(keyring.openText(settingsPlace(row.id), row.settings)) as Settings,
    state: row.state,
    stateReason: row.state_reason,
    stateChangedAt: row.state_changed_at,
    holds: row.holds,
    sendsMarketing: row.sends_marketing,
    acknowledgedAt: row.acknowledged_at,
    acknowledgedBy: row.acknowledged_by,
    isOnPhone: row.is_on_phone,
    lastEventInAt: row.last_event_in_at,
    lastEventOutAt: row.last_event_out_at,
    templatesSyncedAt: row.templates_synced_at,
    reservedAs: row.reserved_as,
    phone: row.phone,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
  // The settings of a row are those of its channel: they are written together.
  return one as StoredConnection
}

export const settingsPlace = (row: string) => ({ table: 'connections', row, column: 'settings' })
