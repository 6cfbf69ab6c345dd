import type { Tx } from '../base/db.ts'
import type { Keyring } from '../base/keyring.ts'
import { recordEvents } from '../events/record.ts'
import type { Conversation } from './conversation.ts'
import type { DispatchKey } from './dispatch-queries.ts'
import { messageSent, messageStatusChanged } from './events.ts'
import { openMessage } from './message.ts'
import { persist } from './persist.ts'
import { lockConversation } from './queries.ts'
import type { SendDeps } from './send-deps.ts'
import { type Answer, type Ending, endOf, type Part } from './send-outcome.ts'
import { findAnswer, lockDispatch, lockUnsettled, storeOutcome } from './settle-queries.ts'
import { wakeWaiting } from './wakes.ts'

/**
 * Makes of what is known about the parts the message's status, the answer that every repeat gets, and the events. Null
 * while it cannot be said: then a status of the platform or the passing of time will tell. A send that is settled
 * already keeps its first answer.
 */
export async function settleSend(
  deps: SendDeps,
  keyring: Keyring,
  dispatch: DispatchKey,
  ending: Ending,
): Promise<Answer | null> {
  const scope = { workspaceId: dispatch.workspaceId, connectionIds: [] }
  return persist(() =>
    deps.db.tx(async (tx) => {
      const conversation = await lockConversation(tx, keyring, scope, dispatch.conversationId)
      if (conversation === undefined) return null
      await deps.fail?.('settling')
      const answer = await settleLocked(tx, keyring, dispatch, conversation, ending, deps.clock.now())
      await deps.fail?.('settleWritten')
      return answer
    }),
  )
}

/** As `settleSend`, for a transaction that holds the conversation's lock. */
export async function settleLocked(
  tx: Tx,
  keyring: Keyring,
  dispatch: DispatchKey,
  conversation: Conversation,
  ending: Ending,
  now: Date,
): Promise<Answer | null> {
  const { workspaceId, messageId } = dispatch
  const unsettled = await lockUnsettled(tx, workspaceId, messageId)
  if (unsettled === undefined) return findAnswer(tx, workspaceId, messageId)
  const found = await lockDispatch(tx, workspaceId, messageId)
  const end = endOf(messageId, unsettled.parts, found?.verdict ?? null, ending)
  if (end === null) return null

  const { first, rung, answer } = end
  const message = { ...openMessage(keyring, unsettled.message), ...first, settleBy: null }
  const sent = messageSent(conversation, message)
  const later = rung.status === first.status ? [] : [messageStatusChanged(conversation.id, messageId, rung, now)]
  await Promise.all([
    storeOutcome(tx, workspaceId, messageId, end, found?.external_id ?? null, externalIndexOf(end.parts)),
    recordEvents(tx, keyring, workspaceId, [sent, ...later], now),
    wakeWaiting(tx, dispatch.conversationId),
  ])
  return answer
}

function externalIndexOf(parts: readonly Part[]): Buffer | null {
  return parts.find(({ part }) => part === 1)?.externalIndex ?? null
}
