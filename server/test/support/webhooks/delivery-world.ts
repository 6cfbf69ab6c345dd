import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../../src/base/clock.ts'
import { newId } from '../../../src/base/id.ts'
import { relayNews } from '../../../src/base/news/relay.ts'
import { openVault } from '../../../src/base/sealing/vault.ts'
import { type NewEvent, recordEvents } from '../../../src/events/record.ts'
import { makeSecret } from '../../../src/webhooks/endpoint/signing.ts'
import { type TestDatabase, testDatabase } from '../database.ts'
import { atEnd, oncePerFile } from '../file-end.ts'
import type { WrittenEvent } from './delivery-history.ts'
import { insertEndpoint } from './insert-endpoint.ts'
import type { Behaviour, Receiver } from './receivers.ts'

export interface DeliveryWorld extends TestDatabase {
  addWorkspace(): Promise<string>
  /** An endpoint that asks for every event; answers its id. */
  addEndpoint(workspaceId: string, url: string, secret: string): Promise<string>
  /**
   * Commits the next event of a subject. Of a change in the product the delivery sees this alone: `recordEvents` in a
   * transaction, and the news of it.
   */
  write(workspaceId: string, subject: string, n: number): Promise<WrittenEvent>
}

/** Workspaces, endpoints and events on the database of this test file, for workers in processes of their own. */
export const deliveryWorld = oncePerFile(async (): Promise<DeliveryWorld> => {
  const database = await testDatabase()
  const { db } = database
  const vault = openVault(db, { current: Buffer.alloc(32, 7) }, systemClock)
  await vault.ensureInstanceSecrets()
  const stopRelay = await relayNews(db, () => {})
  atEnd(async () => stopRelay())
  return {
    ...database,
    addWorkspace: async () => {
      const [id, now] = [newId(systemClock.now()), systemClock.now()]
      await db.tx(async (tx) => {
        await tx`
          insert into workspaces (id, name, daily_lead_quota, created_at, updated_at)
          values (${id}, 'Deliveries', 0, ${now}, ${now})`
        await vault.createSecrets(tx, id)
      })
      return id
    },
    addEndpoint: async (workspaceId, url, secret) =>
      insertEndpoint(db, await vault.keyring(workspaceId), workspaceId, { url, secret }),
    write: async (workspaceId, subject, n) => {
      const keyring = await vault.keyring(workspaceId)
      await db.tx((tx) => recordEvents(tx, keyring, workspaceId, [eventOf(subject, n)], systemClock.now()))
      return { workspaceId, subject, n, committedAt: performance.timeOrigin + performance.now() }
    },
  }
})

/** Every third event is one of the inbox, which travels wrapped. */
function eventOf(subject: string, n: number): NewEvent {
  const payload = { subject, n, text: 'Hello, is the blue one still there? '.repeat(8) }
  const name = n % 3 === 2 ? 'inbox.message.received' : 'lead.updated'
  return { name, subjectId: subject, connectionId: null, payload }
}

/** So many receivers of each behaviour, each with a secret of its own. */
export function receiversOf(mix: readonly [count: number, behaviour: Behaviour][]): Receiver[] {
  return mix.flatMap(([count, behaviour]) =>
    Array.from({ length: count }, () => ({ behaviour, secret: makeSecret().value })),
  )
}

/** Writes events at an even pace, several to a subject, and calls back after each. */
export async function writeEvents(
  world: DeliveryWorld,
  workspaceIds: readonly string[],
  { count, perSecond, perSubject }: { count: number; perSecond: number; perSubject: number },
  onWritten: (event: WrittenEvent) => void,
): Promise<void> {
  const each = Math.ceil(count / workspaceIds.length)
  const startedAt = performance.now()
  // One writer a workspace: as in the product, nobody writes two events of one subject at once.
  const writing = workspaceIds.map(async (workspaceId, writer) => {
    const subjects = Array.from({ length: Math.ceil(each / perSubject) }, () => ({ id: randomUUID(), n: 0 }))
    for (let written = 0; written < each; written++) {
      const dueAt = startedAt + ((written * workspaceIds.length + writer) / perSecond) * 1000
      await sleep(Math.max(0, dueAt - performance.now()))
      const open = subjects.filter(({ n }) => n < perSubject).slice(0, 5)
      const subject = open[Math.floor(Math.random() * open.length)]
      if (subject !== undefined) onWritten(await world.write(workspaceId, subject.id, subject.n++))
    }
  })
  await Promise.all(writing)
}
