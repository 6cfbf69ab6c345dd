import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../server/src/base/clock.ts'
import { type Db, publish } from '../../server/src/base/db.ts'
import { openKeyStore } from '../../server/src/base/encryption/key-store.ts'
import { newId } from '../../server/src/base/id.ts'
import { type NewEvent, recordEvents } from '../../server/src/events/record.ts'
import { sequencedTopic, sequenceEvents } from '../../server/src/events/sequence.ts'
import { createSecret } from '../../server/src/webhooks/endpoint/signing.ts'
import { insertEndpoint } from '../../server/test/support/webhooks/insert-endpoint.ts'
import type { Child } from '../child.ts'
import type { Process } from '../cpu-time.ts'
import type { Received } from '../webhook-receiver.ts'
import { type BenchWorkspace, benchMasterKey, makeWorkspace } from '../workspace.ts'

export interface WebhookCourse {
  db: Db
  rounds: number
  /** Factor for the number of events: below 1 for a run whose figures do not matter. */
  share: number
  receiver: Child
  baseline: Child
  worker: Child
  /** Worker of another checkout to compare with. */
  other: Child | undefined
  postgres: Process
}

export const farFuture = new Date('2100-01-01')

/** Pauses all workers except one, once they have released their leases: they would share the deliveries. */
export async function resumeOnly({ db, worker, other }: WebhookCourse, chosen: Child): Promise<void> {
  if (other === undefined) return
  const held = () => db.sql`select 1 from webhook_queues where lease_owner is not null limit 1`
  while ((await held()).length > 0) await sleep(50)
  for (const one of [worker, other]) process.kill(one.pid, one === chosen ? 'SIGCONT' : 'SIGSTOP')
}

export async function addReceivers(
  { db, receiver }: WebhookCourse,
  count: number,
  pausedUntil: Date | null,
): Promise<BenchWorkspace> {
  const workspace = await makeWorkspace(db)
  const keyring = await openBenchKeyStore(db).keyring(workspace.workspaceId)
  const url = `http://127.0.0.1:${receiver.port}/`
  for (let n = 0; n < count; n++) {
    await insertEndpoint(db, keyring, workspace.workspaceId, { url, secret: createSecret().value, pausedUntil })
  }
  return workspace
}

/** Records events, all sequenced; five per subject, as is typical for a conversation or a lead. */
export async function recordBacklog(db: Db, { workspaceId }: BenchWorkspace, count: number): Promise<void> {
  const keyring = await openBenchKeyStore(db).keyring(workspaceId)
  const subjects = Array.from({ length: Math.ceil(count / 5) }, () => newId(systemClock.now()))
  for (let done = 0; done < count; done += 1000) {
    const events = Array.from({ length: Math.min(1000, count - done) }, (_, n) =>
      eventOf(subjects[(done + n) % subjects.length] ?? '', n),
    )
    await db.tx((tx) => recordEvents(tx, keyring, workspaceId, events, systemClock.now()))
  }
  while ((await sequenceEvents(db, workspaceId)) > 0);
}

export const release = (db: Db, workspace: BenchWorkspace) => setPause(db, workspace, null)
export const pause = (db: Db, workspace: BenchWorkspace) => setPause(db, workspace, farFuture)

async function setPause(db: Db, { workspaceId }: BenchWorkspace, until: Date | null): Promise<void> {
  await db.tx(async (tx) => {
    publish(tx, sequencedTopic, workspaceId)
    await tx`
      update webhook_queues
      set paused_until = ${until}
      where workspace_id = ${workspaceId}`
  })
}

export function eventOf(subjectId: string, n: number): NewEvent {
  const payload = { at: performance.timeOrigin + performance.now(), n, text: 'x'.repeat(600) }
  return { name: 'lead.updated', subjectId, connectionId: null, payload }
}

export async function received({ receiver }: WebhookCourse, count: number): Promise<Received> {
  const response = await fetch(`http://127.0.0.1:${receiver.port}/${count}`)
  return (await response.json()) as Received
}

export const openBenchKeyStore = (db: Db) => openKeyStore(db, { current: benchMasterKey }, systemClock)
