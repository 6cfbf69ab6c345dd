import type { Fault } from './shapes.ts'

export interface Reason {
  path: string
  faults: readonly Fault[]
  why: string
}

const byAge = 'What is too old goes wherever it is: one statement to every server, which locks nothing across them.'
const beside =
  'Made by a list beside the update, which the coordinator makes once the rows are locked; the update itself only joins it.'
const byOne =
  'Two forms: of all workspaces on one server, and of one where tables are spread, which is named by a piece (`andOnlyOf`).'
const byHolder =
  'Of a process that died, once: by its name, in one statement to every server, which locks nothing across them.'
const lock = 'locks rows without naming their workspace'
const volatile = 'uses a volatile function in an update'
const wide = 'writes without naming a workspace'

/** What of the service has a shape that is refused where tables are spread, and why it may. */
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
