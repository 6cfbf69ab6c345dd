import { publish, type Sql, type Tx } from '../../base/db.ts'
import { conflict, InvalidInput, type Issue, invalid, notFound } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { recordTestEvent } from '../../events/record.ts'
import { retentionMs } from '../../events/retention.ts'
import { recordAudit } from '../../team/audit.ts'
import type { Member } from '../../team/member.ts'
import { cancelWaiting } from '../endpoint/disable.ts'
import {
  countEndpoints,
  decryptEndpoint,
  type Endpoint,
  type EndpointKey,
  type EndpointRow,
  insertEndpoint,
  markRemoved,
  maxEndpoints,
  requireEndpoint,
  setEndpointState,
  updateEndpoint,
} from '../endpoint/endpoint.ts'
import { dueTopic, insertQueue, restartQueue } from '../endpoint/queue-queries.ts'
import { createReplay, type EventToSend, queueEvent, type Replay } from '../endpoint/replay.ts'
import { type EndpointChanges, headerIssues, type NewEndpoint } from '../endpoint/schema.ts'
import { createSecret, rotateSecrets } from '../endpoint/signing.ts'
import { eventCatalog, type KnownEvent } from '../event-catalog.ts'
import { lastFeedPosition } from './deliveries.ts'
import type { WebhookDeps } from './read-endpoint.ts'

/** Creates an endpoint that gets new events. */
export async function createEndpoint(deps: WebhookDeps, member: Member, input: NewEndpoint): Promise<Endpoint> {
  const { workspaceId } = member
  rejectInvalid(deps, input)
  const now = deps.clock.now()
  const endpoint: Endpoint = {
    workspaceId,
    id: newId(now),
    description: input.description || null,
    events: input.events,
    phoneVisibility: input.phoneVisibility ?? 'full',
    settings: { url: input.url, headers: input.headers ?? {}, secrets: [createSecret()] },
    state: 'active',
    stateReason: null,
    stateChangedAt: now,
    createdBy: member.creatorId,
    createdAt: now,
    updatedAt: now,
  }
  const keyring = await deps.keyStore.keyring(workspaceId)
  // Sequences all earlier commits first, so that their positions are before the endpoint.
  await deps.sequencer.sequence(workspaceId)
  await deps.db.tx(async (tx) => {
    const position = await lastFeedPosition(tx, workspaceId, 'for update')
    if ((await countEndpoints(tx, workspaceId)) >= maxEndpoints)
      throw conflict(`A workspace can have at most ${maxEndpoints} webhook endpoints; delete an unused one`)
    await insertEndpoint(tx, keyring, endpoint)
    await insertQueue(tx, endpoint, position)
    await recordChange(tx, member, 'webhook.created', endpoint.id, now)
  })
  return endpoint
}

