export type Channel = 'waba' | 'unofficial' | 'partner'
export type ConnectionState = 'active' | 'paused' | 'unavailable'

/** A connection with its secrets open, as connectors use it. */
export interface Connection {
  workspaceId: string
  id: string
  channel: Channel
  name: string
  numberId: string
  accountId: string | null
  settings: WabaSettings
  state: ConnectionState
  stateReason: string | null
  acknowledgedAt: Date | null
  /** The number is used on a phone as well: it may send more slowly. */
  isOnPhone: boolean
}

export interface WabaSettings {
  /** Without a trailing slash: `https://graph.facebook.com`, or a simulator's. */
  baseUrl: string
  /** `v25.0` */
  version: string
  accessToken: string
  appSecret: string
  verifyToken: string
}

/** The rest of a connection's row: what its page shows. */
export interface StoredConnection extends Connection {
  stateChangedAt: Date
  acknowledgedBy: string | null
  /** At most a minute behind. */
  lastEventInAt: Date | null
  lastEventOutAt: Date | null
  templatesSyncedAt: Date | null
  createdAt: Date
  updatedAt: Date
}

/** Connections are kept for their conversations when they are removed, but not their secrets. */
export const noSettings: WabaSettings = { baseUrl: '', version: '', accessToken: '', appSecret: '', verifyToken: '' }
