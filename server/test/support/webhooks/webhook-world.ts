import type { Db } from '../../../src/base/db.ts'
import { newId } from '../../../src/base/id.ts'
import type { EventName } from '../../../src/events/event-groups.ts'
import type { PresentPayload } from '../../../src/events/feed.ts'
import { recordEvents } from '../../../src/events/record.ts'
import { createDeliveryWorker, type DeliveryWorker, type WorkerDeps } from '../../../src/webhooks/deliver/worker.ts'
import { sealSettings } from '../../../src/webhooks/endpoint/endpoint.ts'
import { makeSecret, type SigningSecret } from '../../../src/webhooks/endpoint/signing.ts'
import { type World, world } from '../world.ts'
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
  /** Records events of one subject in one commit; answers their ids. */
  record(subjectId: string, payloads: readonly object[], name?: EventName, by?: Db): Promise<string[]>
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
  const addEndpoint = (more: EndpointOptions = {}) => insertEndpoint(w, { url: receiver.url, ...options, ...more })
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
    record: async (subjectId, payloads, name = 'lead.updated', by = db) => {
      const before = await idsOf(w, subjectId)
      const keyring = await vault.keyring(workspaceId)
      const events = payloads.map((payload) => ({ name, subjectId, connectionId: null, payload }))
      await by.tx((tx) => recordEvents(tx, keyring, workspaceId, events, clock.now()))
      return (await idsOf(w, subjectId)).slice(before.length)
    },
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

async function idsOf({ db, workspaceId }: World, subjectId: string): Promise<string[]> {
  const rows = await db.sql<{ id: string }[]>`
    select id
    from events
    where workspace_id = ${workspaceId}
      and subject_id = ${subjectId}
    order by seq`
  return rows.map(({ id }) => id)
}

async function insertEndpoint(w: World, options: EndpointOptions & { url: string }) {
  const { db, vault, clock, workspaceId } = w
  const id = newId(clock.now())
  const secret = makeSecret()
  const settings = { url: options.url, headers: options.headers ?? {}, secrets: [secret] }
  const sealed = sealSettings(await vault.keyring(workspaceId), id, settings)
  await db.tx(async (tx) => {
    await tx`
      insert into webhook_endpoints (
        workspace_id, id, events, phone_visibility, settings, state, state_changed_at, created_at, updated_at
      )
      values (
        ${workspaceId}, ${id}, ${options.events ?? ['lead.*', 'inbox.*']}, ${options.phoneVisibility ?? 'full'}, ${sealed},
        'active', ${clock.now()}, ${clock.now()}, ${clock.now()}
      )`
    await tx`
      insert into webhook_queues (workspace_id, endpoint_id, cursor)
      select ${workspaceId}::uuid, ${id}::uuid, coalesce(max(last_position), 0)
      from event_feeds
      where workspace_id = ${workspaceId}`
  })
  return { id, secret }
}
