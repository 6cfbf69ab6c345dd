import { commitBehind, type Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { recordEvents } from '../../events/record.ts'
import { messageSent } from '../conversation/events.ts'
import { lockConversations } from '../conversation/many-queries.ts'
import { sealExternalId } from '../conversation/message.ts'
import { externalIndex } from '../conversation/sealed.ts'
import { lockExternalIds } from '../receive/early-statuses.ts'
import type { SendDeps } from './send-deps.ts'
import { type Answer, accepted } from './send-queries.ts'
import type { Reserved } from './send-reserve.ts'
import { wakeWaiting } from './send-wakeups.ts'
import { type AcceptedSend, findUntold, storeAccepted } from './together-queries.ts'

/** A send whose only part the platform has accepted. */
export interface Sent {
  reserved: Reserved
  externalId: string
}

/**
 * Notes and settles sends of a busy moment, each with its only part accepted, in a handful of statements. Null where
 * that is left to `settleSend`: somebody else holds the conversation, or the platform has told of the message already.
 */
export function settleTogether(deps: SendDeps, workspaceId: string, sent: readonly Sent[]): Promise<(Answer | null)[]> {
  return deps.vault.withKeyring(workspaceId, (keyring) => {
    const sends = sent.map((one) => ({ ...one, accepted: acceptedOf(keyring, one) }))
    return deps.db.tx((tx) => settle(deps, tx, keyring, workspaceId, sends))
  })
}

function acceptedOf(keyring: Keyring, { reserved, externalId }: Sent): AcceptedSend {
  const { messageId, conversationId, connection } = reserved
  return {
    conversationId,
    connectionId: connection.id,
    messageId,
    externalIndex: externalIndex(keyring, connection.id, externalId),
    externalId: sealExternalId(keyring, messageId, externalId),
  }
}

type Accepted = Sent & { accepted: AcceptedSend }

async function settle(
  deps: SendDeps,
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  sends: readonly Accepted[],
): Promise<(Answer | null)[]> {
  const all = distinct(sends.map((one) => one.accepted))
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
