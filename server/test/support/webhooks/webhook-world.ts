import assert from 'node:assert/strict'
import { presentPayload } from '../../../src/app/events.ts'
import type { Db } from '../../../src/base/db.ts'
import { newId } from '../../../src/base/id.ts'
import type { EventName } from '../../../src/events/event-groups.ts'
import type { PresentPayload } from '../../../src/events/feed.ts'
import { recordEvents } from '../../../src/events/record.ts'
import { createDeliveryWorker, type DeliveryWorker, type WorkerDeps } from '../../../src/webhooks/deliver/worker.ts'
import { queueAgain } from '../../../src/webhooks/endpoint/replay.ts'
import { makeSecret, type SigningSecret } from '../../../src/webhooks/endpoint/signing.ts'
import { findEvent } from '../../../src/webhooks/manage/send-again.ts'
import { signedInMember, type TestMember } from '../member.ts'
import { type World, world } from '../world.ts'
import { insertEndpoint } from './insert-endpoint.ts'
import { type Receiver, startReceiver } from './webhook-receiver.ts'

/** Rows as the tests look at them. */
export interface DeliveryState {
  event_id: string
  position: number
  state: 'pending' | 'delivered' | 'failed'
  attempts: number
  round_attempts: number
  due_at: Date | null
  masked: boolean
  generation: number
}

export interface QueueState {
  cursor: number
  generation: number
  retry_at: Date | null
  paused_until: Date | null
  failing_since: Date | null
  failures_in_a_row: number
  last_success_at: Date | null
  lease_owner: string | null
}

export interface EndpointOptions {
  url?: string
  events?: string[]
  phoneVisibility?: 'full' | 'masked'
  headers?: Record<string, string>
}

export interface WebhookWorld extends World {
  receiver: Receiver
  /** The endpoint that the world begins with: it wants everything. */
  endpointId: string
  secret: SigningSecret
  worker: DeliveryWorker
  drain(): Promise<void>
  /** Another worker, as another process has one. */
  addWorker(deps?: Partial<WorkerDeps>): DeliveryWorker
  addEndpoint(options?: EndpointOptions): Promise<{ id: string; secret: SigningSecret }>
  /** Records so many events, each of a subject of its own, in one commit; answers their ids. Their payloads are numbered from `first` on. */
  recordEach(count: number, first?: number): Promise<string[]>
  /** Records events of one subject in one commit; answers their ids. */
  record(subjectId: string, payloads: readonly object[], name?: EventName, by?: Db): Promise<string[]>
  /** As a member asks for it. */
  sendAgain(eventId: string): Promise<void>
  /** As if those who work on the queues had been away for longer than their leases. */
  expireLeases(): Promise<unknown>
  deliveries(endpointId?: string): Promise<DeliveryState[]>
  queue(endpointId?: string): Promise<QueueState>
  /** The ids of what the receiver was sent, in order. */
  sentIds(): string[]
}

/** Hides nothing: what is shown of payloads is for the rooms that know their shapes. */
export const presentAsRecorded: PresentPayload = (_name, payload) => payload

