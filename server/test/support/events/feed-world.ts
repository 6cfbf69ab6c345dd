import { buildApp } from '../../../src/app/app.ts'
import type { Runtime } from '../../../src/app/runtime.ts'
import type { Repeat } from '../../../src/base/async/loop.ts'
import type { Db } from '../../../src/base/db.ts'
import { newId } from '../../../src/base/id.ts'
import type { App } from '../../../src/base/route.ts'
import { recordEvents } from '../../../src/events/record.ts'
import { createSequencer } from '../../../src/events/sequencer.ts'
import { eventCatalogue, type KnownEvent } from '../../../src/webhooks/event-catalogue.ts'
import { atEnd } from '../file-end.ts'
import { type World, world } from '../world.ts'
import { type OpenStream, openStream } from './live-stream.ts'

export const eventsPath = '/api/v1/events'
export const livePath = ({ workspaceId }: { workspaceId: string }): string =>
  `/api/team/v1/workspaces/${workspaceId}/live`

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
export async function startNode(runtime: Runtime, changes: Partial<Runtime> = {}): Promise<Node> {
  const { repeat, tick } = repeatByHand()
  const app = await buildApp({ ...runtime, repeat, ...changes, sequencer: createSequencer(changes.db ?? runtime.db) })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  atEnd(() => app.close())
  return { app, url, tick }
}

/** Opens the stream of a workspace on a node, and reads where it begins. */
export async function follow(w: World, node: Node, headers: Record<string, string>): Promise<OpenStream> {
  const stream = await openStream(`${node.url}${livePath(w)}`, headers)
  atEnd(async () => stream.close())
  await stream.next()
  return stream
}

interface RecordOptions {
  db?: Db
  connectionId?: string
  /** Beside the body that the event has here. */
  more?: object
}

export interface FeedWorld extends World {
  /** Records one event for each name, in one transaction of this pool. */
  record(names: readonly KnownEvent[], options?: RecordOptions): Promise<void>
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
        payload: { ...bodyOf(name), ...more },
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

const sampleId = '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'
const sampleAt = new Date('2026-03-10T12:00:00.000Z')

/** A body of an event, as its room records it. */
export const bodyOf = (name: KnownEvent): object => eventCatalogue[name].sample(sampleId, sampleAt).payload
