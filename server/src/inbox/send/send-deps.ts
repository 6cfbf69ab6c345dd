import { setTimeout as sleep } from 'node:timers/promises'
import type { SendLimits } from '../../auth/api-keys/caller.ts'
import { type Db, type Fragment, publish, type Sql, type Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import type { Log } from '../../base/log.ts'
import type { RunStep } from '../../base/steps.ts'
import type { Channel, Connection } from '../../channels/connection/connection.ts'
import type { Recipient, RefusalEffect, SendResult } from '../../channels/connector.ts'
import type { MediaWay } from '../../channels/media-transport.ts'
import type { MediaStore } from '../../media/store/store.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import type { SeenPosition } from '../conversation/conversation-state.ts'
import type { SendCommand } from './send-command.ts'
import type { SendRates } from './send-rate.ts'

/** The steps of a send, in order of their ends: after each of them a crash could tear it apart. Only files are uploaded. */
export const sendSteps = [
  'read',
  'lock',
  'check',
  'write',
  'reserve',
  'upload',
  'awaitTurn',
  'awaitPace',
  'allow',
  'call',
  'note',
  'lockToSettle',
  'writeOutcome',
  'settle',
] as const
export type SendStep = (typeof sendSteps)[number]

export interface SendDeps extends InboxDeps {
  log: Log
  wakeups: SendWakeups
  sendRatesOf(connection: Connection): SendRates
  /** Those of the connections that were not removed, with their secrets open; their ids as SQL. */
  connectionsIn(sql: Sql, keyring: Keyring, workspaceId: string, ids: Fragment): Promise<Connection[]>
  /** How a channel takes files; undefined where it takes none. */
  mediaTransportOf(channel: Channel): MediaWay | undefined
  /** Where files are. */
  store: MediaStore
  /** Told after a refused message what the refusal means for the connection, and whom it was for. */
  recordRefusal(connection: Connection, effect: RefusalEffect, errorCode: string, to: Recipient): Promise<void>
  /** Told that the platform took a send which was to try whether a hold of the connection is over, by its reason. */
  recordAcceptance(connection: Connection, reason: string): Promise<void>
  /** How long a send waits for its turn; 25 s when it is not given. */
  maxTurnMs?: number
  /** How often a send renews its lease while the platform is given its file; every 4 s when it is not given. */
  renewEveryMs?: number
  /** Runs each step of a send. */
  step: RunStep<SendStep>
}

/** Who sends: an API key as `agent`, or somebody of the team. */
export interface Sender {
  workspaceId: string
  actor: { type: 'agent' | 'user' | 'token'; id: string }
  /** Connections that the sender may use; empty means every one. */
  connectionIds: readonly string[]
  /** How much it may send; absent: any number. */
  limits?: SendLimits
}

/** What became of one part of a send; `stopped`: we have not asked the platform. */
export type PartOutcome = { outcome: 'stopped'; errorCode: string } | SendResult

/** What a send means for its conversation. */
export interface SendMeaning {
  /** Whether the customer waits for no answer. */
  isUnsolicited: boolean
  /** Whether the customer wrote what the sender had not seen: that stays unanswered. */
  leavesUnseen: boolean
  /** Whether it made customer messages read that were not. */
  readsMessages: boolean
}

/** What a request to send is answered with; what it means only where this request has sent it. */
export interface SendResponse extends Partial<SendMeaning> {
  status: number
  /** The very text, the same at each repeat. */
  body: string
  isReplay: boolean
}

/** What a request asks for, read and not yet judged. */
export interface ParsedSend {
  sender: Sender
  conversationId: string
  key: string
  command: SendCommand
  /** What makes it the same as another one of its key; the command, where it is absent. */
  identity?: object
  /** How far the sender had seen: what came since stays unanswered. Absent: it answers whatever is there. */
  seen?: SeenPosition | undefined
  /** The newest message that the sender has seen: with news since, nothing is sent. Null: whatever there is. */
  lastSeenId: string | null
}

/** Wakes those who wait for a send of a conversation to be settled, on whichever node. */
interface SendWakeups {
  /** Resolves at the next settled send of the conversation, or after this time. Ask before looking, then wait. */
  next(conversationId: string, maxMs: number): Promise<void>
}

/** Sends of a conversation that are settled: the id is the conversation. */
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

/** To be called in the transaction that settles a send. Announced rather than notified: that has commits wait for each other. */
export function wakeWaiting(tx: Tx, conversationId: string): void {
  publish(tx, settledTopic, conversationId)
}

const delaysMs = [50, 250, 1000, 3000]

/** Does it again while it fails: what the platform answered must not be lost to a database that is briefly away. */
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
