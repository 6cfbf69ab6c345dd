import type { Sql } from '../../base/db.ts'
import { invalid } from '../../base/errors.ts'
import type { Member } from '../../team/member.ts'
import { lockEndpoint } from '../endpoint/endpoint.ts'
import { endpointDisabled, eventNotFound } from '../endpoint/errors.ts'
import { type EventToSend, openReplay, queueAgain, type Replay } from '../endpoint/replay.ts'
import { noteChange } from './change.ts'
import type { WebhookDeps } from './deps.ts'
import { refuseOutside } from './enable.ts'

/** Sends one event to an endpoint now, also one that it was never sent. */
export async function resendEvent(deps: WebhookDeps, member: Member, id: string, eventId: string): Promise<void> {
  const { workspaceId } = member
  const now = deps.clock.now()
  await deps.sequencer.place(workspaceId)
  await deps.db.tx(async (tx) => {
    const endpoint = await lockEndpoint(tx, workspaceId, id)
    if (endpoint.state === 'disabled') throw endpointDisabled()
    const event = await findEvent(tx, workspaceId, id, eventId)
    if (event === undefined) throw eventNotFound()
    await queueAgain(tx, { workspaceId, id, phoneVisibility: endpoint.phone_visibility }, event, now)
    await noteChange(tx, member, 'webhook.event-resent', id, now)
  })
}

/** Begins to send a range of time again; returns the id of the replay. */
export async function replayRange(
  deps: WebhookDeps,
  member: Member,
  id: string,
  range: { from: Date; to: Date | null; scope: Replay['scope'] },
): Promise<string> {
  const { workspaceId } = member
  const now = deps.clock.now()
  const to = range.to ?? now
  refuseOutside('from', range.from, now)
  refuseOutside('to', to, now)
  if (to < range.from) throw invalid('to', 'must not be before `from`')
  await deps.sequencer.place(workspaceId)
  return deps.db.tx(async (tx) => {
    const endpoint = await lockEndpoint(tx, workspaceId, id)
    if (endpoint.state === 'disabled') throw endpointDisabled()
    const receiver = { workspaceId, id, phoneVisibility: endpoint.phone_visibility }
    const replayId = await openReplay(tx, receiver, { ...range, to }, now)
    await noteChange(tx, member, 'webhook.replay-opened', id, now)
    return replayId
  })
}

/** Returns an event that has its position: of the feed, or a test of this endpoint. */
export async function findEvent(
  sql: Sql,
  workspaceId: string,
  endpointId: string,
  eventId: string,
): Promise<(EventToSend & { payload: Buffer }) | undefined> {
  const [event] = await sql<(EventToSend & { payload: Buffer })[]>`
    select position, id, name, subject_id as "subjectId", occurred_at as "occurredAt", payload
    from events
    where workspace_id = ${workspaceId}
      and id = ${eventId}
      and position is not null
      and (test_endpoint_id is null or test_endpoint_id = ${endpointId})`
  return event
}
