import { batch } from '../../base/async/batch.ts'
import { isRolledBack, type Tx } from '../../base/db.ts'
import type { ChannelEvent } from '../../channels/channel-event.ts'
import { applyAlone, applyBatch } from './apply-batch.ts'
import type { CustomerGroup } from './conversation-draft.ts'
import { receiveStatuses } from './delivery-statuses.ts'
import { isPermanentError, retryOnRace, skipFaulty } from './permanent-errors.ts'
import type { InboundCustomer, ReceiveDeps, ReceivingConnection, StatusReport } from './receiver.ts'
import { type CustomerEvent, groupByCustomer, sortDelivery } from './receiver.ts'

/** Takes in what a platform told of one connection. */
export type ReceiveEvents = (receiver: ReceivingConnection, events: readonly ChannelEvent[]) => Promise<void>

// Two transactions of a workspace at a time: one that waits for a conversation must not hold up all the others.
const [transactionsAtOnce, maxDeliveries, maxEvents] = [2, 64, 500]

/**
 * What takes deliveries in. Resolves once everything of a delivery is committed, so that it may be acknowledged; rejects when
 * the database is away, so that it must come again. A repeat changes nothing. An item that cannot be stored, now or ever, is
 * logged and passed over: it must not hold up the others of its delivery. Deliveries of one workspace that come in a busy
 * moment go together; none fails with another.
 */
export function createReceive(deps: ReceiveDeps): ReceiveEvents {
  const together = <T>(work: (workspaceId: string, items: readonly T[]) => Promise<void>) =>
    batch<T, void>({
      groups: transactionsAtOnce,
      groupSize: maxDeliveries,
      work: async (workspaceId, items) => {
        await work(workspaceId, items)
        return items.map(() => undefined)
      },
      isRolledBack: canSplit,
    })
  const takeCustomers = together<CallbackDelivery>((workspaceId, deliveries) =>
    receiveCustomers(deps, workspaceId, deliveries),
  )
  const takeStatuses = together<StatusReport[]>((workspaceId, byReceiver) =>
    receiveStatuses(deps, workspaceId, byReceiver.flat()),
  )

  return async (receiver, events) => {
    const { workspaceId } = receiver
    const { customers, statuses, connection } = sortDelivery(events)
    const told = statuses.map((event) => ({ receiver, event }))
    await runAll([
      ...(customers.length === 0 ? [] : [() => takeCustomers(workspaceId, { receiver, events: customers })]),
      ...(told.length === 0 ? [] : [() => takeStatuses(workspaceId, told)]),
      ...connection.map((event) => () => deps.onConnectionEvent(receiver, event)),
    ])
  }
}

/** One after the other; rejects with the first failure once all have ended. */
async function runAll(works: readonly (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = []
  for (const work of works) await work().catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}

/** Whether those that failed together may be tried in smaller parts: not when the database is away. */
const canSplit = (error: unknown): boolean => isRolledBack(error) || isPermanentError(error)

interface CallbackDelivery {
  receiver: ReceivingConnection
  events: CustomerEvent[]
}

async function receiveCustomers(
  deps: ReceiveDeps,
  workspaceId: string,
  deliveries: readonly CallbackDelivery[],
): Promise<void> {
  for (const groups of splitIntoBatches(groupsOf(deliveries))) {
    const others = await receiveBatch(deps, workspaceId, groups).catch((error: unknown) => {
      // Tried again in halves, until the delivery at fault is alone.
      if (deliveries.length > 1 || !canSplit(error)) throw error
      return groups
    })
    await runAll(others.map((group) => () => receiveOne(deps, group)))
  }
}

/** One group for each customer of each connection, in the order of the platform's time, then of arrival. */
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
  let room = 0
  for (const group of groups) {
    if (room < group.events.length || transactions.length === 0) {
      transactions.push([])
      room = maxEvents
    }
    transactions.at(-1)?.push(group)
    room -= group.events.length
  }
  return transactions
}

/** Takes what can go together; returns what cannot. */
async function receiveBatch(
  deps: ReceiveDeps,
  workspaceId: string,
  groups: readonly CustomerGroup[],
): Promise<CustomerGroup[]> {
  const wrote: InboundCustomer[] = []
  const take = async (some: readonly CustomerGroup[], mayBegin: boolean) => {
    const result = await deps.keyStore.withKeyring(workspaceId, async (keyring) => {
      // While two versions of a digest are in use, who begins a conversation has to wait for others who may.
      const isAlone = keyring.indexVersions.length === 1
      const intake = { keyring, workspaceId, now: deps.clock.now() }
      return { ...(await deps.db.tx((tx: Tx) => applyBatch(tx, intake, some, mayBegin && isAlone))), isAlone }
    })
    wrote.push(...result.writers)
    return result
  }
  try {
    const known = await take(groups, false)
    if (known.newCustomers.length === 0 || !known.isAlone) return [...known.others, ...known.newCustomers]
    const begun = await take(known.newCustomers, true)
    return [...known.others, ...begun.newCustomers, ...begun.others]
  } finally {
    // Also when the second one fails: what the first has stored is no longer new when it is done again.
    if (wrote.length > 0) await deps.onCustomersWrote(workspaceId, wrote)
  }
}

async function receiveOne(deps: ReceiveDeps, { receiver, events }: CustomerGroup): Promise<void> {
  const fieldsOf = ({ type: code }: CustomerEvent) => {
    return { workspaceId: receiver.workspaceId, connectionId: receiver.id, code }
  }
  const onSkipped = (event: CustomerEvent) =>
    deps.log.info('ignored a message change that is not by its author', fieldsOf(event))
  const apply = (some: readonly CustomerEvent[]) =>
    deps.keyStore.withKeyring(receiver.workspaceId, (keyring) =>
      retryOnRace(() =>
        deps.db.tx((tx: Tx) => applyAlone(tx, { keyring, receiver, now: deps.clock.now(), onSkipped }, some)),
      ),
    )
  const receiveSome = async (some: readonly CustomerEvent[]) => {
    const { writer, unmatched } = await apply(some)
    // Their message may have come with another delivery that found nothing waiting, while there was no conversation to lock.
    if (unmatched.length > 0) await apply(unmatched)
    if (writer !== null) await deps.onCustomersWrote(receiver.workspaceId, [writer])
  }
  await skipFaulty(deps.log, events, receiveSome, fieldsOf)
}
