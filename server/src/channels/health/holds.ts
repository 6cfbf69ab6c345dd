/**
 * What a hold stops. `billable`: what is surely charged; a free-form message or a utility template in the open window may
 * be free, so it goes on. `initiated`: what begins a conversation, that is templates outside the window. `replies`: what is
 * sent within it. `nothing`: it is shown and no more.
 */
export type Stops = 'all' | 'billable' | 'initiated' | 'replies' | 'nothing'

/** Why the platform takes some messages of a connection, or all, for no one. As it is stored: times are ISO texts. */
export interface Hold {
  stops: Stops
  /** As in `stateReason`. */
  reason: string
  since: string
  /** How many times in a row the platform has refused. */
  attempts: number
  /** From then on one send may go, to see whether the platform takes it again; null for one that ends by itself. */
  nextTryAt: string | null
  /** What finds out: the next send, or a question for the number that sends nothing. */
  probe: 'send' | 'read'
  /** When the send or question went that is to find out; null while none has. */
  triedAt: string | null
  /** When the platform says that it ends. */
  until: string | null
  /** When it ended; kept to know whether another one goes on with it. */
  liftedAt: string | null
}

/** How a refusal holds its connection. */
export interface Stop {
  stops: 'all' | 'billable'
  probe: Hold['probe']
  /** The first time until it is tried again. It doubles up to `maxMs`. */
  firstMs: number
  maxMs: number
}

/** A send that finds out nothing leaves it to another one after this. */
const tryAgainMs = 2 * 60_000
/** One that comes back within this goes on where it was, and nobody is told once more. */
const sameFaultMs = 24 * 3_600_000

export const isActive = ({ liftedAt, until }: Hold, now: Date): boolean =>
  liftedAt === null && (until === null || new Date(until) > now)

export const activeHolds = (holds: readonly Hold[], now: Date): Hold[] => holds.filter((one) => isActive(one, now))

/** Whether a send or a question may find out by now. */
export const isDue = ({ nextTryAt }: Hold, now: Date): boolean => nextTryAt !== null && new Date(nextTryAt) <= now

/** What is about to be sent, as far as holds ask. */
export interface Sort {
  /** The template's category in upper case; null for a message without a template. */
  category: string | null
  isWindowOpen: boolean
}

/** The hold that stops such a message; one that may be tried is the last choice. */
export function holdOn(holds: readonly Hold[], sort: Sort, now: Date): Hold | null {
  const stopping = activeHolds(holds, now).filter(({ stops }) => stopsIt[stops](sort))
  return stopping.find((one) => !isDue(one, now)) ?? stopping[0] ?? null
}

const stopsIt: Record<Stops, (sort: Sort) => boolean> = {
  all: () => true,
  billable: ({ category, isWindowOpen }) => category !== null && !(isWindowOpen && category === 'UTILITY'),
  initiated: ({ isWindowOpen }) => !isWindowOpen,
  replies: ({ isWindowOpen }) => isWindowOpen,
  nothing: () => false,
}

/** The holds after the platform refused for such a reason. `isNews`: people are to be told. */
export function refusedAgain(
  holds: readonly Hold[],
  stop: Stop,
  reason: string,
  now: Date,
): { holds: Hold[]; isNews: boolean } {
  const before = holds.find((one) => one.reason === reason)
  const others = holds.filter((one) => one.reason !== reason && (stop.stops !== 'all' || one.stops !== 'all'))
  const isSame = before !== undefined && now.getTime() - timeOf(before.liftedAt ?? now) < sameFaultMs
  // Of many that were under way when the first one came back each says the same.
  if (isSame && before.liftedAt === null && before.triedAt === null) return { holds: [...holds], isNews: false }
  const attempts = isSame ? before.attempts + 1 : 1
  const waitMs = Math.min(stop.maxMs, stop.firstMs * 2 ** Math.min(attempts - 1, 20))
  const hold: Hold = {
    ...{ stops: stop.stops, reason, attempts, probe: stop.probe, triedAt: null, until: null, liftedAt: null },
    since: isSame && before.liftedAt === null ? before.since : now.toISOString(),
    nextTryAt: new Date(now.getTime() + waitMs).toISOString(),
  }
  return { holds: [...others, hold], isNews: !isSame }
}

const timeOf = (time: Date | string): number => new Date(time).getTime()

/** The holds once one send or question is on its way to find out; null when another one is, or it is not the time. */
export function tried(holds: readonly Hold[], reason: string, now: Date): Hold[] | null {
  const hold = holds.find((one) => one.reason === reason && isActive(one, now) && isDue(one, now))
  if (hold === undefined) return null
  const nextTryAt = new Date(now.getTime() + tryAgainMs).toISOString()
  return holds.map((one) => (one === hold ? { ...one, triedAt: now.toISOString(), nextTryAt } : one))
}

/** The holds once the platform has taken what the one stopped; the same list where there is none. */
export function lifted(holds: readonly Hold[], reason: string, now: Date): readonly Hold[] {
  if (!holds.some((one) => one.reason === reason && one.liftedAt === null)) return holds
  return holds.map((one) => (one.reason === reason ? { ...one, liftedAt: now.toISOString() } : one))
}

/** A restriction of the account, as the platform tells it. */
export interface Restriction {
  stops: Exclude<Stops, 'all' | 'billable'>
  /** Begins with `account_restricted_`, or `account_violation` for a warning. */
  reason: string
  /** Null when the platform names no end. */
  until: Date | null
}

/** All restrictions of an account, or further ones. */
export type AccountRestrictions = { all: Restriction[]; added?: never } | { added: Restriction[]; all?: never }

/** How often one without an end is tried. */
const restrictedMs = 24 * 3_600_000

/** The holds under what the account is kept from, and the reasons that are new. */
export function restricted(
  holds: readonly Hold[],
  { all, added }: AccountRestrictions,
  now: Date,
): { holds: Hold[]; news: string[] } {
  const told = (all ?? added).filter(({ until }) => until === null || until > now)
  const reasons = new Set(told.map(({ reason }) => reason))
  const isReplaced = ({ reason }: Hold) =>
    reasons.has(reason) || (all !== undefined && reason.startsWith('account_restricted_'))
  const before = new Map(activeHolds(holds, now).map((one) => [one.reason, one]))
  const made = told.map(
    ({ stops, reason, until }): Hold => ({
      ...{ stops, reason, attempts: 1, probe: 'send', triedAt: null, liftedAt: null },
      since: before.get(reason)?.since ?? now.toISOString(),
      nextTryAt: until === null ? new Date(now.getTime() + restrictedMs).toISOString() : null,
      until: until?.toISOString() ?? null,
    }),
  )
  const kept = holds.filter((one) => !isReplaced(one) && (one.until === null || isActive(one, now)))
  return { holds: [...kept, ...made].slice(-maxHolds), news: [...reasons].filter((one) => !before.has(one)) }
}

/** Of one connection; what the platform calls its reasons is not ours to limit. */
const maxHolds = 20
