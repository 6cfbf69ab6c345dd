import { setTimeout as sleep } from 'node:timers/promises'
import type { ApprovalRules, SendLimits } from '../../auth/api-keys/caller.ts'
import { type Db, type Fragment, publish, type Sql, type Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import type { Log } from '../../base/log.ts'
import type { RunStep } from '../../base/run-step.ts'
import type { Channel, Connection } from '../../channels/connection/connection.ts'
import type { Recipient, RefusalEffect, SendResult } from '../../channels/connector.ts'
import type { MediaTransport } from '../../channels/media-transport.ts'
import type { MediaStore } from '../../media/store/store.ts'
import type { OpeningHours } from '../../team/opening-hours.ts'
import { type Actor, systemActor } from '../../workspaces/actor.ts'
import type { ChangeTx, Conversation, InboxDeps } from '../conversation/conversation.ts'
import type { SeenPosition } from '../conversation/conversation-state.ts'
import type { Message, Source } from '../conversation/message.ts'
import type { SendCommand } from './send-command.ts'
import type { SendRates } from './send-rate.ts'

/** Steps of a send, in the order in which they end; a crash can happen after each. `upload` is for files only. */
export const sendSteps = [
  'read',
  'lock',
  'check',
  'write',
  'reserve',
  'upload',
  'awaitTurn',
  'awaitRate',
  'allow',
  'call',
  'record',
  'lockToSettle',
  'writeOutcome',
  'settle',
] as const
export type SendStep = (typeof sendSteps)[number]

export interface SendDeps extends InboxDeps {
  log: Log
  wakeups: SendWakeups
  sendRatesOf(connection: Connection): SendRates
  /** Returns the connections that were not removed, with decrypted credentials; `ids` is SQL. */
  connectionsIn(sql: Sql, keyring: Keyring, workspaceId: string, ids: Fragment): Promise<Connection[]>
  /** Returns how a channel transfers files; undefined if it supports none. */
  mediaTransportOf(channel: Channel): MediaTransport | undefined
  store: MediaStore
  /** Called after a refused message with what the refusal means for the connection, and its recipient. */
  recordRefusal(connection: Connection, effect: RefusalEffect, errorCode: string, to: Recipient): Promise<void>
  /** Called when the platform accepted a send that probed a hold of the connection, with the reason of the hold. */
  recordAcceptance(connection: Connection, reason: string): Promise<void>
  /** How long a send waits for its turn, in ms; 25 s by default. */
  maxTurnMs?: number
  /** Interval of lease renewals during an upload, in ms; 4 s by default. */
  renewEveryMs?: number
  step: RunStep<SendStep>
}

/** Sender of a message: an API key as `agent`, a member or a team token, or as `system` the service or one of its rules. */
export interface Sender {
  workspaceId: string
  actor: { type: 'agent' | 'user' | 'token' | 'system'; id: string }
  /** Connections that the sender can use; empty means all. */
  connectionIds: readonly string[]
  /** Limits of the key; absent means unlimited. */
  limits?: SendLimits
  /** Into how many messages one text may be cut; absent means as many as it needs. */
  maxParts?: number
  /** Whether a broadcast may write to customers whom an agent answers; absent means no. */
  reachesAgents?: true
  /** When a person must approve what the key sends, and the business hours; absent means never. */
  approval?: { rules: ApprovalRules; hours: OpeningHours | null }
}

const serviceId = '00000000-0000-0000-0000-000000000000'

/**
 * The service as the sender of automatic messages, which answer nothing and take nothing over. Its idempotency keys are
 * stored under an id that no key or person has.
 */
export const systemSender = (workspaceId: string): Sender => ({
  workspaceId,
  actor: { type: 'system', id: serviceId },
  connectionIds: [],
})

/** Returns whether an automation rule or a broadcast sends; the id is theirs. */
export const isRule = ({ type, id }: Sender['actor']): boolean => type === 'system' && id !== serviceId

export const actorOfSender = ({ actor }: Sender): Actor =>
  actor.type === 'system' && !isRule(actor) ? systemActor : actor

/** Judges under the lock of the conversation, in its transaction, whether the work may go on; throws if not. */
export type LockedCheck = (work: ChangeTx, conversation: Conversation) => Promise<void>

/** Runs in the transaction that reserves a send, once nothing else can refuse it. Throws to take it back. */
export type ReservedHook = (work: ChangeTx, message: Pick<Message, 'id' | 'conversationId'>) => Promise<void>

/** A draft of an agent that a person approves with this send. */
export interface DraftApproval {
  id: string
  by: { type: 'user' | 'token'; id: string }
  status: 'sent' | 'edited'
  text: string | null
  /** How much of the text was changed, from 0 to 1. */
  distance: number
}

/** Result of one part of a send; `stopped` means that the platform was not called. */
export type PartOutcome = { outcome: 'stopped'; errorCode: string } | SendResult

/** Effects of a send on its conversation. */
export interface SendEffects {
  /** Whether the customer was not waiting for an answer. */
  isUnsolicited: boolean
  /** Whether customer messages that the sender had not seen stay unanswered. */
  leavesUnseen: boolean
  /** Whether it marked customer messages read. */
  readsMessages: boolean
  /** How many messages of the platform it became. */
  parts: number
  channel: Channel
  isTemplate: boolean
}

/** Response to a send request; its effects only if this request sent the message. */
export interface SendResponse extends Partial<SendEffects> {
  status: number
  /** Exact text, identical for each replay. */
  body: string
  isReplay: boolean
}

/** Parsed send request, not validated yet. */
export interface ParsedSend {
  sender: Sender
  conversationId: string
  key: string
  command: SendCommand
  /** What is compared with an earlier send of the same key; defaults to the command. */
  identity?: object
  /** How far the sender had seen: newer messages stay unanswered. If absent, the send answers all. */
  seen?: SeenPosition | undefined
  /** Newest message seen by the sender: the send fails if there are newer ones. Null for no check. */
  lastSeenId: string | null
  /** Whether a person sends it although a budget is used up. */
  isOverBudget?: boolean
  /** The draft that it closes. */
  draft?: DraftApproval | undefined
  /** Articles that it used, for people. */
  sources?: readonly Source[] | undefined
  /** Checked under the conversation's lock: otherwise nothing is sent. */
  onlyIf?: ((conversation: Conversation) => boolean) | undefined
  check?: LockedCheck | undefined
  reserved?: ReservedHook | undefined
  /** Whether a message of a rule answers the customer. */
  isAnswer?: boolean | undefined
}

/** Wakes requests that wait for a send of a conversation to be settled, on any node. */
interface SendWakeups {
  /** Resolves when the next send of the conversation is settled, or on timeout. Call it before reading the state. */
  next(conversationId: string, maxMs: number): Promise<void>
}

/** Settled sends: the id is the conversation. */
const settledTopic = 'sends_settled'

export function openSendWakeups(db: Pick<Db, 'subscribe'>): SendWakeups {
  const waiting = new Map<string, Set<() => void>>()
  db.subscribe(settledTopic, (conversationId) => {
    for (const wake of [...(waiting.get(conversationId) ?? [])]) wake()
  })
  return {
    next: (conversationId, maxMs) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const set = waiting.get(conversationId) ?? new Set()
      waiting.set(conversationId, set)
      const wake = () => {
        clearTimeout(timer)
        set.delete(wake)
        if (set.size === 0 && waiting.get(conversationId) === set) waiting.delete(conversationId)
        resolve()
      }
      const timer = setTimeout(wake, maxMs)
      set.add(wake)
      return promise
    },
  }
}

/** Call it in the transaction that settles a send. Uses `publish` because NOTIFY serializes commits. */
export function wakeWaiting(tx: Tx, conversationId: string): void {
  publish(tx, settledTopic, conversationId)
}

const delaysMs = [50, 250, 1000, 3000]

/** Retries the write: a short database outage must not lose the platform's response. */
export async function retryWrite<T>(work: () => Promise<T>): Promise<T> {
  for (const delayMs of delaysMs) {
    try {
      return await work()
    } catch {
      await sleep(delayMs)
    }
  }
  return work()
}
