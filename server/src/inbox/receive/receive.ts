import { batch } from '../../base/async/batch.ts'
import { isUndone, type Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { ChannelEvent } from '../../channels/channel-event.ts'
import { applyTogether } from './apply-together.ts'
import { receiveStatuses } from './delivery-statuses.ts'
import type { CustomerGroup } from './draft.ts'
import { type CustomerEvent, groupByCustomer, sortDelivery } from './group-events.ts'
import { isPermanentError } from './permanent-errors.ts'
import { applyEvents } from './receive-events.ts'
import type { ReceiveDeps, Receiver, ToldStatus, Writer } from './receiver.ts'
import { withoutRace } from './without-race.ts'

/** Takes in what a platform told of one connection. */
export type ReceiveDelivery = (receiver: Receiver, events: readonly ChannelEvent[]) => Promise<void>

// Two transactions of a workspace at a time: one that waits for a conversation must not hold up all the others.
const [transactionsAtOnce, maxDeliveries, maxEvents] = [2, 64, 500]

/**
 * Takes a delivery in. Resolves once everything of it is committed, so that it may be acknowledged; rejects when the
 * database is away, so that it must come again. A repeat changes nothing. An item that cannot be stored, now or ever, is
 * logged and passed over: it must not hold up the others of its delivery.
 */
export function receive(deps: ReceiveDeps, receiver: Receiver, events: readonly ChannelEvent[]): Promise<void> {
  return receiveAll(deps, receiver, events, {
    customers: (workspaceId, delivery) => receiveCustomers(deps, workspaceId, [delivery]),
    statuses: (workspaceId, told) => receiveStatuses(deps, workspaceId, told),
  })
}

/** `receive` for many: deliveries of one workspace that come in a busy moment go together; none fails with another. */
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
  const take: Take = {
    customers: together((workspaceId, deliveries) => receiveCustomers(deps, workspaceId, deliveries)),
    statuses: together((workspaceId, told) => receiveStatuses(deps, workspaceId, told.flat())),
  }
  return (receiver, events) => receiveAll(deps, receiver, events, take)
}

/** Takes a part of a delivery, alone or with others. */
interface Take {
  customers(workspaceId: string, delivery: Delivery): Promise<void>
  statuses(workspaceId: string, told: readonly ToldStatus[]): Promise<void>
}

async function receiveAll(
  deps: ReceiveDeps,
  receiver: Receiver,
  events: readonly ChannelEvent[],
  take: Take,
): Promise<void> {
  const { workspaceId } = receiver
  const { customers, statuses, connection } = sortDelivery(events)
  const failures: unknown[] = []
  const attempt = async (work: () => Promise<void>) => work().catch((error: unknown) => failures.push(error))
  if (customers.length > 0) await attempt(() => take.customers(workspaceId, { receiver, events: customers }))
  if (statuses.length > 0) {
    const told = statuses.map((event) => ({ receiver, event }))
    await attempt(() => take.statuses(workspaceId, told))
  }
  for (const event of connection) await attempt(() => deps.connectionTold(receiver, event))
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
    await receiveEach(deps, others)
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
      const together = { keyring, workspaceId, now: deps.clock.now(), mayBegin: mayBegin && isAlone }
      return { ...(await deps.db.tx((tx: Tx) => applyTogether(tx, together, some))), isAlone }
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

async function receiveEach(deps: ReceiveDeps, groups: readonly CustomerGroup[]): Promise<void> {
  const failures: unknown[] = []
  for (const { receiver, events } of groups) {
    await receiveGroup(deps, receiver, events).catch((error: unknown) => failures.push(error))
  }
  if (failures.length > 0) throw failures[0]
}

async function receiveGroup(deps: ReceiveDeps, receiver: Receiver, group: CustomerEvent[]): Promise<void> {
  try {
    await receiveOne(deps, receiver, group)
  } catch (error) {
    if (!isPermanentError(error)) throw error
    if (group.length > 1) {
      for (const event of group) await receiveGroup(deps, receiver, [event])
      return
    }
    const fields = { workspaceId: receiver.workspaceId, connectionId: receiver.id, code: group[0]?.type }
    deps.log.error('inbound item passed over', fields, error)
  }
}

async function receiveOne(deps: ReceiveDeps, receiver: Receiver, group: CustomerEvent[]): Promise<void> {
  const passedOver = ({ type: code }: CustomerEvent) => {
    const fields = { workspaceId: receiver.workspaceId, connectionId: receiver.id, code }
    deps.log.info('change of a message that is not its author’s passed over', fields)
  }
  const strayed = (event: CustomerEvent) => void strays.push(event)
  let strays: CustomerEvent[] = []
  const intakeOf = (keyring: Keyring) => ({ keyring, receiver, now: deps.clock.now(), passedOver, strayed })
  const apply = (keyring: Keyring, events: readonly CustomerEvent[]) =>
    withoutRace(() => {
      strays = []
      return deps.db.tx((tx: Tx) => applyEvents(tx, intakeOf(keyring), events))
    })
  const work = (keyring: Keyring) => apply(keyring, group)
  const lookAgain = (keyring: Keyring) => apply(keyring, strays)
  const wrote = await deps.vault.withKeyring(receiver.workspaceId, work)
  // Their message may have come with another delivery that found nothing waiting, while there was no conversation to lock.
  if (strays.length > 0) await deps.vault.withKeyring(receiver.workspaceId, lookAgain)
  if (wrote.length > 0) await deps.customersWrote(receiver.workspaceId, wrote)
}
