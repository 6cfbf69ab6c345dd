import assert from 'node:assert/strict'
import type { KeyStore } from '../../../src/base/encryption/key-store.ts'
import type { ChannelEvent } from '../../../src/channels/channel-event.ts'
import { createReceive } from '../../../src/inbox/receive/receive.ts'
import type { ReceiveDeps, ReceivingConnection } from '../../../src/inbox/receive/receiver.ts'

interface Delivery {
  receiver: ReceivingConnection
  events: readonly ChannelEvent[]
}

/** Number of concurrent deliveries per kind, above which others wait. */
const concurrentPerKind = 2

/**
 * Delivers to one workspace while it is busy, so that all deliveries are batched: other deliveries block until each of
 * these waits, and then fail. Returns the result of each.
 */
export async function deliverBatch(
  deps: ReceiveDeps,
  deliveries: readonly Delivery[],
): Promise<PromiseSettledResult<void>[]> {
  const [first] = deliveries
  if (first === undefined) return []
  const end = Promise.withResolvers<never>()
  end.promise.catch(() => undefined)
  let [started, isHeld] = [0, true]
  const blockUntilBatched = <T>(go: () => Promise<T>): Promise<T> => {
    started++
    return isHeld ? end.promise : go()
  }
  const keyStore: KeyStore = {
    ...deps.keyStore,
    keyring: (scopeId) => blockUntilBatched(() => deps.keyStore.keyring(scopeId)),
    withKeyring: (scopeId, work) => blockUntilBatched(() => deps.keyStore.withKeyring(scopeId, work)),
  }
  const receive = createReceive({ ...deps, keyStore })
  const others = [opened, read].flatMap((event) =>
    Array.from({ length: concurrentPerKind }, () => receive(first.receiver, [{ ...event, at: new Date(0) }])),
  )
  assert.equal(started, others.length, 'these run concurrently')
  isHeld = false
  const outcomes = deliveries.map(({ receiver, events }) => receive(receiver, events))
  assert.equal(started, others.length, 'and all others wait')
  // Fails the blockers like a database outage, which is not retried.
  end.reject(Object.assign(new Error('Blocked by the test'), { code: 'HELD_UP' }))
  await Promise.allSettled(others)
  return Promise.allSettled(outcomes)
}

/** Delivers each list of events separately, all in one batch. Returns which of them were accepted. */
export async function receiveBatch(
  { workspaceId, connectionId, receiveDeps }: { workspaceId: string; connectionId: string; receiveDeps: ReceiveDeps },
  lists: readonly (readonly ChannelEvent[])[],
): Promise<boolean[]> {
  const receiver = { workspaceId, id: connectionId, channel: 'waba' } as const
  const deliveries = lists.map((events) => ({ receiver, events }))
  return (await deliverBatch(receiveDeps, deliveries)).map(({ status }) => status === 'fulfilled')
}

const nobody = { userId: 'nobody', parentUserId: null, phone: null, name: null }
const opened = { type: 'contact_opened', customer: nobody } as const
const unknown = { errorCode: null, correlator: null, customer: null }
const read = { type: 'status', externalId: 'wamid.nobody', status: 'read', ...unknown } as const
