import type { Fault } from './shapes.ts'

export interface Reason {
  path: string
  faults: readonly Fault[]
  why: string
}

const byAge = 'What is too old goes wherever it is: one statement to every server, which locks nothing across them.'
/** Such a line goes with the statement; until then the server refuses it, or is slow with it. */
export const notYet = 'Not written anew yet.'
const lock = 'locks rows without naming their workspace'
const hidden = 'hides the workspace in a subquery'
const volatile = 'asks a volatile function in an update'
const conflict = 'asks more than an immutable function in "do update"'
const recursion = 'goes on by recursion without naming a workspace'
const wide = 'writes without naming a workspace'

/** What of the service has a shape that is refused where tables are spread, and why it may. */
export const allowed: readonly Reason[] = [
  { path: 'inbox/receive/early-statuses.ts', faults: [wide], why: byAge },
  { path: 'inbox/send/pace.ts', faults: [wide], why: byAge },
  { path: 'channels/unofficial/send/sends.ts', faults: [wide], why: byAge },
  { path: 'access/keys/last-calls.ts', faults: [conflict], why: notYet },
  { path: 'channels/unofficial/send/sends.ts', faults: [volatile], why: notYet },
  { path: 'channels/unofficial/session/lease.ts', faults: [lock, volatile, wide], why: notYet },
  { path: 'erasure/run.ts', faults: [lock], why: notYet },
  { path: 'events/backlog-metrics.ts', faults: [recursion], why: notYet },
  { path: 'events/sequence.ts', faults: [recursion], why: notYet },
  { path: 'forms/submit/quota.ts', faults: [conflict], why: notYet },
  { path: 'inbox/conversation/dispatches.ts', faults: [volatile], why: notYet },
  { path: 'inbox/conversation/message-queries.ts', faults: [hidden], why: notYet },
  { path: 'inbox/conversation/takeover-wait.ts', faults: [volatile], why: notYet },
  { path: 'inbox/media/fetch-queries.ts', faults: [lock, recursion], why: notYet },
  { path: 'inbox/ownership/snooze-timer.ts', faults: [lock], why: notYet },
  { path: 'inbox/send/begin-sends.ts', faults: [conflict], why: notYet },
  { path: 'inbox/send/pace.ts', faults: [conflict], why: notYet },
  { path: 'leads/bulk/bulk-changes.ts', faults: [lock], why: notYet },
  { path: 'leads/lead/write.ts', faults: [volatile], why: notYet },
  { path: 'leads/merge/merges.ts', faults: [lock, wide], why: notYet },
  { path: 'leads/retention.ts', faults: [lock, wide], why: notYet },
  { path: 'leads/search/search.ts', faults: [hidden], why: notYet },
  { path: 'leads/transfer/import/imports.ts', faults: [lock], why: notYet },
  { path: 'leads/write/purge.ts', faults: [lock], why: notYet },
  { path: 'notices/push/push.ts', faults: [lock], why: notYet },
  { path: 'webhooks/deliver/delivery-queries.ts', faults: [lock], why: notYet },
  { path: 'webhooks/endpoint/queue-queries.ts', faults: [lock, volatile, wide], why: notYet },
]
