import type { Fragment, Sql } from '../../../base/db.ts'
import type { Keyring } from '../../../base/encryption/keyring.ts'

/** What a session is at: `waiting` until its next attempt, `stopped` until a member acts. */
export const sessionStates = ['unpaired', 'pairing', 'connecting', 'open', 'waiting', 'stopped'] as const
export type SessionState = (typeof sessionStates)[number]

/** What a member asks of the holder: to pair anew, to unlink, to try once more. */
export type SessionCommand = 'pair' | 'unpair' | 'open'

/** How a phone is being linked, and what it is shown for that. */
export type Pairing =
  | { method: 'qr'; qr: string | null }
  /** `phone` are the digits of the phone that the code is typed on. */
  | { method: 'code'; phone: string; code: string | null }

export interface SessionKey {
  workspaceId: string
  connectionId: string
}

export interface Session extends SessionKey {
  state: SessionState
  reason: string | null
  stateChangedAt: Date
  isPaired: boolean
  wish: SessionCommand | null
  pairing: Pairing | null
  shownUntil: Date | null
  attempt: number
  nextAttemptAt: Date | null
}

/** As it is stored: what a phone is shown is sealed. */
export type SessionRow = Omit<Session, 'pairing'> & { pairing: Buffer | null }

export const sessionColumns = (sql: Sql): Fragment => sql`
  s.workspace_id as "workspaceId", s.connection_id as "connectionId", s.state, s.reason,
  s.state_changed_at as "stateChangedAt", s.is_paired as "isPaired", s.wish, s.pairing, s.shown_until as "shownUntil",
  s.attempt, s.next_attempt_at as "nextAttemptAt"`

export function openSession(keyring: Keyring, { pairing: sealed, ...row }: SessionRow): Session {
  if (sealed === null) return { ...row, pairing: null }
  return { ...row, pairing: JSON.parse(keyring.decryptText(pairingPlace(row.connectionId), sealed)) as Pairing }
}

export function sealPairing(keyring: Keyring, connectionId: string, pairing: Pairing | null): Buffer | null {
  return pairing === null ? null : keyring.encrypt(pairingPlace(connectionId), JSON.stringify(pairing))
}

const pairingPlace = (row: string) => ({ table: 'channel_sessions', row, column: 'pairing' })

/** The session of a connection that was never paired has no row. */
export const blankSession = (key: SessionKey, since: Date): Session => ({
  ...key,
  state: 'unpaired',
  reason: 'never_paired',
  stateChangedAt: since,
  isPaired: false,
  wish: null,
  pairing: null,
  shownUntil: null,
  attempt: 0,
  nextAttemptAt: null,
})

const firstQrMs = 60_000
const laterQrMs = 20_000

/** How long the network takes a QR code, the first of a series or a later one. */
export const qrShownMs = (earlier: number): number => (earlier === 0 ? firstQrMs : laterQrMs)

/** A code to type counts as long as the series of QR codes in whose place it is shown. */
export const codeShownMs = 160_000

/** A pairing by the same method that has nothing to show yet. */
export function blankPairing({ pairing }: Session) {
  return { pairing: blank(pairing), shownUntil: null, attempt: 0, nextAttemptAt: null }
}

function blank(pairing: Pairing | null): Pairing {
  return pairing?.method === 'code' ? { ...pairing, code: null } : { method: 'qr', qr: null }
}
