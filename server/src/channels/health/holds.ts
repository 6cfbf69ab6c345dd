/**
 * Messages that a hold stops. `billable`: templates outside a free entry point. A free-form message may be one of the
 * month's free ones, or the payment may have been made, so it is still sent: the platform decides. `initiated`: messages
 * that start a conversation, that is templates outside the window. `replies`: messages within the window. `nothing`: the hold is only displayed.
 */
export type Stops = 'all' | 'billable' | 'initiated' | 'replies' | 'nothing'

/** A reason why the platform rejects some or all messages of a connection. Stored as JSON: times are ISO texts. */
export interface Hold {
  stops: Stops
  /** Same format as `stateReason`. */
  reason: string
  since: string
  /** Number of consecutive refusals. */
  attempts: number
  /** From this time one send may test whether the platform accepts messages again; null if the hold ends by itself. */
  nextTryAt: string | null
  /** How to test: by the next send, or by a number check, which sends nothing. */
  probe: 'send' | 'read'
  /** When the current test started; null if none has. */
  triedAt: string | null
  /** When the platform says the hold ends. */
  until: string | null
  /** When the hold ended. Kept so that a repeat of the same problem can continue its backoff. */
  liftedAt: string | null
}

/** How a refusal creates a hold. */
export interface HoldRule {
  stops: 'all' | 'billable'
  probe: Hold['probe']
  /** Delay before the first retry. Doubles up to `maxMs`. */
  firstMs: number
  maxMs: number
}

/** If a test gives no result within this time, another may start. */
const probeTimeoutMs = 2 * 60_000
/** A problem that returns within this time continues its backoff and is not notified again. */
const sameProblemMs = 24 * 3_600_000

export const isActive = ({ liftedAt, until }: Hold, now: Date): boolean =>
  liftedAt === null && (until === null || new Date(until) > now)

export const activeHolds = (holds: readonly Hold[], now: Date): Hold[] => holds.filter((one) => isActive(one, now))

/** Returns whether a test may start. */
export const isDue = ({ nextTryAt }: Hold, now: Date): boolean => nextTryAt !== null && new Date(nextTryAt) <= now

/** Properties of a message that decide which holds apply. */
export interface MessageTraits {
  /** The template's category in upper case; null for a message without a template. */
  category: string | null
  isWindowOpen: boolean
  /** Whether the platform may send it without a charge. */
  isFree: boolean
}

/** Returns the hold that stops such a message. Prefers holds that may not be tested yet. */
export function findHold(holds: readonly Hold[], traits: MessageTraits, now: Date): Hold | null {
  const stopping = activeHolds(holds, now).filter(({ stops }) => stopsMessage[stops](traits))
  return stopping.find((one) => !isDue(one, now)) ?? stopping[0] ?? null
}

const stopsMessage: Record<Stops, (traits: MessageTraits) => boolean> = {
  all: () => true,
  billable: ({ isFree }) => !isFree,
  initiated: ({ isWindowOpen }) => !isWindowOpen,
  replies: ({ isWindowOpen }) => isWindowOpen,
  nothing: () => false,
}

/** Returns the holds after a refusal for this reason. `isNews`: the team must be notified. */
export function addRefusal(
  holds: readonly Hold[],
  rule: HoldRule,
  reason: string,
  now: Date,
): { holds: Hold[]; isNew: boolean } {
  const before = holds.find((one) => one.reason === reason)
  const others = holds.filter((one) => one.reason !== reason && (rule.stops !== 'all' || one.stops !== 'all'))
  const isSame = before !== undefined && now.getTime() - timeOf(before.liftedAt ?? now) < sameProblemMs
  // Several sends in flight at the first refusal all fail for the same reason; counts them once.
  if (isSame && before.liftedAt === null && before.triedAt === null) return { holds: [...holds], isNew: false }
  const attempts = isSame ? before.attempts + 1 : 1
  const waitMs = Math.min(rule.maxMs, rule.firstMs * 2 ** Math.min(attempts - 1, 20))
  const hold: Hold = {
    ...{ stops: rule.stops, reason, attempts, probe: rule.probe, triedAt: null, until: null, liftedAt: null },
    since: isSame && before.liftedAt === null ? before.since : now.toISOString(),
    nextTryAt: new Date(now.getTime() + waitMs).toISOString(),
  }
  return { holds: [...others, hold], isNew: !isSame }
}

const timeOf = (time: Date | string): number => new Date(time).getTime()

/** Returns the holds with a test started; null if another test is running or it is too early. */
export function startProbe(holds: readonly Hold[], reason: string, now: Date): Hold[] | null {
  const hold = holds.find((one) => one.reason === reason && isActive(one, now) && isDue(one, now))
  if (hold === undefined) return null
  const nextTryAt = new Date(now.getTime() + probeTimeoutMs).toISOString()
  return holds.map((one) => (one === hold ? { ...one, triedAt: now.toISOString(), nextTryAt } : one))
}

/** Ends the hold with this reason, after an accepted message; returns the same list if there is none. */
export function liftMatchingHold(holds: readonly Hold[], reason: string, now: Date): readonly Hold[] {
  if (!holds.some((one) => one.reason === reason && one.liftedAt === null)) return holds
  return holds.map((one) => (one.reason === reason ? { ...one, liftedAt: now.toISOString() } : one))
}

/** A restriction of the account, as reported by the platform. */
export interface Restriction {
  stops: Exclude<Stops, 'all' | 'billable'>
  /** Starts with `account_restricted_`, or with `account_violation` for a warning. */
  reason: string
  /** Null if the platform gives no end. */
  until: Date | null
}

/** All restrictions of an account (`all`), or additional ones (`added`). */
export type AccountRestrictions = { all: Restriction[]; added?: never } | { added: Restriction[]; all?: never }

/** How often a restriction without an end is tested. */
const restrictionProbeMs = 24 * 3_600_000

/** Returns the holds after a change of the account's restrictions, and the reasons that are new. */
export function applyRestrictions(
  holds: readonly Hold[],
  { all, added }: AccountRestrictions,
  now: Date,
): { holds: Hold[]; newReasons: string[] } {
  const current = (all ?? added).filter(({ until }) => until === null || until > now)
  const reasons = new Set(current.map(({ reason }) => reason))
  const isReplaced = ({ reason }: Hold) =>
    reasons.has(reason) || (all !== undefined && reason.startsWith('account_restricted_'))
  const before = new Map(activeHolds(holds, now).map((one) => [one.reason, one]))
  const updated = current.map(
    ({ stops, reason, until }): Hold => ({
      ...{ stops, reason, attempts: 1, probe: 'send', triedAt: null, liftedAt: null },
      since: before.get(reason)?.since ?? now.toISOString(),
      nextTryAt: until === null ? new Date(now.getTime() + restrictionProbeMs).toISOString() : null,
      until: until?.toISOString() ?? null,
    }),
  )
  const kept = holds.filter((one) => !isReplaced(one) && (one.until === null || isActive(one, now)))
  return { holds: [...kept, ...updated].slice(-maxHolds), newReasons: [...reasons].filter((one) => !before.has(one)) }
}

/** Maximum per connection: the number of reasons is up to the platform. */
const maxHolds = 20
