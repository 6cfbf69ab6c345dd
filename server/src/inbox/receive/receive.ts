import { batch } from '../../base/async/batch.ts'
import { isRolledBack } from '../../base/db.ts'
import type { ChannelEvent } from '../../channels/channel-event.ts'
import { serviceReader } from '../../workspaces/service/service-settings.ts'
import { keywordReader, type ReadKeywords } from '../consent/keywords.ts'
import { applyAlone, applyBatch } from './apply-batch.ts'
import type { CustomerGroup } from './conversation-draft.ts'
import { receiveStatuses } from './delivery-statuses.ts'
import { isPermanentError, retryOnRace, skipFaulty } from './permanent-errors.ts'
import type { InboundCustomer, ReceiveDeps, ReceivingConnection, StatusReport } from './receiver.ts'
import { type CustomerEvent, groupByCustomer, sortDelivery } from './receiver.ts'

export type ReceiveEvents = (receiver: ReceivingConnection, events: readonly ChannelEvent[]) => Promise<void>

// Two concurrent transactions per workspace: one that waits for a conversation's lock must not block all others.
const [transactionsAtOnce, maxDeliveries, maxEvents] = [2, 64, 500]

/**
 * Creates the function that receives deliveries. It resolves when all of a delivery is committed, so that it can be
 * acknowledged, and rejects if the database is unavailable, so that it is delivered again. Repeats change nothing.
 * Items that can never be stored are logged and skipped. Concurrent deliveries of a workspace are batched, without one
 * failing because of another.
 */
export function createReceive(deps: ReceiveDeps): ReceiveEvents {
  const batched = <T>(work: (workspaceId: string, items: readonly T[]) => Promise<void>) =>
    batch<T, void>({
      maxGroups: transactionsAtOnce,
      maxGroupSize: maxDeliveries,
      work: async (workspaceId, items) => {
        await work(workspaceId, items)
        return items.map(() => undefined)
      },
      isRolledBack: canSplit,
    })
  const readKeywords = keywordReader(deps.db)
  const batchCustomers = batched<CallbackDelivery>((workspaceId, deliveries) =>
    receiveCustomers({ ...deps, readKeywords }, workspaceId, deliveries),
  )
  const batchStatuses = batched<StatusReport[]>((workspaceId, byReceiver) =>
    receiveStatuses(deps, workspaceId, byReceiver.flat()),
  )

  return async (receiver, events) => {
    const { workspaceId } = receiver
    const { customers, statuses, connection } = sortDelivery(events)
    const reports = statuses.map((event) => ({ receiver, event }))
    await runAll([
      ...(customers.length === 0 ? [] : [() => batchCustomers(workspaceId, { receiver, events: customers })]),
      ...(reports.length === 0 ? [] : [() => batchStatuses(workspaceId, reports)]),
      ...connection.map((event) => () => deps.onConnectionEvent(receiver, event)),
    ])
  }
}

