import { buildApp } from '../../../src/app/app.ts'
import type { Runtime } from '../../../src/app/runtime.ts'
import type { Repeat } from '../../../src/base/async/loop.ts'
import type { Db } from '../../../src/base/db.ts'
import { newId } from '../../../src/base/id.ts'
import type { App } from '../../../src/base/route.ts'
import type { EventName } from '../../../src/events/catalogue.ts'
import { recordEvents } from '../../../src/events/record.ts'
import { createSequencer } from '../../../src/events/sequencer.ts'
import { atEnd } from '../file-end.ts'
import { type World, world } from '../world.ts'

export const eventsPath = '/api/v1/events'

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape, and fail where one is wrong
export type Json = any

/** Repeats nothing by itself: `tick` does everything once. */
export function repeatByHand(): { repeat: Repeat; tick(): Promise<void> } {
  const works = new Set<() => Promise<unknown>>()
  return {
    repeat: (_pauseMs, work) => {
      works.add(work)
      return { stop: async () => void works.delete(work) }
    },
    tick: async () => {
      for (const work of works) await work()
    },
  }
}

export interface Node {
  app: App
  url: string
  /** Lets the node look for what it was not told. */
  tick(): Promise<void>
}

/** Another node of the service on a port of its own, on the test's pool unless told otherwise. */
export async function startNode(house: Runtime, changes: Partial<Runtime> = {}): Promise<Node> {
  const { repeat, tick } = repeatByHand()
  const app = await buildApp({ ...house, repeat, ...changes, sequencer: createSequencer(changes.db ?? house.db) })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  atEnd(() => app.close())
  return { app, url, tick }
}

interface RecordOptions {
  db?: Db
  connectionId?: string
  /** Beside the body that the event has here. */
  more?: object
}

export interface FeedWorld extends World {
  /** Records one event for each name, in one transaction of this pool. */
  record(names: readonly EventName[], options?: RecordOptions): Promise<void>
  page(query?: Record<string, string>, key?: string): Promise<Json>
}

export async function feedWorld(): Promise<FeedWorld> {
  const w = await world({ scopes: ['leads.read', 'leads.write', 'leads.delete', 'inbox.read'] })
  return {
    ...w,
    record: async (names, { db = w.db, connectionId, more } = {}) => {
      const keyring = await w.vault.keyring(w.workspaceId)
      const events = names.map((name) => ({
        name,
        subjectId: newId(w.clock.now()),
        connectionId: connectionId ?? null,
        payload: { ...bodies[name], ...more },
      }))
      await db.tx((tx) => recordEvents(tx, keyring, w.workspaceId, events, w.clock.now()))
    },
    page: async (query = {}, key) => {
      const answer = await w.call('GET', eventsPath, { query, ...(key === undefined ? {} : { key }) })
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
      return answer.body
    },
  }
}

export const namesIn = (page: Json): string[] => page.events.map(({ event }: Json) => event)

const id = '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'
const at = '2026-03-10T12:00:00.000Z'
const lead = {
  id,
  uniqueCode: 'LGXQWZ48Q4SG',
  externalRef: null,
  firstName: 'Marina',
  lastName: null,
  email: null,
  phone: '5581991234567',
  status: 'new',
  priority: 'medium',
  source: 'website',
  adPlatform: null,
  assignedTo: null,
  estimatedValue: null,
  actualValue: null,
  notes: null,
  createdAt: at,
  updatedAt: at,
  deletedAt: null,
}
const conversation = { id, connection_id: id, channel: 'waba', owner: 'human' }
const message = { id, kind: 'text', text: 'Hello!', occurred_at: at }

/** A body of each event, as the rooms record them. */
export const bodies: Record<EventName, object> = {
  'lead.created': lead,
  'lead.updated': { ...lead, previousStatus: 'new' },
  'lead.deleted': { ...lead, deletedAt: at },
  'lead.restored': lead,
  'inbox.message.received': {
    conversation: { ...conversation, status: 'open', window_expires_at: null },
    contact: { phone: '5581991234567', name: '+55 81 99123-4567' },
    message: { ...message, external_id: 'wamid.HBgNNTU4MTk5MTIzNDU2NxUCABIYFjNFQjA', media: null },
    referral: null,
  },
  'inbox.message.sent': { conversation, message: { ...message, status: 'sent' }, actor: { type: 'agent', id } },
  'inbox.message.status': { conversation_id: id, message_id: id, status: 'read', error_code: null, at },
  'inbox.conversation.owner_changed': {
    conversation_id: id,
    owner: 'human',
    actor: { type: 'system', id: null },
    at,
  },
}
