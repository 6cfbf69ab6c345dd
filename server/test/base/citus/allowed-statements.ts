import type { Fault } from './shapes.ts'

export interface Reason {
  path: string
  faults: readonly Fault[]
  why: string
}

const byAge = 'Deletes expired rows on every server in one statement, without locks across servers.'
const beside = 'Comes from a CTE that the coordinator evaluates after locking the rows; the update only joins it.'
const byOne =
  'Two forms: for all workspaces on one server, and for one on a cluster, named by a fragment (`andOnlyOf`).'
const byHolder = 'For a dead process, once: by its name on every server in one statement, without locks across servers.'
const lock = 'locks rows without naming their workspace'
const volatile = 'uses a volatile function in an update'
const wide = 'writes without naming a workspace'

/** Statements of the service in a form that Citus refuses, and why they are allowed. */
export const allowed: readonly Reason[] = [
  { path: 'inbox/receive/early-statuses.ts', faults: [wide], why: byAge },
  { path: 'inbox/send/send-rate.ts', faults: [wide], why: byAge },
  { path: 'channels/unofficial/send/sends.ts', faults: [wide], why: byAge },
  { path: 'channels/unofficial/send/sends.ts', faults: [volatile], why: beside },
  { path: 'channels/unofficial/session/session-lease.ts', faults: [lock], why: byOne },
  { path: 'channels/unofficial/session/session-lease.ts', faults: [volatile], why: beside },
  { path: 'channels/unofficial/session/session-lease.ts', faults: [wide], why: byHolder },
  { path: 'inbox/conversation/dispatches.ts', faults: [volatile], why: beside },
  { path: 'inbox/conversation/dispatches.ts', faults: [volatile], why: beside },
  { path: 'inbox/media/fetch-queries.ts', faults: [lock], why: byOne },
  { path: 'webhooks/endpoint/queue-queries.ts', faults: [lock], why: byOne },
  { path: 'webhooks/endpoint/queue-queries.ts', faults: [volatile], why: beside },
  { path: 'webhooks/endpoint/queue-queries.ts', faults: [wide], why: byHolder },
]
