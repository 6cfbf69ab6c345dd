import { announce, type Sql, type Tx } from '../../base/db.ts'
import { InvalidInput, type Issue, invalid } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { keptMs } from '../../events/retention.ts'
import { recordAudit } from '../../team/audit.ts'
import type { Member } from '../../team/member.ts'
import { cancelWaiting } from '../endpoint/disable.ts'
import {
  alreadyActive,
  countEndpoints,
  type Endpoint,
  endpointDisabled,
  eventNotFound,
  insertEndpoint,
  lockEndpoint,
  markActive,
  markRemoved,
  maxEndpoints,
  openEndpoint,
  tooManyEndpoints,
  updateEndpoint,
} from '../endpoint/endpoint.ts'
import { dueTopic, insertQueue, restartQueue } from '../endpoint/queue-queries.ts'
import { type EventToSend, openReplay, queueAgain, type Replay } from '../endpoint/replay.ts'
import { type EndpointChanges, headerIssues, type NewEndpoint } from '../endpoint/schema.ts'
import { makeSecret, rotateSecrets } from '../endpoint/signing.ts'
import type { WebhookDeps } from './read-endpoint.ts'

/** Makes an endpoint that is told of what happens from now on. */
export async function createEndpoint(deps: WebhookDeps, member: Member, input: NewEndpoint): Promise<Endpoint> {
  const { workspaceId } = member
  refuseFaults(deps, input)
  const now = deps.clock.now()
  const endpoint: Endpoint = {
    workspaceId,
    id: newId(now),
    description: input.description || null,
    events: input.events,
    phoneVisibility: input.phoneVisibility ?? 'full',
    settings: { url: input.url, headers: input.headers ?? {}, secrets: [makeSecret()] },
    state: 'active',
    stateReason: null,
    stateChangedAt: now,
    createdBy: member.makerId,
    createdAt: now,
    updatedAt: now,
  }
  const keyring = await deps.vault.keyring(workspaceId)
  // What was committed before stands in the feed before the endpoint, then.
  await deps.sequencer.place(workspaceId)
  await deps.db.tx(async (tx) => {
    const position = await endOfFeed(tx, workspaceId)
    if ((await countEndpoints(tx, workspaceId)) >= maxEndpoints) throw tooManyEndpoints()
    await insertEndpoint(tx, keyring, endpoint)
    await insertQueue(tx, workspaceId, endpoint.id, position)
    await noteChange(tx, member, 'webhook.created', endpoint.id, now)
  })
  return endpoint
}

/** Changes what the input names. Requests that leave from now on go by it, those of earlier events too. */
export async function changeEndpoint(
  deps: WebhookDeps,
  member: Member,
  id: string,
  input: EndpointChanges,
): Promise<void> {
  refuseFaults(deps, input)
  const action = (endpoint: Endpoint) => (isMoved(endpoint, input) ? 'webhook.address-changed' : 'webhook.changed')
  await updateSettings(deps, member, id, action, (endpoint) => {
    if (isMoved(endpoint, input)) refuseForeignHeaders(endpoint, input)
    return {
      ...endpoint,
      description: input.description === undefined ? endpoint.description : input.description || null,
      events: input.events ?? endpoint.events,
      phoneVisibility: input.phoneVisibility ?? endpoint.phoneVisibility,
      settings: {
        ...endpoint.settings,
        url: input.url ?? endpoint.settings.url,
        headers: input.headers ?? endpoint.settings.headers,
      },
    }
  })
}

const isMoved = ({ settings }: Endpoint, { url }: EndpointChanges) =>
  url !== undefined && new URL(url).origin !== new URL(settings.url).origin

/** Whoever may change an address must not thereby learn what was given for another. The signing secret is never sent. */
function refuseForeignHeaders({ settings }: Endpoint, { headers }: EndpointChanges): void {
  if (headers !== undefined || Object.keys(settings.headers).length === 0) return
  const message =
    'must be sent with a url on another server, {} for none: what is stored is for the server that it was given for'
  throw new InvalidInput([{ path: 'headers', message }])
}

