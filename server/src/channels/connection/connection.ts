import { violates } from '../../base/db.ts'
import { type ApiError, conflict, notFound } from '../../base/errors.ts'
import type { Hold } from '../health/holds.ts'
import type { PartnerSettings } from '../partner/settings.ts'
import type { SessionSettings } from '../unofficial/session/schema.ts'
import type { WabaSettings } from '../waba/settings.ts'

export const channels = ['waba', 'unofficial', 'partner'] as const
export type Channel = (typeof channels)[number]
export type ConnectionState = 'active' | 'paused' | 'unavailable'

/** Which connection a statement is about. */
export interface ConnectionKey {
  workspaceId: string
  id: string
}

interface ConnectionOf<C extends Channel, S> extends ConnectionKey {
  channel: C
  name: string
  /** How the platform names the number. A session's is its phone, and its own id as long as it was never paired. */
  numberId: string
  accountId: string | null
  settings: S
  state: ConnectionState
  stateReason: string | null
  stateChangedAt: Date
  /** What the platform takes from nobody now, and what it was. */
  holds: readonly Hold[]
  acknowledgedAt: Date | null
  /** The account has an endpoint of its own for marketing templates. */
  sendsMarketing: boolean
  /** The number is used on a phone as well: it may send more slowly. */
  isOnPhone: boolean
}

/** A number of the official platform. */
export type WabaConnection = ConnectionOf<'waba', WabaSettings>
/** A number that a partner of the platform connects: the same messages over an interface of the partner's own. */
export type PartnerConnection = ConnectionOf<'partner', PartnerSettings>
/** A phone that shares its number with us as one of its linked devices, after somebody scanned a QR code. */
export type SessionConnection = ConnectionOf<'unofficial', SessionSettings>

/** A connection with its secrets open, as connectors use it. */
export type Connection = WabaConnection | PartnerConnection | SessionConnection
export type Settings = Connection['settings']

/** The rest of a connection's row: what its page shows. */
interface Stored {
  /** See `reservationOf`; null until the platform has answered for the number. */
  reservedAs: string | null
  acknowledgedBy: string | null
  /** What customers see, in digits, where the platform has told it. A session's is its `numberId`. */
  phone: string | null
  /** Up to a minute late. */
  lastEventInAt: Date | null
  lastEventOutAt: Date | null
  templatesSyncedAt: Date | null
  createdAt: Date
  updatedAt: Date
}

export type StoredWaba = WabaConnection & Stored
export type StoredPartner = PartnerConnection & Stored
export type StoredSession = SessionConnection & Stored
export type StoredConnection = StoredWaba | StoredPartner | StoredSession

/** Connections are kept for their conversations when they are removed, but not their secrets. */
export const noSettings = {}

export const connectionNotFound = (): ApiError => notFound('Connection not found')

/** Whether the database refused a number for another connection's: of the workspace, or one that its platform answered for. */
export const isNumberTaken = (error: unknown): boolean =>
  violates(error, 'connections_number_key') || violates(error, 'connections_own_number_key')

export const numberTaken = (cause: unknown): ApiError =>
  conflict('This number is connected already', { field: 'numberId' }, cause)

export const noSession = (): ApiError => conflict('Only an unofficial connection has a session')
