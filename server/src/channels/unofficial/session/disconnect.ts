/** What to do about a socket that closed. `forgets`: what the session kept of its pairing is of no use any more. */
export type AfterClose = { act: 'reconnect'; delayMs: number } | { act: 'stop'; reason: StopReason; forgets: boolean }

/** Why a session stopped for good: only a member can make it go on. */
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

export interface ClosedAt {
  /** Nobody has scanned the code yet. */
  isPairing: boolean
  /** How many sockets in a row closed before this one without having been open. */
  attempt: number
  /** From 0 to 1: spreads the sessions of an installation that lost their sockets together. */
  random: number
}

/** Our own code, which the network does not use: the package that speaks to it is not installed. */
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
  // Two sockets of one session would throw each other out for ever.
  [440, { reason: 'replaced', forgets: false }],
])

const badSessionAttempts = 3
const restartAttempts = 3
// With 20 s for each socket and the pauses between them: some three minutes, as a code that nobody scans has.
const pairingAttempts = 5

/** Judges a close by its code; null when it came without one. Codes that are not known are taken for a bad line. */
export function afterClose(code: number | null, at: ClosedAt): AfterClose {
  const stop = code === null ? undefined : stops.get(code)
  if (stop !== undefined) return { act: 'stop', ...stop }
  // The series of codes to scan has an end. What was begun with a code to type would be taken for a login.
  if (code === timedOut && at.isPairing) return { act: 'stop', reason: 'pairing_ended', forgets: true }
  if (code === badSession && at.attempt >= badSessionAttempts) {
    return { act: 'stop', reason: 'bad_session', forgets: false }
  }
  if (at.isPairing && at.attempt >= pairingAttempts) {
    return { act: 'stop', reason: 'network_unreachable', forgets: true }
  }
  const isAtOnce = code === restartRequired && at.attempt < restartAttempts
  return { act: 'reconnect', delayMs: isAtOnce ? 0 : backoffMs(at) }
}

const firstMs = 2_000
const longestMs = 60_000

/** Between the half and the whole of a step that doubles: 1 to 2 seconds at first, 30 to 60 at last. */
function backoffMs({ attempt, random }: ClosedAt): number {
  const stepMs = Math.min(longestMs, firstMs * 2 ** Math.max(0, attempt))
  return Math.round((stepMs / 2) * (1 + random))
}
