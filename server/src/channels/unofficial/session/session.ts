import type { Fragment, Sql } from '../../../base/db.ts'
import type { Keyring } from '../../../base/sealing/keyring.ts'

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

export interface Session {
  workspaceId: string
  connectionId: string
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

export interface SessionRow {
  workspace_id: string
  connection_id: string
  state: SessionState
  reason: string | null
  state_changed_at: Date
  is_paired: boolean
  wish: SessionCommand | null
  pairing: Buffer | null
  shown_until: Date | null
  attempt: number
  next_attempt_at: Date | null
}

export const sessionColumns = (sql: Sql): Fragment => sql`
  s.workspace_id, s.connection_id, s.state, s.reason, s.state_changed_at, s.is_paired, s.wish, s.pairing, s.shown_until,
  s.attempt, s.next_attempt_at`

export function openSession(keyring: Keyring, row: SessionRow): Session {
  return {
    workspaceId: row.workspace_id,
    connectionId: row.connection_id,
    state: row.state,
    reason: row.reason,
    stateChangedAt: row.state_changed_at,
    isPaired: row.is_paired,
    wish: row.wish,
    pairing: row.pairing === null ? null : openPairing(keyring, row.connection_id, row.pairing),
    shownUntil: row.shown_until,
    attempt: row.attempt,
    nextAttemptAt: row.next_attempt_at,
  }
}

const pairingPlace = (connectionId: string) => ({
  table: 'channel_sessions',
  row: connectionId,
  column: 'pairing',
})

export function sealPairing(keyring: Keyring, connectionId: string, pairing: Pairing | null): Buffer | null {
  return pairing === null ? null : keyring.seal(pairingPlace(connectionId), JSON.stringify(pairing))
}

function openPairing(keyring: Keyring, connectionId: string, sealed: Buffer): Pairing {
  return JSON.parse(keyring.openText(pairingPlace(connectionId), sealed)) as Pairing
}

/** The session of a connection that was never paired has no row. */
export const blankSession = (workspaceId: string, connectionId: string, since: Date): Session => ({
  workspaceId,
  connectionId,
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