/** A workspace with an endpoint at a real local receiver. Nothing is sent until `drain`. */
export async function webhookWorld(
  options: EndpointOptions & { deps?: Partial<WorkerDeps> } = {},
): Promise<WebhookWorld> {
  const w = await world()
  const { db, vault, clock, log, sequencer, outgoing, workspaceId } = w
  const receiver = await startReceiver()
  const addWorker = (deps: Partial<WorkerDeps> = {}) =>
    createDeliveryWorker({
      db,
      vault,
      clock,
      log,
      sequencer,
      outgoing,
      present: presentAsRecorded,
      random: () => 0,
      ...deps,
    })
  const worker = addWorker(options.deps)
  const keyring = await vault.keyring(workspaceId)
  const addEndpoint = async (more: EndpointOptions = {}) => {
    const secret = makeSecret()
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
    worker,
    drain: () => worker.drain(),
    addWorker,
    addEndpoint,
    recordEach: async (count, first = 0) => {
      const subjects = Array.from({ length: count }, () => newId(clock.now()))
      const events = subjects.map((subjectId, n) => eventOf(subjectId, { n: first + n }))
      await db.tx((tx) => recordEvents(tx, keyring, workspaceId, events, clock.now()))
      const rows = await db.sql<{ id: string }[]>`
        select id
        from events
        where workspace_id = ${workspaceId}
          and subject_id = any (${subjects}::uuid[])
        order by seq`
      return rows.map(({ id }) => id)
    },
    record: async (subjectId, payloads, name, by = db) => {
      const before = await idsOf(w, subjectId)
      const events = payloads.map((payload) => eventOf(subjectId, payload, name))
      await by.tx((tx) => recordEvents(tx, keyring, workspaceId, events, clock.now()))
      return (await idsOf(w, subjectId)).slice(before.length)
    },
    sendAgain: (eventId) =>
      db.tx(async (tx) => {
        const event = await findEvent(tx, workspaceId, endpointId, eventId)
        assert.ok(event !== undefined)
        await queueAgain(tx, { workspaceId, id: endpointId, phoneVisibility: 'full' }, event, clock.now())
      }),
    expireLeases: () => db.sql`
      update webhook_queues
      set lease_until = statement_timestamp() - interval '1 second'
      where workspace_id = ${workspaceId}
        and lease_owner is not null`,
    deliveries: (id = endpointId) => db.sql<DeliveryState[]>`
      select event_id, position, state, attempts, round_attempts, due_at, masked, generation
      from webhook_deliveries
      where workspace_id = ${workspaceId}
        and endpoint_id = ${id}
      order by position`,
    queue: async (id = endpointId) => {
      const [row] = await db.sql<[QueueState]>`
        select cursor, generation, retry_at, paused_until, failing_since, failures_in_a_row, last_success_at, lease_owner
        from webhook_queues
        where workspace_id = ${workspaceId}
          and endpoint_id = ${id}`
      return row
    },
    sentIds: () => receiver.received.map(({ id }) => id),
  }
}

/** Ids of the events of a subject, in the order in which they were recorded. */
async function idsOf({ db, workspaceId }: World, subjectId: string): Promise<string[]> {
  const rows = await db.sql<{ id: string }[]>`
    select id
    from events
    where workspace_id = ${workspaceId}
      and subject_id = ${subjectId}
    order by seq`
  return rows.map(({ id }) => id)
}

export const hooksPath = '/webhooks'
export const exampleUrl = 'https://hooks.example.com/parley?token=abc'

export interface WebhookApi extends World {
  admin: TestMember
  /** Creates an endpoint and answers it with its secret. */
  // biome-ignore lint/suspicious/noExplicitAny: as in Answer
  endpoint(fields?: Record<string, unknown>): Promise<any>
  /** Calls an endpoint's route and expects it to succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: as in Answer
  ok(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<any>
  /** A new lead, and its first event. */
  newLead(fields?: object): Promise<{ leadId: string; eventId: string }>
  eventIds(subjectId: string): Promise<string[]>
}

/** A workspace with an admin who is signed in. */
export async function webhookApi(): Promise<WebhookApi> {
  const w = await world()
  const admin = await signedInMember(w, 'admin')
  const ok: WebhookApi['ok'] = async (method, path, body) => {
    const answer = await admin.call(method, `${hooksPath}${path}`, body)
    assert.ok(answer.status >= 200 && answer.status < 300, `${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const eventIds = (subjectId: string) => idsOf(w, subjectId)
  return {
    ...w,
    admin,
    ok,
    endpoint: async (fields = {}) => {
      const { endpoint, secret } = await ok('POST', '', { url: exampleUrl, events: ['lead.*'], ...fields })
      return { ...endpoint, secret }
    },
    newLead: async (fields) => {
      const { id: leadId } = await w.lead({ ...fields })
      const [eventId = ''] = await eventIds(leadId)
      return { leadId, eventId }
    },
    eventIds,
  }
}

export interface Delivering extends WebhookApi {
  receiver: Receiver
  id: string
  secret: string
  drain(): Promise<void>
  /** Ids of what the receiver was sent since the last look, in order. */
  sent(): string[]
}

/** The same with an endpoint at a real local receiver, and a worker that sends when it is told to. */
export async function delivering(fields: Record<string, unknown> = {}): Promise<Delivering> {
  const w = await webhookApi()
  const receiver = await startReceiver()
  const { id, secret } = await w.endpoint({ url: receiver.url, events: ['lead.*', 'inbox.*'], ...fields })
  const worker = createDeliveryWorker({ ...w, present: presentPayload, random: () => 0 })
  let seen = 0
  const sent = () => {
    const ids = receiver.received.slice(seen).map((webhook) => webhook.id)
    seen = receiver.received.length
    return ids
  }
  return { ...w, receiver, id, secret, drain: () => worker.drain(), sent }
}
