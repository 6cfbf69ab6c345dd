import type { ReceivedWebhook, SendRequest } from '../external-services.ts'

/** Acknowledgments that callers received. */
export interface Ledger {
  /** Last acknowledged and last attempted change of each acknowledged lead. */
  leads: Map<string, { acknowledged: number; attempted: number }>
  /** Texts of customers' messages. */
  callbacks: Set<string>
  /** Status with which each message to a customer was acknowledged, by its text. Each has its own idempotency key. */
  sends: Map<string, string>
}

export const newLedger = (): Ledger => ({ leads: new Map(), callbacks: new Set(), sends: new Map() })

/** Data read back after the test. */
export interface FoundData {
  /** Number of changes of each lead. */
  leads: Map<string, number>
  /** Number of messages with each text, from customers and to them. */
  inbound: Map<string, number>
  outbound: Map<string, number>
  /** Every event that the webhook must receive, in the order of the feed. */
  events: { id: string; subject: string }[]
  webhooks: readonly ReceivedWebhook[]
  sendRequests: readonly SendRequest[]
}

/** Returns a description of each broken guarantee. */
export function findViolations(ledger: Ledger, found: FoundData): string[] {
  return [
    ...lostLeads(ledger, found),
    ...lostMessages(ledger, found),
    ...wrongSends(ledger, found),
    ...findWebhookProblems(found),
  ]
}

function lostLeads({ leads }: Ledger, found: FoundData): string[] {
  return [...leads].flatMap(([id, { acknowledged, attempted }]) => {
    const step = found.leads.get(id)
    if (step === undefined) return [`lead ${id} was acknowledged and is missing`]
    if (step < acknowledged) return [`change ${acknowledged} of lead ${id} was acknowledged, but it is at ${step}`]
    return step > attempted ? [`lead ${id} is at change ${step}, which was never requested`] : []
  })
}

function lostMessages({ callbacks }: Ledger, { inbound }: FoundData): string[] {
  const lost = [...callbacks].filter((text) => !inbound.has(text))
  const duplicates = [...inbound].filter(([, count]) => count > 1)
  return [
    ...lost.map((text) => `the callback of "${text}" was acknowledged, but its message is missing`),
    ...duplicates.map(([text, count]) => `the message "${text}" exists ${count} times`),
  ]
}

function wrongSends({ sends }: Ledger, { outbound, sendRequests }: FoundData): string[] {
  const arrived = countOf(sendRequests.map(({ text }) => text))
  const lost = [...sends.keys()].filter((text) => !outbound.has(text))
  const unsent = [...sends].filter(([text, status]) => status === 'sent' && !arrived.has(text))
  return [
    ...lost.map((text) => `the send "${text}" was acknowledged, but its message is missing`),
    ...unsent.map(([text]) => `"${text}" was acknowledged as sent, but never reached the platform`),
    ...findDuplicates(arrived).map(([text, count]) => `"${text}" reached the platform ${count} times`),
    ...findDuplicates(outbound).map(([text, count]) => `the message "${text}" exists ${count} times`),
  ]
}

/** Checks that each event arrived at least once, and none before the previous one of the same lead or conversation. */
function findWebhookProblems({ events, webhooks: received }: FoundData): string[] {
  const firstAt = new Map<string, number>()
  for (const [n, { id }] of received.entries()) if (!firstAt.has(id)) firstAt.set(id, n)
  const last = new Map<string, number>()
  const problems: string[] = []
  for (const { id, subject } of events) {
    const at = firstAt.get(id)
    if (at === undefined) {
      problems.push(`event ${id} of ${subject} was never delivered`)
      continue
    }
    const before = last.get(subject)
    if (before !== undefined && at < before)
      problems.push(`event ${id} of ${subject} was delivered before an earlier one`)
    last.set(subject, Math.max(at, before ?? -1))
  }
  return [...problems, ...findReorderedChanges(events, received)]
}

/** Checks the order by the bodies, independently of the feed. */
function findReorderedChanges(events: FoundData['events'], received: readonly ReceivedWebhook[]): string[] {
  const subjects = new Map(events.map(({ id, subject }) => [id, subject]))
  const seen = new Set<string>()
  const steps = new Map<string, number>()
  return received.flatMap(({ id, step }) => {
    const subject = subjects.get(id)
    // Skips redeliveries of the same event.
    if (subject === undefined || step === null || seen.has(id)) return []
    seen.add(id)
    const before = steps.get(subject) ?? -1
    steps.set(subject, Math.max(step, before))
    return step < before ? [`lead ${subject}: change ${step} was delivered after ${before}`] : []
  })
}

/** Returns the number of redelivered webhooks. */
export function repeatsOf({ events, webhooks: received }: FoundData): number {
  const ids = new Set(events.map(({ id }) => id))
  const ours = received.filter(({ id }) => ids.has(id))
  return ours.length - new Set(ours.map(({ id }) => id)).size
}

export function countOf(texts: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return counts
}

const findDuplicates = (counts: Map<string, number>): [string, number][] => [...counts].filter(([, count]) => count > 1)