/** Runs tasks in sequence and throws the first error after all have ended. */
async function runAll(works: readonly (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = []
  for (const work of works) await work().catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}

/** Returns whether a failed batch can be retried in smaller parts: not if the database is unavailable. */
const canSplit = (error: unknown): boolean => isRolledBack(error) || isPermanentError(error)

interface CallbackDelivery {
  receiver: ReceivingConnection
  events: CustomerEvent[]
}

type CustomerDeps = ReceiveDeps & { readKeywords: ReadKeywords }

async function receiveCustomers(deps: CustomerDeps, workspaceId: string, deliveries: readonly CallbackDelivery[]) {
  for (const groups of splitIntoBatches(groupsOf(deliveries))) {
    const others = await receiveBatch(deps, workspaceId, groups).catch((error: unknown) => {
      // The batch is retried in halves until the faulty delivery is alone.
      if (deliveries.length > 1 || !canSplit(error)) throw error
      return groups
    })
    await runAll(others.map((group) => () => receiveOne(deps, group)))
  }
}

/** Returns one group per customer and connection, sorted by platform time, then arrival. */
function groupsOf(deliveries: readonly CallbackDelivery[]): CustomerGroup[] {
  const byConnection = Map.groupBy(deliveries, ({ receiver }) => receiver.id)
  return [...byConnection.values()].flatMap((eventsByReceiver) => {
    const receiver = eventsByReceiver[0]?.receiver
    const groups = groupByCustomer(eventsByReceiver.flatMap(({ events }) => events))
    return receiver === undefined ? [] : groups.map((events) => ({ receiver, events }))
  })
}

function splitIntoBatches(groups: readonly CustomerGroup[]): CustomerGroup[][] {
  const transactions: CustomerGroup[][] = []
  let remaining = 0
  for (const group of groups) {
    if (remaining < group.events.length || transactions.length === 0) {
      transactions.push([])
      remaining = maxEvents
    }
    transactions.at(-1)?.push(group)
    remaining -= group.events.length
  }
  return transactions
}

/** Applies the groups that can be batched and returns the others. */
async function receiveBatch(deps: CustomerDeps, workspaceId: string, groups: readonly CustomerGroup[]) {
  const writers: InboundCustomer[] = []
  const applyGroups = async (some: readonly CustomerGroup[], mayBegin: boolean) => {
    const result = await deps.keyStore.withKeyring(workspaceId, async (keyring) => {
      // While two digest versions are in use, new conversations need a lock against concurrent inserts.
      const isAlone = keyring.indexVersions.length === 1
      const allEvents = some.flatMap(({ events }) => events)
      const [keywords, service] = await Promise.all([
        deps.readKeywords(workspaceId, allEvents),
        serviceReader(deps.db)(workspaceId),
      ])
      const context = { keyring, workspaceId, now: deps.clock.now(), keywords, service }
      return { ...(await deps.db.tx((tx) => applyBatch({ ...context, tx }, some, mayBegin && isAlone))), isAlone }
    })
    writers.push(...result.writers)
    return result
  }
  try {
    const known = await applyGroups(groups, false)
    if (known.newCustomers.length === 0 || !known.isAlone) return [...known.others, ...known.newCustomers]
    const started = await applyGroups(known.newCustomers, true)
    return [...known.others, ...started.newCustomers, ...started.others]
  } finally {
    // Also runs if the second batch fails: in a retry, what the first has stored is no longer new.
    if (writers.length > 0) await deps.onCustomersWrote(workspaceId, writers)
  }
}

async function receiveOne(deps: CustomerDeps, { receiver, events, isUnrouted }: CustomerGroup): Promise<void> {
  const { workspaceId, id: connectionId } = receiver
  const fieldsOf = ({ type: code }: CustomerEvent) => ({ workspaceId, connectionId, code })
  const onSkipped = (event: CustomerEvent) =>
    deps.log.info('ignored a message change that is not by its author', fieldsOf(event))
  const apply = (some: readonly CustomerEvent[]) =>
    deps.keyStore.withKeyring(workspaceId, async (keyring) => {
      const keywords = await deps.readKeywords(workspaceId, some)
      const service = await serviceReader(deps.db)(workspaceId)
      const context = () => ({ keyring, workspaceId, receiver, now: deps.clock.now(), keywords, service, onSkipped })
      return retryOnRace(() => deps.db.tx((tx) => applyAlone({ ...context(), tx }, some, isUnrouted)))
    })
  const receiveSome = async (some: readonly CustomerEvent[]) => {
    const { writer, unmatched } = await apply(some)
    // A concurrent delivery may have stored their message without seeing them: there was no conversation to lock.
    if (unmatched.length > 0) await apply(unmatched)
    if (writer !== null) await deps.onCustomersWrote(workspaceId, [writer])
  }
  await skipFaulty(deps.log, events, receiveSome, fieldsOf)
}
