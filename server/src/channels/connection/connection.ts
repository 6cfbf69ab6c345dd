import { violates } from '../../base/db.ts'
import { type ApiError, conflict, notFound } from '../../base/errors.ts'
import type { Hold } from '../health/holds.ts'
import type { NumberStatus } from '../health/number-status.ts'
import type { PartnerSettings } from '../partner/settings.ts'
import type { SessionSettings } from '../unofficial/session/schema.ts'
import type { WabaSettings } from '../waba/settings.ts'
import type { WebsiteSettings } from '../website/settings.ts'

export const channels = ['waba', 'unofficial', 'partner', 'website'] as const
export type Channel = (typeof channels)[number]
export type ConnectionState = 'active' | 'paused' | 'unavailable'

/** Whether messages go over WhatsApp's official platform, with its templates, prices and window of 24 hours. */
export const isOfficial = (channel: Channel): boolean => channel === 'waba' || channel === 'partner'

/** Primary key of a connection. */
export interface ConnectionKey {
  workspaceId: string
  id: string
}

interface ConnectionOf<C extends Channel, S> extends ConnectionKey {
  channel: C
  name: string
  /** The platform's id of the number. For a session: its phone, or the connection's id until the first pairing. */
  numberId: string
  accountId: string | null
  settings: S
  state: ConnectionState
  stateReason: string | null
  stateChangedAt: Date
  /** Current and past holds. */
  holds: readonly Hold[]
  acknowledgedAt: Date | null
  /** Whether the account has a separate endpoint for marketing templates. */
  sendsMarketing: boolean
  /** Whether a phone also uses the number; it may then have to send more slowly. */
  isOnPhone: boolean
}

/** A number on the official platform. */
export type WabaConnection = ConnectionOf<'waba', WabaSettings>
/** A number connected through a partner of the platform: the same messages over the partner's own API. */
export type PartnerConnection = ConnectionOf<'partner', PartnerSettings>
/** A phone that links Parley as a device, paired by QR code. */
export type SessionConnection = ConnectionOf<'unofficial', SessionSettings>
/** A chat widget on a website, which no platform is involved in. */
export type WebsiteConnection = ConnectionOf<'website', WebsiteSettings>

/** A connection with decrypted secrets, as used by connectors. */
export type Connection = WabaConnection | PartnerConnection | SessionConnection | WebsiteConnection
export type Settings = Connection['settings']

/** Further columns, for the connection's page. */
interface StoredFields {
  /** Key from `reservationOf`; null until the platform has confirmed the number. */
  reservedAs: string | null
  acknowledgedBy: string | null
  /** Number that customers see, in digits, if the platform reports it. A session's is its `numberId`. */
  phone: string | null
  /** Up to a minute behind. */
  lastEventInAt: Date | null
  lastEventOutAt: Date | null
  templatesSyncedAt: Date | null
  numberStatus: NumberStatus | null
  /** When the platform is next asked for the status; null: at the next sync. */
  numberStatusDueAt: Date | null
  createdAt: Date
  updatedAt: Date
}

export type StoredWaba = WabaConnection & StoredFields
export type StoredPartner = PartnerConnection & StoredFields
export type StoredSession = SessionConnection & StoredFields
export type StoredWebsite = WebsiteConnection & StoredFields
export type StoredConnection = StoredWaba | StoredPartner | StoredSession | StoredWebsite

/** Settings of a removed connection: the row remains for its conversations, without secrets. */
export const emptySettings = {}

/** Reason of a connection that is connected step by step. Until every step works, it neither sends nor is retried. */
export const setupReason = 'setup'

export const isInSetup = ({ state, stateReason }: Pick<StoredConnection, 'state' | 'stateReason'>): boolean =>
  state === 'unavailable' && stateReason === setupReason

export const stillInSetup = (): ApiError =>
  conflict('This connection is still being set up. Finish its setup, or remove it.')

export const connectionNotFound = (): ApiError => notFound('Connection not found')

/** Returns whether the number is taken: in the workspace, or by a connection that its platform has confirmed. */
export const isNumberTaken = (error: unknown): boolean =>
  violates(error, 'connections_number_key') || violates(error, 'connections_own_number_key')

export const numberTaken = (cause: unknown): ApiError =>
  conflict('This number is already connected', { field: 'numberId' }, cause)

export const sessionNotSupported = (): ApiError => conflict('Only an unofficial connection has a session')