/** Gives an endpoint a new signing secret; the old ones sign as well until the overlap has passed. */
export async function rotateSecret(deps: WebhookDeps, member: Member, id: string, overlapMs: number): Promise<string> {
  const changed = await updateSettings(deps, member, id, 'webhook.secret-rotated', (endpoint, now) => ({
    ...endpoint,
    settings: { ...endpoint.settings, secrets: rotateSecrets(endpoint.settings.secrets, overlapMs, now) },
  }))
  return changed.settings.secrets[0]?.value ?? ''
}

/** Removes an endpoint with its address, headers and secrets. Its log goes within the hour. */
export async function removeEndpoint(deps: WebhookDeps, member: Member, id: string): Promise<void> {
  const { workspaceId } = member
  const keyring = await deps.vault.keyring(workspaceId)
  const now = deps.clock.now()
  await deps.db.tx(async (tx) => {
    await lockEndpoint(tx, workspaceId, id)
    await markRemoved(tx, keyring, workspaceId, id, now)
    await cancelWaiting(tx, workspaceId, id, now)
    await noteChange(tx, member, 'webhook.deleted', id, now)
  })
}

/** Returns the last position that was given; no other is until the transaction ends. */
export async function endOfFeed(tx: Tx, workspaceId: string): Promise<number> {
  const [feed] = await tx<{ last: number }[]>`
    select last_position as last
    from event_feeds
    where workspace_id = ${workspaceId}
    for update`
  return feed?.last ?? 0
}

/** The line of the log, and the word to the workers. */
export async function noteChange(tx: Tx, member: Member, action: string, id: string, now: Date): Promise<void> {
  const { workspaceId, actor } = member
  await recordAudit(tx, { scopeId: workspaceId, actor, action, target: `webhook:${id}` }, now)
  announce(tx, dueTopic, workspaceId)
}

function refuseFaults({ outgoing }: WebhookDeps, { url, headers }: EndpointChanges): void {
  const refusal = url === undefined ? null : outgoing.refusal(url)
  const issues: Issue[] = [
    ...(refusal === null ? [] : [{ path: 'url', message: refusal }]),
    ...headerIssues(headers ?? {}),
  ]
  if (issues.length > 0) throw new InvalidInput(issues)
}

async function updateSettings(
  deps: WebhookDeps,
  member: Member,
  id: string,
  action: string | ((before: Endpoint) => string),
  change: (endpoint: Endpoint, now: Date) => Endpoint,
): Promise<Endpoint> {
  const { workspaceId } = member
  const now = deps.clock.now()
  return deps.vault.withKeyring(workspaceId, (keyring) =>
    deps.db.tx(async (tx) => {
      const before = openEndpoint(keyring, await lockEndpoint(tx, workspaceId, id))
      const changed = change(before, now)
      await updateEndpoint(tx, keyring, changed, now)
      await noteChange(tx, member, typeof action === 'string' ? action : action(before), id, now)
      return changed
    }),
  )
}

/**
 * Lets events go to a disabled endpoint again: those that come from now on, and with `sendSince` those of the time
 * since then that it has not taken. Does nothing to an active endpoint.
 */
export async function enableEndpoint(
  deps: WebhookDeps,
  member: Member,
  id: string,
  sendSince: Date | null,
): Promise<void> {
  const { workspaceId } = member
  const now = deps.clock.now()
  if (sendSince !== null) refuseOutside('sendSince', sendSince, now)
  await deps.sequencer.place(workspaceId)
  await deps.db.tx(async (tx) => {
    const position = await endOfFeed(tx, workspaceId)
    const endpoint = await lockEndpoint(tx, workspaceId, id)
    if (endpoint.state === 'active') {
      if (sendSince !== null) throw alreadyActive()
      return
    }
    await markActive(tx, workspaceId, id, now)
    await restartQueue(tx, workspaceId, id, position)
    if (sendSince !== null) {
      const receiver = { workspaceId, id, phoneVisibility: endpoint.phone_visibility }
      await openReplay(tx, receiver, { from: sendSince, to: now, scope: 'undelivered' }, now)
    }
    await noteChange(tx, member, 'webhook.enabled', id, now)
  })
}

/** Refuses a time that is still to come, or of which nothing is kept. */
export function refuseOutside(field: string, time: Date, now: Date): void {
  if (time > now) throw invalid(field, 'must not be in the future')
  if (time.getTime() < now.getTime() - keptMs)
    throw invalid(field, 'must be within the last 30 days: events are kept so long')
}

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