/** Changes the given fields. They apply to all later requests, including those for earlier events. */
export async function changeEndpoint(
  deps: WebhookDeps,
  member: Member,
  id: string,
  input: EndpointChanges,
): Promise<void> {
  rejectInvalid(deps, input)
  const action = (endpoint: Endpoint) => (hasNewOrigin(endpoint, input) ? 'webhook.address-changed' : 'webhook.changed')
  await updateSettings(deps, member, id, action, (endpoint) => {
    if (hasNewOrigin(endpoint, input)) rejectReusedHeaders(endpoint, input)
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

const hasNewOrigin = ({ settings }: Endpoint, { url }: EndpointChanges) =>
  url !== undefined && new URL(url).origin !== new URL(settings.url).origin

/** Prevents someone who can change the URL from learning stored header values. The signing secret is never sent. */
function rejectReusedHeaders({ settings }: Endpoint, { headers }: EndpointChanges): void {
  if (headers !== undefined || Object.keys(settings.headers).length === 0) return
  const message = 'must be sent with a url on another server; send {} for no headers'
  throw new InvalidInput([{ path: 'headers', message }])
}

/** Creates a new signing secret; old ones also sign until the overlap ends. */
export async function rotateSecret(deps: WebhookDeps, member: Member, id: string, overlapMs: number): Promise<string> {
  const changed = await updateSettings(deps, member, id, 'webhook.secret-rotated', (endpoint, now) => ({
    ...endpoint,
    settings: { ...endpoint.settings, secrets: rotateSecrets(endpoint.settings.secrets, overlapMs, now) },
  }))
  return changed.settings.secrets[0]?.value ?? ''
}

/** Removes an endpoint and erases its settings. The retention job deletes its log after an hour. */
export async function removeEndpoint(deps: WebhookDeps, member: Member, id: string): Promise<void> {
  const keyring = await deps.keyStore.keyring(member.workspaceId)
  await updateLocked(deps, member, id, 'webhook.deleted', async (tx, endpoint, now) => {
    await markRemoved(tx, keyring, endpoint, now)
    await cancelWaiting(tx, endpoint, now)
  })
}

/** Runs a change under the lock of an endpoint; records it in the audit log and notifies the workers. */
async function updateLocked<T>(
  { db, clock }: WebhookDeps,
  member: Member,
  id: string,
  action: string,
  work: (tx: Tx, endpoint: EndpointRow, now: Date) => Promise<T>,
): Promise<T> {
  const now = clock.now()
  return db.tx(async (tx) => {
    const endpoint = await requireEndpoint(tx, { workspaceId: member.workspaceId, id }, 'for update')
    const result = await work(tx, endpoint, now)
    await recordChange(tx, member, action, id, now)
    return result
  })
}

/** Records a change in the audit log and notifies the workers. */
async function recordChange(tx: Tx, member: Member, action: string, id: string, now: Date): Promise<void> {
  const { workspaceId, actor } = member
  await recordAudit(tx, { scopeId: workspaceId, actor, action, target: `webhook:${id}` }, now)
  publish(tx, dueTopic, workspaceId)
}

function rejectInvalid({ outgoing }: WebhookDeps, { url, headers }: EndpointChanges): void {
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
  return deps.keyStore.withKeyring(workspaceId, (keyring) =>
    deps.db.tx(async (tx) => {
      const before = decryptEndpoint(keyring, await requireEndpoint(tx, { workspaceId, id }, 'for update'))
      const changed = change(before, now)
      await updateEndpoint(tx, keyring, changed, now)
      await recordChange(tx, member, typeof action === 'string' ? action : action(before), id, now)
      return changed
    }),
  )
}

/**
 * Enables a disabled endpoint: it gets new events, and with `sendSince` undelivered events since that time. Does
 * nothing to an active endpoint, but throws 409 if `sendSince` is set.
 */
export async function enableEndpoint(
  deps: WebhookDeps,
  member: Member,
  id: string,
  sendSince: Date | null,
): Promise<void> {
  const { workspaceId } = member
  const now = deps.clock.now()
  if (sendSince !== null) rejectOutsideRetention('sendSince', sendSince, now)
  await deps.sequencer.sequence(workspaceId)
  await deps.db.tx(async (tx) => {
    const position = await lastFeedPosition(tx, workspaceId, 'for update')
    const endpoint = await requireEndpoint(tx, { workspaceId, id }, 'for update')
    if (endpoint.state === 'active') {
      if (sendSince !== null)
        throw conflict('The endpoint is already active; create a replay to send past events', { field: 'sendSince' })
      return
    }
    await setEndpointState(tx, endpoint, null, now)
    await restartQueue(tx, endpoint, position)
    if (sendSince !== null) await createReplay(tx, endpoint, { from: sendSince, to: now, scope: 'undelivered' }, now)
    await recordChange(tx, member, 'webhook.enabled', id, now)
  })
}

/** Throws 400 for a time in the future or before the retention period. */
function rejectOutsideRetention(field: string, time: Date, now: Date): void {
  if (time > now) throw invalid(field, 'must not be in the future')
  if (time.getTime() < now.getTime() - retentionMs)
    throw invalid(field, 'must be within the last 30 days, because older events are deleted')
}

/** Sends one event to an endpoint now, even if it was never sent before. */
export async function resendEvent(deps: WebhookDeps, member: Member, id: string, eventId: string): Promise<void> {
  await deps.sequencer.sequence(member.workspaceId)
  await updateLocked(deps, member, id, 'webhook.event-resent', async (tx, endpoint, now) => {
    rejectDisabled(endpoint)
    await queueEvent(tx, endpoint, await requireEvent(tx, endpoint, eventId), 'resend', now)
  })
}

/** Starts a replay of a time range; returns its id. */
export async function replayRange(
  deps: WebhookDeps,
  member: Member,
  id: string,
  range: { from: Date; to: Date | null; scope: Replay['scope'] },
): Promise<string> {
  const now = deps.clock.now()
  const to = range.to ?? now
  rejectOutsideRetention('from', range.from, now)
  rejectOutsideRetention('to', to, now)
  if (to < range.from) throw invalid('to', 'must not be before `from`')
  await deps.sequencer.sequence(member.workspaceId)
  return updateLocked(deps, member, id, 'webhook.replay-opened', (tx, endpoint) => {
    rejectDisabled(endpoint)
    return createReplay(tx, endpoint, { ...range, to }, now)
  })
}

/**
 * Sends a sample event to an endpoint, signed like a real one, and returns its id. It bypasses the endpoint's backlog,
 * and no other reader sees it.
 */
export async function sendTest(deps: WebhookDeps, member: Member, id: string, name: KnownEvent): Promise<string> {
  const { workspaceId } = member
  const now = deps.clock.now()
  const keyring = await deps.keyStore.keyring(workspaceId)
  const event = eventCatalog[name].sample(newId(now), now)
  const eventId = await deps.db.tx(async (tx) => {
    rejectDisabled(await requireEndpoint(tx, { workspaceId, id }, 'for update'))
    return recordTestEvent(tx, keyring, workspaceId, id, event, now)
  })
  // Positions are assigned to committed events only.
  await deps.sequencer.sequence(workspaceId)
  await updateLocked(deps, member, id, 'webhook.tested', async (tx, endpoint) =>
    queueEvent(tx, endpoint, await requireEvent(tx, endpoint, eventId), 'once', now),
  )
  return eventId
}

function rejectDisabled({ state }: EndpointRow): void {
  if (state === 'disabled') throw conflict('The endpoint is disabled; enable it first', { field: 'state' })
}

/** Returns a sequenced event of the feed, or a test event of this endpoint; throws 404. */
export async function requireEvent(sql: Sql, { workspaceId, id }: EndpointKey, eventId: string) {
  const [event] = await sql<(EventToSend & { payload: Buffer })[]>`
    select position, id, name, subject_id as "subjectId", occurred_at as "occurredAt", payload
    from events
    where workspace_id = ${workspaceId}
      and id = ${eventId}
      and position is not null
      and (test_endpoint_id is null or test_endpoint_id = ${id})`
  if (event === undefined) throw notFound('Event not found for this endpoint; events are kept for 30 days')
  return event
}
