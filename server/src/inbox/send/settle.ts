import { commitBehind, type Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { recordEvents } from '../../events/record.ts'
import { messageSent } from '../conversation/change.ts'
import { lockConversations } from '../conversation/many-queries.ts'
import { sealExternalId } from '../conversation/message.ts'
import { externalIndex } from '../conversation/sealed.ts'
import { lockExternalIds } from '../receive/early-statuses.ts'
import type { AcceptedPart } from './call-platform.ts'
import { recordResult } from './record-result.ts'
import type { Reserved } from './reserve.ts'
import type { SendDeps } from './send-deps.ts'
import { wakeWaiting } from './send-deps.ts'
import { settleSend } from './settle-parts.ts'
import { type AcceptedSend, type Answer, accepted, findUntold, storeAccepted } from './settle-queries.ts'

/** A send whose only part the platform has accepted. */
export interface AcceptedCall {
  reserved: Reserved
  accepted: AcceptedPart
}

/**
 * Settles a send after its calls. Nearly all are one part that was accepted: these are noted and settled at once, by
 * `settleMany` with others. All others are settled by what is noted of their parts.
 */
export async function settle(
  deps: SendDeps,
  reserved: Reserved,
  accepted: AcceptedPart | null,
  settleMany: (call: AcceptedCall) => Promise<Answer | null>,
): Promise<Answer | null> {
  const answer =
    accepted === null ? null : await deps.step('note', () => settleOrNote(deps, { reserved, accepted }, settleMany))
  return deps.step('settle', async () => answer ?? settleSend(deps, reserved, 'answered'))
}

async function settleOrNote(
  deps: SendDeps,
  call: AcceptedCall,
  settleMany: (call: AcceptedCall) => Promise<Answer | null>,
): Promise<Answer | null> {
  const { reserved, accepted } = call
  const answer = await settleMany(call).catch((error: unknown) => {
    // Should it have been settled for all that, what is noted now changes nothing.
    deps.log.warn('batch settle failed; retrying individually', { messageId: reserved.messageId }, error)
    return null
  })
  if (answer === null) await recordResult(deps, reserved, 1, accepted)
  return answer
}

/**
 * Notes and settles sends of a workspace, each with its only part accepted, in a handful of statements. Null where that is
 * left to `settleSend`: somebody else holds the conversation, or the platform has told of the message already.
 */
export function settleAccepted(
  deps: SendDeps,
  workspaceId: string,
  calls: readonly AcceptedCall[],
): Promise<(Answer | null)[]> {
  return deps.vault.withKeyring(workspaceId, (keyring) => {
    const sends = calls.map((one) => ({ ...one, send: acceptedOf(keyring, one) }))
    return deps.db.tx((tx) => settleIn(deps, tx, keyring, workspaceId, sends))
  })
}

function acceptedOf(keyring: Keyring, { reserved, accepted: { externalId } }: AcceptedCall): AcceptedSend {
  const { messageId, conversationId, connection } = reserved
  return {
    conversationId,
    connectionId: connection.id,
    messageId,
    externalIndex: externalIndex(keyring, connection.id, externalId),
    externalId: sealExternalId(keyring, messageId, externalId),
  }
}

async function settleIn(
  deps: SendDeps,
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  sends: readonly (AcceptedCall & { send: AcceptedSend })[],
): Promise<(Answer | null)[]> {
  const all = distinct(sends.map(({ send }) => send))
  const ids = [...new Set(all.map(({ conversationId }) => conversationId))]
  const [locked, , untold] = await deps.step('lockToSettle', () =>
    Promise.all([
      lockConversations(tx, workspaceId, ids, { skipHeld: true }),
      lockExternalIds(
        tx,
        all.map((one) => one.externalIndex),
      ),
      findUntold(tx, workspaceId, all),
    ]),
  )
  const conversations = new Map(locked.map((one) => [one.id, one]))
  const isUntold = new Set(untold)
  const plain = all.filter(
    ({ messageId, conversationId }) => isUntold.has(messageId) && conversations.has(conversationId),
  )
  if (plain.length === 0) return sends.map(() => null)

  const messages = new Map(sends.map(({ reserved }) => [reserved.messageId, reserved.message]))
  const now = deps.clock.now()
  const events = plain.flatMap(({ messageId, conversationId }) => {
    const [conversation, message] = [conversations.get(conversationId), messages.get(messageId)]
    return conversation && message ? [messageSent(conversation, { ...message, status: 'sent' })] : []
  })
  for (const { conversationId } of plain) wakeWaiting(tx, conversationId)
  await deps.step('writeOutcome', () =>
    commitBehind(tx, () =>
      Promise.all([storeAccepted(tx, workspaceId, plain, now), recordEvents(tx, keyring, workspaceId, events, now)]),
    ),
  )
  const answers = new Map(plain.map(({ messageId }) => [messageId, accepted(messageId, 'sent')]))
  return sends.map(({ reserved }) => answers.get(reserved.messageId) ?? null)
}

/** Without those whose platform gave them the id of another one. */
function distinct(sends: readonly AcceptedSend[]): AcceptedSend[] {
  const byId = new Map<string, AcceptedSend>()
  for (const send of sends) {
    const id = send.externalIndex.toString('base64')
    if (!byId.has(id)) byId.set(id, send)
  }
  return [...byId.values()]
}
