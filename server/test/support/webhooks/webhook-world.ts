import assert from 'node:assert/strict'
import { presentPayload } from '../../../src/app/events.ts'
import { newId } from '../../../src/base/id.ts'
import type { PresentPayload } from '../../../src/events/feed.ts'
import type { EventName } from '../../../src/events/record.ts'
import { recordEvents } from '../../../src/events/record.ts'
import { createDeliveryWorker, type WorkerDeps } from '../../../src/webhooks/deliver/worker.ts'
import { queueEvent } from '../../../src/webhooks/endpoint/replay.ts'
import { createSecret } from '../../../src/webhooks/endpoint/signing.ts'
import { requireEvent } from '../../../src/webhooks/manage/change-endpoint.ts'
import { signedInMember } from '../member.ts'
import { type Answer, type World, world } from '../world.ts'
import { insertEndpoint, type NewEndpoint } from './insert-endpoint.ts'
import { startReceiver } from './webhook-receiver.ts'

export type WebhookWorld = Awaited<ReturnType<typeof webhookWorld>>
export type WebhookApi = Awaited<ReturnType<typeof webhookApi>>
export type DeliveryWorld = Awaited<ReturnType<typeof deliveryWorld>>
type Json = Answer['body']

/** Returns payloads unchanged: presentation belongs to the modules that know their shapes. */
export const presentAsRecorded: PresentPayload = (_name, payload) => payload

/** Creates a workspace with an endpoint for all events at a real local receiver. Nothing is sent until `drain`. */
export async function webhookWorld({
  deps: ownDeps,
  ...options
}: Partial<NewEndpoint> & { deps?: Partial<WorkerDeps> } = {}) {
  const w = await world()
  const { db, keyStore, clock, workspaceId } = w
  const receiver = await startReceiver()
  /** Creates another worker, as another process would have. */
  const addWorker = (deps: Partial<WorkerDeps> = {}) =>
    createDeliveryWorker({ ...w, present: presentAsRecorded, random: () => 0, ...deps })
  const worker = addWorker(ownDeps)
  const keyring = await keyStore.keyring(workspaceId)
  const addEndpoint = async (more: Partial<NewEndpoint> = {}) => {
    const secret = createSecret()
    const settings = { url: receiver.url, ...options, ...more, secret: secret.value, now: clock.now() }
    return { id: await insertEndpoint(db, keyring, workspaceId, settings), secret }
  }
  const eventOf = (subjectId: string, payload: object, name: EventName = 'lead.updated') => {
    return { name, subjectId, connectionId: null, payload }
  }
  const { id: endpointId, secret } = await addEndpoint()
  return {
    ...w,
    receiver,
    endpointId,
    secret,
    drain: () => worker.drain(),
    addWorker,
    addEndpoint,
    /** Records events in one commit, each with its own subject and numbered from `first`; returns their ids. */
    recordEach: async (count: number, first = 0) => {
      const subjects = Array.from({ length: count }, () => newId(clock.now()))
      const events = subjects.map((subjectId, n) => eventOf(subjectId, { n: first + n }))
      await db.tx((tx) => recordEvents(tx, keyring, workspaceId, events, clock.now()))
      return idsOf(w, subjects)
    },
    /** Records events of one subject in one commit; returns their ids. */
    record: async (subjectId: string, payloads: readonly object[], name?: EventName, by = db) => {
      const before = await idsOf(w, [subjectId])
      const events = payloads.map((payload) => eventOf(subjectId, payload, name))
      await by.tx((tx) => recordEvents(tx, keyring, workspaceId, events, clock.now()))
      return (await idsOf(w, [subjectId])).slice(before.length)
    },
    /** Requests a redelivery as a member does. */
    redeliver: (eventId: string) =>
      db.tx(async (tx) => {
        const endpoint = { workspaceId, id: endpointId, phoneVisibility: 'full' } as const
        await queueEvent(tx, endpoint, await requireEvent(tx, endpoint, eventId), 'resend', clock.now())
      }),
    /** Expires all queue leases. */
    expireLeases: () => db.sql`
      update webhook_queues
      set lease_until = statement_timestamp() - interval '1 second'
      where workspace_id = ${workspaceId}
        and lease_owner is not null`,
    deliveries: () => db.sql`
      select event_id, state, attempts, round_attempts, generation
      from webhook_deliveries
      where workspace_id = ${workspaceId}
        and endpoint_id = ${endpointId}
      order by position`,
    queue: async () => {
      const [row = assert.fail()] = await db.sql`
        select cursor, failures_in_a_row, lease_owner
        from webhook_queues
        where workspace_id = ${workspaceId}
          and endpoint_id = ${endpointId}`
      return row
    },
    sentIds: () => receiver.received.map(({ id }) => id),
  }
}

/** Returns the ids of events of these subjects, in the order of recording. */
async function idsOf({ db, workspaceId }: World, subjects: string[]): Promise<string[]> {
  const rows = await db.sql<{ id: string }[]>`
    select id
    from events
    where workspace_id = ${workspaceId}
      and subject_id = any (${subjects}::uuid[])
    order by seq`
  return rows.map(({ id }) => id)
}

export const hooksPath = '/webhooks'
export const exampleUrl = 'https://hooks.example.com/parley?token=abc'

/** Creates a workspace with a signed-in admin. */
export async function webhookApi() {
  const w = await world()
  const admin = await signedInMember(w, 'admin')
  /** Calls an endpoint's route and expects success. */
  const ok = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<Json> => {
    const answer = await admin.call(method, `${hooksPath}${path}`, body)
    assert.ok(answer.status >= 200 && answer.status < 300, `${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const eventIds = (subjectId: string) => idsOf(w, [subjectId])
  return {
    ...w,
    admin,
    ok,
    eventIds,
    /** Creates an endpoint; returns it with its secret. */
    endpoint: async (fields: Record<string, unknown> = {}): Promise<Json> => {
      const { endpoint, secret } = await ok('POST', '', { url: exampleUrl, events: ['lead.*'], ...fields })
      return { ...endpoint, secret }
    },
    /** Creates a lead; returns it with its first event. */
    newLead: async (fields: Record<string, unknown> = {}) => {
      const { id: leadId }: { id: string } = await w.lead(fields)
      const [eventId = ''] = await eventIds(leadId)
      return { leadId, eventId }
    },
  }
}

/** Creates the same with an endpoint at a real local receiver, and a worker that sends on demand. */
export async function deliveryWorld(fields: Record<string, unknown> = {}) {
  const w = await webhookApi()
  const receiver = await startReceiver()
  const { id, secret } = await w.endpoint({ url: receiver.url, events: ['lead.*', 'inbox.*'], ...fields })
  const worker = createDeliveryWorker({ ...w, present: presentPayload, random: () => 0 })
  let seen = 0
  /** Returns the ids received since the last call, in order. */
  const sent = () => {
    const ids = receiver.received.slice(seen).map((webhook) => webhook.id)
    seen = receiver.received.length
    return ids
  }
  return { ...w, receiver, id: id as string, secret: secret as string, drain: () => worker.drain(), sent }
}
