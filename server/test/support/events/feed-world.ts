import { buildApp } from '../../../src/app/app.ts'
import type { Runtime } from '../../../src/app/runtime.ts'
import type { Repeat } from '../../../src/base/async/loop.ts'
import { newId } from '../../../src/base/id.ts'
import { recordEvents } from '../../../src/events/record.ts'
import { createSequencer } from '../../../src/events/sequence.ts'
import { eventCatalog, type KnownEvent } from '../../../src/webhooks/event-catalog.ts'
import { atEnd } from '../file-lifecycle.ts'
import { type Answer, type World, world } from '../world.ts'
import { type OpenStream, openStream } from './live-stream.ts'

export const eventsPath = '/api/v1/events'
export const livePath = ({ workspaceId }: { workspaceId: string }): string =>
  `/api/team/v1/workspaces/${workspaceId}/live`

export type Json = Answer['body']
export type Node = Awaited<ReturnType<typeof startNode>>
export type FeedWorld = Awaited<ReturnType<typeof feedWorld>>

/** Replaces timers: each `tick` runs all repeated tasks once, as when a node polls for missed notifications. */
export function createManualTimers() {
  const works = new Set<() => Promise<unknown>>()
  const repeat: Repeat = (_pauseMs, work) => {
    works.add(work)
    return { stop: async () => void works.delete(work) }
  }
  const tick = async (): Promise<void> => {
    for (const work of works) await work()
  }
  return { repeat, tick }
}

/** Starts another node of the service on its own port; uses the test's pool unless another is given. */
export async function startNode(runtime: Runtime, changes: Partial<Runtime> = {}) {
  const { repeat, tick } = createManualTimers()
  const app = await buildApp({ ...runtime, repeat, ...changes, sequencer: createSequencer(changes.db ?? runtime.db) })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  atEnd(() => app.close())
  return { app, url, tick }
}

/** Opens a workspace's stream on a node, and reads its first event. */
export async function follow(w: World, node: Pick<Node, 'url'>, headers: Record<string, string>): Promise<OpenStream> {
  const stream = await openStream(`${node.url}${livePath(w)}`, headers)
  atEnd(async () => stream.close())
  await stream.next()
  return stream
}

export async function feedWorld() {
  const w = await world({ scopes: ['leads.read', 'leads.write', 'leads.delete', 'inbox.read'] })
  const { clock, keyStore, workspaceId, call } = w
  return {
    ...w,
    /** Records one event per name in one transaction of this pool; `more` is merged into the body. */
    record: async (
      names: readonly KnownEvent[],
      options: { db?: World['db']; connectionId?: string; more?: object } = {},
    ) => {
      const { db = w.db, connectionId = null, more } = options
      const keyring = await keyStore.keyring(workspaceId)
      const events = names.map((name) => {
        return { name, subjectId: newId(clock.now()), connectionId, payload: { ...bodyOf(name), ...more } }
      })
      await db.tx((tx) => recordEvents(tx, keyring, workspaceId, events, clock.now()))
    },
    page: async (query: Record<string, string> = {}, key?: string): Promise<Json> => {
      const answer = await call('GET', eventsPath, { query, ...(key === undefined ? {} : { key }) })
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
      return answer.body
    },
  }
}

export const namesIn = (page: Json): string[] => page.events.map(({ event }: Json) => event)

/** Returns an event body as its module records it. */
export const bodyOf = (name: KnownEvent): object =>
  eventCatalog[name].sample('01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e', new Date('2026-03-10T12:00:00.000Z')).payload
