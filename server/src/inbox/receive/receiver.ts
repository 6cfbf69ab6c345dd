import type { Log } from '../../base/log.ts'
import { phoneClass } from '../../base/phone/phone-variants.ts'
import type { ChannelEvent, Customer, Referral } from '../../channels/channel-event.ts'
import type { Channel } from '../../channels/connection/connection.ts'
import type { ConnectionSignal } from '../../channels/health/platform-signals.ts'
import type { ConsentKeywords } from '../../consents/consent.ts'
import type { ServiceSettings } from '../../workspaces/service/service-settings.ts'
import type { ActivityReason } from '../conversation/commit-change.ts'
import type { ChangeDeps, ChangeTx, Contact } from '../conversation/conversation.ts'

/** Connection that receives a delivery. */
export interface ReceivingConnection {
  workspaceId: string
  id: string
  channel: Channel
}

/** A delivery status with its connection. */
export interface StatusReport {
  receiver: ReceivingConnection
  event: StatusEvent
}

/** A customer who wrote, with the ad that brought them, if any. */
export interface InboundCustomer extends Contact {
  referral: Referral | null
}

export interface ReceiveDeps extends ChangeDeps {
  log: Log
  /** Handles platform events about the connection or its templates. */
  onConnectionEvent(receiver: ReceivingConnection, event: ConnectionEvent): Promise<void>
  /** Handles a failure of an accepted send: some error codes mean that the connection cannot send. */
  onSendRefused(receiver: ReceivingConnection, errorCode: string, status: StatusEvent): Promise<void>
  /** Handles customers who wrote; leads may be created. Runs after the commit and must not throw. */
  onCustomersWrote(workspaceId: string, writers: readonly InboundCustomer[]): Promise<void>
}

export interface WorkspaceReceiveContext extends ChangeTx {
  keywords: ConsentKeywords
  service: ServiceSettings
}

export interface ReceiveContext extends WorkspaceReceiveContext {
  receiver: ReceivingConnection
  /** Called for a revision that is not by the message's author. */
  onSkipped?: (event: CustomerEvent) => void
}

/** Returns the reason for the activities that an event causes. */
export const reasonOf = (event: CustomerEvent): ActivityReason | null => {
  if (event.type === 'message') return 'customer_wrote'
  return event.type === 'echo' && !event.isStandby ? 'phone' : null
}

type StatusEvent = Extract<ChannelEvent, { type: 'status' }>
export type ConnectionEvent = ConnectionSignal | Extract<ChannelEvent, { type: 'volume_tier' }>
/** Event of a customer, and thus of one conversation. */
export type CustomerEvent = Exclude<ChannelEvent, StatusEvent | ConnectionEvent>

interface SortedEvents {
  /** In order of arrival. */
  customers: CustomerEvent[]
  statuses: StatusEvent[]
  connection: ConnectionEvent[]
}

/** Sorts a delivery, which can contain a thousand items of many customers in any order. */
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
  'number_status',
  'volume_tier',
])

const isOfConnection = (event: ChannelEvent): event is ConnectionEvent => connectionTypes.has(event.type)

/** Groups events by customer, sorted by platform time; ties keep the order of arrival. */
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
    // An event that matches two groups, by user id and by phone, shows that they belong to one customer.
    const group = [...[...known].flat(), event]
    for (const each of known) groups.delete(each)
    groups.add(group)
    for (const name of [...names, ...[...known].flat().flatMap(namesOf)]) groupOf.set(name, group)
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

// A name from a contact book has no time. It has the lowest priority, so it is last.
function byTime(a: CustomerEvent, b: CustomerEvent): number {
  return timeOf(a) - timeOf(b) || 0
}

function timeOf(event: CustomerEvent): number {
  return event.type === 'contact_named' ? Number.MAX_SAFE_INTEGER : event.at.getTime()
}
