import type { Fragment, Sql } from '../../../base/db.ts'
import type { Keyring } from '../../../base/encryption/keyring.ts'

/** State of a session. `waiting`: until its next attempt; `stopped`: until a member acts. */
export const sessionStates = ['unpaired', 'pairing', 'connecting', 'open', 'waiting', 'stopped'] as const
export type SessionState = (typeof sessionStates)[number]

/** Command of a member to the holder: pair again, unlink, reconnect. */
export type SessionCommand = 'pair' | 'unpair' | 'open'

/** Pairing method, and the code shown for it. */
export type Pairing =
  | { method: 'qr'; qr: string | null }
  /** `phone`: digits of the phone on which the code is typed. */
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

/** Stored row, with the pairing encrypted. */
export type SessionRow = Omit<Session, 'pairing'> & { pairing: Buffer | null }

export const sessionColumns = (sql: Sql): Fragment => sql`
  s.workspace_id as "workspaceId", s.connection_id as "connectionId", s.state, s.reason,
  s.state_changed_at as "stateChangedAt", s.is_paired as "isPaired", s.wish, s.pairing, s.shown_until as "shownUntil",
  s.attempt, s.next_attempt_at as "nextAttemptAt"`

export function decryptSession(keyring: Keyring, { pairing: encrypted, ...row }: SessionRow): Session {
  if (encrypted === null) return { ...row, pairing: null }
  return { ...row, pairing: JSON.parse(keyring.decryptText(pairingPlace(row.connectionId), encrypted)) as Pairing }
}

export function encryptPairing(keyring: Keyring, connectionId: string, pairing: Pairing | null): Buffer | null {
  return pairing === null ? null : keyring.encrypt(pairingPlace(connectionId), JSON.stringify(pairing))
}

const pairingPlace = (row: string) => ({ table: 'channel_sessions', row, column: 'pairing' })

/** Returns the default for a connection that was never paired, which has no row. */
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

/** Returns how long a QR code is valid: the first of a series (`earlier` = 0) or a later one. */
export const qrShownMs = (earlier: number): number => (earlier === 0 ? firstQrMs : laterQrMs)

/** Validity of a code to type: the same as the series of QR codes that it replaces. */
export const codeShownMs = 160_000

/** Returns a pairing with the same method and no code yet. */
export function blankPairing({ pairing }: Session) {
  const withoutCode: Pairing = pairing?.method === 'code' ? { ...pairing, code: null } : { method: 'qr', qr: null }
  return { pairing: withoutCode, shownUntil: null, attempt: 0, nextAttemptAt: null }
}
