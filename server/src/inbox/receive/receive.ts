import { batch } from '../../base/async/batch.ts'
import { isUndone, type Tx } from '../../base/db.ts'
import type { ChannelEvent } from '../../channels/channel-event.ts'
import { applyAlone, applyBatch } from './apply-batch.ts'
import { receiveStatuses } from './delivery-statuses.ts'
import type { CustomerGroup } from './draft.ts'
import { isPermanentError, passOverFaulty, withoutRace } from './permanent-errors.ts'
import type { ReceiveDeps, Receiver, ToldStatus, Writer } from './receiver.ts'
import { type CustomerEvent, groupByCustomer, sortDelivery } from './receiver.ts'

/** Takes in what a platform told of one connection. */
export type ReceiveDelivery = (receiver: Receiver, events: readonly ChannelEvent[]) => Promise<void>

// Two transactions of a workspace at a time: one that waits for a conversation must not hold up all the others.
const [transactionsAtOnce, maxDeliveries, maxEvents] = [2, 64, 500]

/**
 * What takes deliveries in. Resolves once everything of a delivery is committed, so that it may be acknowledged; rejects when
 * the database is away, so that it must come again. A repeat changes nothing. An item that cannot be stored, now or ever, is
 * logged and passed over: it must not hold up the others of its delivery. Deliveries of one workspace that come in a busy
 * moment go together; none fails with another.
 */
export function openReceive(deps: ReceiveDeps): ReceiveDelivery {
  const together = <T>(work: (workspaceId: string, items: readonly T[]) => Promise<void>) =>
    batch<T, void>({
      groups: transactionsAtOnce,
      groupSize: maxDeliveries,
      work: async (workspaceId, items) => {
        await work(workspaceId, items)
        return items.map(() => undefined)
      },
      isUndone: mayGoApart,
    })
  const takeCustomers = together<Delivery>((workspaceId, deliveries) => receiveCustomers(deps, workspaceId, deliveries))
  const takeStatuses = together<ToldStatus[]>((workspaceId, told) => receiveStatuses(deps, workspaceId, told.flat()))

  return async (receiver, events) => {
    const { workspaceId } = receiver
    const { customers, statuses, connection } = sortDelivery(events)
    const told = statuses.map((event) => ({ receiver, event }))
    await finishAll([
      ...(customers.length === 0 ? [] : [() => takeCustomers(workspaceId, { receiver, events: customers })]),
      ...(told.length === 0 ? [] : [() => takeStatuses(workspaceId, told)]),
      ...connection.map((event) => () => deps.connectionTold(receiver, event)),
    ])
  }
}

/** One after the other; rejects with the first failure once all have ended. */
async function finishAll(works: readonly (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = []
  for (const work of works) await work().catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}

/** Whether those that failed together may be tried in smaller parts: not when the database is away. */
const mayGoApart = (error: unknown): boolean => isUndone(error) || isPermanentError(error)

interface Delivery {
  receiver: Receiver
  events: CustomerEvent[]
}

async function receiveCustomers(
  deps: ReceiveDeps,
  workspaceId: string,
  deliveries: readonly Delivery[],
): Promise<void> {
  for (const groups of inTransactions(groupsOf(deliveries))) {
    const others = await receiveTogether(deps, workspaceId, groups).catch((error: unknown) => {
      // Tried again in halves, until the delivery at fault is alone.
      if (deliveries.length > 1 || !mayGoApart(error)) throw error
      return groups
    })
    await finishAll(others.map((group) => () => receiveAlone(deps, group)))
  }
}

/** One group for each customer of each connection, in the order of the platform's time, then of arrival. */
function groupsOf(deliveries: readonly Delivery[]): CustomerGroup[] {
  const byConnection = Map.groupBy(deliveries, ({ receiver }) => receiver.id)
  return [...byConnection.values()].flatMap((told) => {
    const receiver = told[0]?.receiver
    const groups = groupByCustomer(told.flatMap(({ events }) => events))
    return receiver === undefined ? [] : groups.map((events) => ({ receiver, events }))
  })
}

function inTransactions(groups: readonly CustomerGroup[]): CustomerGroup[][] {
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
async function receiveTogether(
  deps: ReceiveDeps,
  workspaceId: string,
  groups: readonly CustomerGroup[],
): Promise<CustomerGroup[]> {
  const wrote: Writer[] = []
  const take = async (some: readonly CustomerGroup[], mayBegin: boolean) => {
    const taken = await deps.vault.withKeyring(workspaceId, async (keyring) => {
      // While two versions of a digest are in use, who begins a conversation has to wait for others who may.
      const isAlone = keyring.indexVersions.length === 1
      const intake = { keyring, workspaceId, now: deps.clock.now() }
      return { ...(await deps.db.tx((tx: Tx) => applyBatch(tx, intake, some, mayBegin && isAlone))), isAlone }
    })
    wrote.push(...taken.wrote)
    return taken
  }
  try {
    const known = await take(groups, false)
    if (known.beginning.length === 0 || !known.isAlone) return [...known.others, ...known.beginning]
    const begun = await take(known.beginning, true)
    return [...known.others, ...begun.beginning, ...begun.others]
  } finally {
    // Also when the second one fails: what the first has stored is no longer new when it is done again.
    if (wrote.length > 0) await deps.customersWrote(workspaceId, wrote)
  }
}

async function receiveAlone(deps: ReceiveDeps, { receiver, events }: CustomerGroup): Promise<void> {
  const fieldsOf = ({ type: code }: CustomerEvent) => {
    return { workspaceId: receiver.workspaceId, connectionId: receiver.id, code }
  }
  const passedOver = (event: CustomerEvent) =>
    deps.log.info('change of a message that is not its author’s passed over', fieldsOf(event))
  const apply = (some: readonly CustomerEvent[]) =>
    deps.vault.withKeyring(receiver.workspaceId, (keyring) =>
      withoutRace(() =>
        deps.db.tx((tx: Tx) => applyAlone(tx, { keyring, receiver, now: deps.clock.now(), passedOver }, some)),
      ),
    )
  const receiveSome = async (some: readonly CustomerEvent[]) => {
    const { writer, strays } = await apply(some)
    // Their message may have come with another delivery that found nothing waiting, while there was no conversation to lock.
    if (strays.length > 0) await apply(strays)
    if (writer !== null) await deps.customersWrote(receiver.workspaceId, [writer])
  }
  await passOverFaulty(deps.log, events, receiveSome, fieldsOf)
}
