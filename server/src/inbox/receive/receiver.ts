import type { Log } from '../../base/log.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { Referral } from '../../channels/channel-event.ts'
import type { Channel } from '../../channels/connection/connection.ts'
import type { ActivityReason } from '../conversation/activity.ts'
import type { Contact, InboxDeps } from '../conversation/conversation.ts'
import type { ConnectionEvent, CustomerEvent, StatusEvent } from './group-events.ts'

/** The connection that a delivery is for. */
export interface Receiver {
  workspaceId: string
  id: string
  channel: Channel
}

/** A status with the connection that was told of it. */
export interface ToldStatus {
  receiver: Receiver
  event: StatusEvent
}

/** A customer who wrote, and the ad that brought them, if one did. */
export interface Writer extends Contact {
  referral: Referral | null
}

export interface ReceiveDeps extends Pick<InboxDeps, 'db' | 'vault' | 'clock'> {
  log: Log
  /** What the platform says of the connection or its templates; the channels' to act on. */
  connectionTold(receiver: Receiver, event: ConnectionEvent): Promise<void>
  /** A send was refused after it had been accepted: some codes mean that the connection cannot send. */
  sendRefused(receiver: Receiver, errorCode: string, status: StatusEvent): Promise<void>
  /** Customers wrote; whoever keeps leads may make some of them. Runs after the commit and must not throw. */
  customersWrote(workspaceId: string, writers: readonly Writer[]): Promise<void>
}

/** What the events of a workspace are applied with. */
export interface WorkspaceIntake {
  keyring: Keyring
  workspaceId: string
  now: Date
}

/** What the events of one connection are applied with. */
export interface Intake {
  keyring: Keyring
  receiver: Receiver
  now: Date
  /** Told of an edit, a withdrawal or the like of a message that is not its author's. */
  passedOver?: (event: CustomerEvent) => void
}

/** Why a conversation changed with an event, as the team reads it. */
export const reasonOf = ({ type }: CustomerEvent): ActivityReason | null =>
  type === 'message' ? 'customer_wrote' : type === 'echo' ? 'phone' : null
