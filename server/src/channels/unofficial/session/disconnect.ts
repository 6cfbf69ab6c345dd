/** What to do after a socket closed. `forgets`: the stored pairing is no longer valid and is deleted. */
export type CloseDecision =
  | { act: 'reconnect'; delayMs: number }
  | { act: 'stop'; reason: StopReason; forgets: boolean }

/** Reasons for which a session stops until a member acts. */
export type StopReason =
  | 'logged_out'
  | 'replaced'
  | 'banned_temporarily'
  | 'forbidden'
  | 'banned'
  | 'client_outdated'
  | 'bad_user_agent'
  | 'device_mismatch'
  | 'bad_session'
  | 'pairing_ended'
  | 'network_unreachable'
  | 'baileys_missing'

export interface CloseContext {
  /** The code has not been scanned yet. */
  isPairing: boolean
  /** Number of consecutive sockets that closed without opening. */
  attempt: number
  /** 0 to 1: spreads the reconnects of sessions that lost their sockets at the same time. */
  random: number
}

/** Our own code, not used by the network: the Baileys package is not installed. */
export const baileysMissing = 424

const timedOut = 408
const badSession = 500
const restartRequired = 515

const stops: ReadonlyMap<number, { reason: StopReason; forgets: boolean }> = new Map<
  number,
  { reason: StopReason; forgets: boolean }
>([
  [401, { reason: 'logged_out', forgets: true }],
  [402, { reason: 'banned_temporarily', forgets: false }],
  [403, { reason: 'forbidden', forgets: false }],
  [405, { reason: 'client_outdated', forgets: false }],
  [406, { reason: 'banned', forgets: false }],
  [409, { reason: 'bad_user_agent', forgets: false }],
  [411, { reason: 'device_mismatch', forgets: false }],
  [baileysMissing, { reason: 'baileys_missing', forgets: false }],
  // Reconnecting would make the two sockets of the session replace each other endlessly.
  [440, { reason: 'replaced', forgets: false }],
])

const badSessionAttempts = 3
const restartAttempts = 3
// With 20 s per socket plus pauses: about three minutes, like an unscanned series of codes.
const pairingAttempts = 5

/** Returns what to do after a close with this code (null: none). Treats unknown codes as a connection problem. */
export function decideAfterClose(code: number | null, at: CloseContext): CloseDecision {
  const stop = code === null ? undefined : stops.get(code)
  if (stop !== undefined) return { act: 'stop', ...stop }
  // A series of QR codes ends with this code. Credentials from an unfinished pairing by code would be treated as a
  // login, so they are deleted.
  if (code === timedOut && at.isPairing) return { act: 'stop', reason: 'pairing_ended', forgets: true }
  if (code === badSession && at.attempt >= badSessionAttempts) {
    return { act: 'stop', reason: 'bad_session', forgets: false }
  }
  if (at.isPairing && at.attempt >= pairingAttempts) {
    return { act: 'stop', reason: 'network_unreachable', forgets: true }
  }
  const isImmediate = code === restartRequired && at.attempt < restartAttempts
  return { act: 'reconnect', delayMs: isImmediate ? 0 : backoffMs(at) }
}

const firstDelayMs = 2_000
const maxDelayMs = 60_000

/** Returns a random delay between half and all of a doubling step: 1–2 s at first, 30–60 s at most. */
function backoffMs({ attempt, random }: CloseContext): number {
  const stepMs = Math.min(maxDelayMs, firstDelayMs * 2 ** Math.max(0, attempt))
  return Math.round((stepMs / 2) * (1 + random))
}
