import type { Keyring } from '../../base/encryption/keyring.ts'
import type { Log } from '../../base/log.ts'
import { phoneClass } from '../../base/phone/phone-variants.ts'
import type { ChannelEvent, Customer, Referral } from '../../channels/channel-event.ts'
import type { Channel } from '../../channels/connection/connection.ts'
import type { ConnectionSignal } from '../../channels/health/availability.ts'
import type { ActivityReason } from '../conversation/commit-change.ts'
import type { Contact, InboxDeps } from '../conversation/conversation.ts'

/** The connection that a delivery is for. */
export interface ReceivingConnection {
  workspaceId: string
  id: string
  channel: Channel
}

/** A status with the connection that was told of it. */
export interface StatusReport {
  receiver: ReceivingConnection
  event: StatusEvent
}

/** A customer who wrote, and the ad that brought them, if one did. */
export interface InboundCustomer extends Contact {
  referral: Referral | null
}

export interface ReceiveDeps extends Pick<InboxDeps, 'db' | 'keyStore' | 'clock'> {
  log: Log
  /** What the platform says of the connection or its templates; the channels' to act on. */
  onConnectionEvent(receiver: ReceivingConnection, event: ConnectionEvent): Promise<void>
  /** A send was refused after it had been accepted: some codes mean that the connection cannot send. */
  onSendRefused(receiver: ReceivingConnection, errorCode: string, status: StatusEvent): Promise<void>
  /** Customers wrote; whoever keeps leads may make some of them. Runs after the commit and must not throw. */
  onCustomersWrote(workspaceId: string, writers: readonly InboundCustomer[]): Promise<void>
}

/** What the events of a workspace are applied with. */
export interface WorkspaceReceiveContext {
  keyring: Keyring
  workspaceId: string
  now: Date
}

/** What the events of one connection are applied with. */
export interface ReceiveContext {
  keyring: Keyring
  receiver: ReceivingConnection
  now: Date
  /** Told of an edit, a withdrawal or the like of a message that is not its author's. */
  onSkipped?: (event: CustomerEvent) => void
}

/** Why a conversation changed with an event, as the team reads it. */
export const reasonOf = ({ type }: CustomerEvent): ActivityReason | null =>
  type === 'message' ? 'customer_wrote' : type === 'echo' ? 'phone' : null

type StatusEvent = Extract<ChannelEvent, { type: 'status' }>
export type ConnectionEvent = ConnectionSignal
/** What is told of a customer, and so belongs to one conversation. */
export type CustomerEvent = Exclude<ChannelEvent, StatusEvent | ConnectionEvent>

interface SortedEvents {
  /** What concerns customers, in the order of arrival. */
  customers: CustomerEvent[]
  statuses: StatusEvent[]
  connection: ConnectionEvent[]
}

/** Sorts a delivery, which may hold a thousand items of many customers in any order. */
export function sortDelivery(events: readonly ChannelEvent[]): SortedEvents {
  const sorted: SortedEvents = { customers: [], statuses: [], connection: [] }
  for (const event of events) {
    if (event.type === 'status') sorted.statuses.push(event)
    else if (isOfConnection(event)) sorted.connection.push(event)
    else sorted.customers.push(event)
  }
  return sorted
}

const connectionTypes: ReadonlySet<string> = new Set<ConnectionEvent['type']>([
  'templates_changed',
  'connection_state',
  'account_restricted',
])

const isOfConnection = (event: ChannelEvent): event is ConnectionEvent => connectionTypes.has(event.type)

/** One list for each customer, in the order of the platform's time; ties in the order of arrival. */
export function groupByCustomer(events: readonly CustomerEvent[]): CustomerEvent[][] {
  const groupOf = new Map<string, CustomerEvent[]>()
  const groups = new Set<CustomerEvent[]>()
  for (const event of events) {
    const names = namesOf(event)
    const known = new Set(names.map((name) => groupOf.get(name)).filter((group) => group !== undefined))
    const [only] = known
    if (only !== undefined && known.size === 1) {
      only.push(event)
      for (const name of names) groupOf.set(name, only)
      continue
    }
    // An event that names two groups, by user id and by phone, shows that they are one customer's.
    const group = [...[...known].flat(), event]
    for (const each of known) groups.delete(each)
    groups.add(group)
    for (const each of group) for (const name of namesOf(each)) groupOf.set(name, group)
  }
  return [...groups].map((group) => group.sort(byTime))
}

function namesOf(event: CustomerEvent): string[] {
  const customers = event.type === 'customer_changed' ? [event.previous, event.customer] : [event.customer]
  return customers.flatMap(namesOfCustomer)
}

function namesOfCustomer({ userId, phone }: Customer): string[] {
  return [...(userId === null ? [] : [`user ${userId}`]), ...(phone === null ? [] : [`phone ${phoneClass(phone)}`])]
}

// A name from a contact book has no time: it counts least, so it comes last.
function byTime(a: CustomerEvent, b: CustomerEvent): number {
  return timeOf(a) - timeOf(b) || 0
}

function timeOf(event: CustomerEvent): number {
  return event.type === 'contact_named' ? Number.MAX_SAFE_INTEGER : event.at.getTime()
}
