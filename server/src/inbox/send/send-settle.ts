import type { Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { type NewEvent, recordEvents } from '../../events/record.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { messageSent, messageStatusChanged } from '../conversation/events.ts'
import { type Message, openMessage } from '../conversation/message.ts'
import { lockConversation } from '../conversation/queries.ts'
import { climb } from '../conversation/status-ladder.ts'
import { applyEarlyStatuses } from '../receive/early-statuses.ts'
import type { DispatchKey } from './dispatch-queries.ts'
import { persist } from './persist.ts'
import type { SendDeps } from './send-deps.ts'
import { type Answer, type Ending, endOf } from './send-outcome.ts'
import { wakeWaiting } from './send-wakeups.ts'
import { findAnswer, lockDispatch, lockParts, storeOutcome } from './settle-queries.ts'

export type SettleDeps = Pick<SendDeps, 'db' | 'vault' | 'clock' | 'step'>

/**
 * Makes of what is known about the parts the message's status, the answer that every repeat gets, and the events. Null
 * while it cannot be said: then a status of the platform or the passing of time will tell. A send that is settled
 * already keeps its first answer.
 */
export async function settleSend(
  deps: SettleDeps,
  keyring: Keyring,
  dispatch: DispatchKey,
  ending: Ending,
): Promise<Answer | null> {
  const scope = { workspaceId: dispatch.workspaceId, connectionIds: [] }
  return persist(() =>
    deps.db.tx(async (tx) => {
      const conversation = await deps.step('lockToSettle', () =>
        lockConversation(tx, keyring, scope, dispatch.conversationId),
      )
      if (conversation === undefined) return null
      return deps.step('writeOutcome', () => settle(tx, keyring, dispatch, conversation, ending, deps.clock.now()))
    }),
  )
}

async function settle(
  tx: Tx,
  keyring: Keyring,
  dispatch: DispatchKey,
  conversation: Conversation,
  ending: Ending,
  now: Date,
): Promise<Answer | null> {
  const { workspaceId, messageId } = dispatch
  const found = await lockParts(tx, workspaceId, messageId)
  if (found === undefined) return null
  const earlier = await findAnswer(tx, workspaceId, messageId)
  if (earlier !== null) return earlier
  const way = await lockDispatch(tx, workspaceId, messageId)
  const end = endOf(messageId, found.parts, way?.verdict ?? null, ending)
  if (end === null) return null

  const before = openMessage(keyring, found.row)
  const message = { ...before, ...(climb(before, end.rung) ?? before), settleBy: null }
  const externalIndex = end.parts.find(({ part }) => part === 1)?.externalIndex ?? null
  await Promise.all([
    storeOutcome(tx, workspaceId, messageId, {
      rung: message,
      parts: end.parts,
      answer: end.answer,
      externalId: way?.external_id ?? null,
      externalIndex,
    }),
    recordEvents(tx, keyring, workspaceId, eventsOf(conversation, before, message, now), now),
    wakeWaiting(tx, dispatch.conversationId),
  ])
  await applyEarlyStatuses(tx, keyring, workspaceId, conversation, messageId, now)
  return end.answer
}

// A status of the platform may have been faster than its own answer: then the message has been told of.
function eventsOf(conversation: Conversation, before: Message, after: Message, now: Date): NewEvent[] {
  if (before.status === 'pending') return [messageSent(conversation, after)]
  if (before.status === after.status) return []
  return [messageStatusChanged(conversation, after.id, after, now)]
}
