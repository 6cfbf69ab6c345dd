import { type OpeningHours, openingAt } from '../team/opening-hours.ts'

/** How a run begins. */
export const entries = ['person', 'bulk', 'form', 'label', 'rule', 'agent'] as const
export type Entry = (typeof entries)[number]

/** Why a run ends. */
export const endReasons = [
  'finished',
  'answered',
  'opted_out',
  'status',
  'taken_over',
  'stopped',
  'off',
  'not_delivered',
  'no_phone',
  'lead_gone',
] as const
export type EndReason = (typeof endReasons)[number]

/** What is known of the customer of a run. */
export interface RunFacts {
  /** Null: it was deleted or merged. */
  lead: { status: string; phone: string | null } | null
  endStatuses: readonly string[]
  /** Null before there is one. */
  conversation: {
    owner: { type: string }
    ownerEpoch: number
    ownerSince: Date
    inbound: { newest: string | null }
  } | null
  /** Whether they have opted out of marketing or of other templates. */
  isOptedOut: boolean
  /** Whether a person of the team, or someone on the number's own phone, has written since the start. */
  hasPersonWritten: boolean
  /** The last messages of the run, newest first. */
  last: readonly LastMessage[]
}

export interface LastMessage {
  isFailed: boolean
  code: string | null
  at: Date
}

/** Messages in a row that were not delivered, after which a run ends: each harms the quality of the number. */
export const maxFailures = 2

/**
 * Returns why a run must not go on; null: it may. Ids grow with time, so a customer message with a greater id than the run
 * has arrived after its start.
 */
export function endReason(run: { id: string; createdAt: Date }, facts: RunFacts): EndReason | null {
  const { lead, conversation, endStatuses } = facts
  if (lead === null) return 'lead_gone'
  if (facts.isOptedOut) return 'opted_out'
  if (conversation?.inbound.newest != null && conversation.inbound.newest > run.id) return 'answered'
  if (facts.hasPersonWritten || wasTakenOver(run, conversation)) return 'taken_over'
  if (endStatuses.includes(lead.status)) return 'status'
  const failed = facts.last.slice(0, maxFailures).filter(({ isFailed }) => isFailed)
  if (failed.length >= maxFailures) return 'not_delivered'
  return lead.phone === null ? 'no_phone' : null
}

/** Epoch 0 is that of a conversation that the sequence itself began. */
const wasTakenOver = (run: { createdAt: Date }, conversation: RunFacts['conversation']): boolean =>
  conversation !== null &&
  conversation.owner.type === 'human' &&
  conversation.ownerEpoch > 0 &&
  conversation.ownerSince > run.createdAt

const dayMs = 86_400_000

/** Returns when a step is due that waits from a time on. While the business is closed for long, it is looked at daily. */
export function dueOf(
  from: Date,
  { waitMinutes, businessHours }: { waitMinutes: number; businessHours: boolean },
  hours: OpeningHours | null,
): Date {
  const at = new Date(from.getTime() + waitMinutes * 60_000)
  if (!businessHours || hours === null) return at
  const { isOpen, nextChangeAt } = openingAt(hours, at)
  return isOpen ? at : (nextChangeAt ?? new Date(at.getTime() + dayMs))
}

/** The customer gets too many marketing messages, of all businesses; the platform asks to wait a day. */
const cappedCode = '131049'

/** Returns until when the platform wants no further message to the customer after the last one; null: any time. */
export function pauseAfter(last: LastMessage | undefined): Date | null {
  return last?.isFailed === true && last.code === cappedCode ? new Date(last.at.getTime() + dayMs) : null
}

/** Refusals that may pass: the step is tried again, for a day. */
const passing: ReadonlySet<string> = new Set([
  'CONNECTION_UNAVAILABLE',
  'ACKNOWLEDGEMENT_REQUIRED',
  'BUDGET_REACHED',
  'OWNER_MISMATCH',
  'ON_STANDBY',
  'INBOX_UNAVAILABLE',
])

const retryMs = 30 * 60_000

/** How a run goes on after a send that was refused. */
export type AfterRefusal = { end: EndReason } | { retryAt: Date } | 'skip'

export function afterRefusal(code: string, dueAt: Date, now: Date): AfterRefusal {
  if (code === 'OPTED_OUT') return { end: 'opted_out' }
  const isRecent = now.getTime() < dueAt.getTime() + dayMs
  return passing.has(code) && isRecent ? { retryAt: new Date(now.getTime() + retryMs) } : 'skip'
}

export type AfterStep = { end: EndReason } | { step: number; dueAt: Date }

/** Returns how a run goes on after a step that was done, or left out, at a time. */
export function afterStep(
  run: { step: number; stopping: EndReason | null },
  steps: readonly { waitMinutes: number; businessHours: boolean }[],
  at: Date,
  hours: OpeningHours | null,
): AfterStep {
  if (run.stopping !== null) return { end: run.stopping }
  const next = steps[run.step + 1]
  return next === undefined ? { end: 'finished' } : { step: run.step + 1, dueAt: dueOf(at, next, hours) }
}
