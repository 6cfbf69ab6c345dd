import type { Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { Connection } from '../../channels/connection/connection.ts'
import { findTemplate } from '../../channels/templates/templates.ts'
import { recordEvents } from '../../events/record.ts'
import { type ConversationChange, changeOwner } from '../conversation/change.ts'
import { commitChange, recordDifference } from '../conversation/commit-change.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { newConversation } from '../conversation/customer.ts'
import { agentHasIt, agentsStopped, connectionNotFound, heldByPeople, keyCannotOwn } from '../conversation/errors.ts'
import { lockCustomer } from '../conversation/lock-customer.ts'
import { insertConversations } from '../conversation/many-queries.ts'
import { agent, refusalToTake } from '../conversation/owner.ts'
import { withoutRace } from '../receive/permanent-errors.ts'
import { namesNothing } from '../send/check-named.ts'
import { checkSend } from '../send/send-checks.ts'
import type { SendCommand } from '../send/send-command.ts'
import type { SendDeps, Sender } from '../send/send-deps.ts'
import { countSends } from '../send/send-limits.ts'
import { agentCanOwn, readAgentRules } from './agents.ts'
import type { HandingAgent } from './hand-over.ts'

export interface Beginning {
  connectionId: string
  /** Digits with country code. */
  phone: string
  /** What the customer will be sent: a conversation begins only for a message that can be. */
  template: Extract<SendCommand, { kind: 'template' }>
}

export interface Begun {
  conversation: Conversation
  /** False where the customer had one already. */
  isNew: boolean
}

/**
 * A conversation with a customer who may never have written, for the caller to send a template in. One that is there becomes
 * an agent's if nobody has it; a person takes it by sending. Throws 404 for a connection outside the scope, for agents 403
 * while they are stopped and 409 for a conversation of people or of another agent, and what sending the template would
 * throw; nothing begins then.
 */
export async function beginConversation(deps: SendDeps, caller: Sender, asked: Beginning): Promise<Begun> {
  const { workspaceId, connectionIds } = caller
  const isSeen = connectionIds.length === 0 || connectionIds.includes(asked.connectionId)
  const connection = isSeen ? await deps.openConnection(workspaceId, asked.connectionId) : null
  if (connection === null) throw connectionNotFound()
  return deps.vault.withKeyring(workspaceId, (keyring) =>
    withoutRace(() => deps.db.tx((tx) => begin(tx, keyring, caller, connection, asked, deps.clock.now()))),
  )
}

async function begin(
  tx: Tx,
  keyring: Keyring,
  caller: Sender,
  connection: Connection,
  { phone, template: command }: Beginning,
  now: Date,
): Promise<Begun> {
  const { workspaceId, actor } = caller
  if (isAgent(caller)) await checkAgent(tx, caller, connection.id, now)
  const template = (await findTemplate(tx, workspaceId, connection.id, command.name, command.language)) ?? null
  const customer = { userId: null, parentUserId: null, phone, name: null }
  const found = await lockCustomer(tx, keyring, { workspaceId, connectionId: connection.id }, customer, now)
  const before = found ?? newConversation(connection, customer, 'hearsay', now, now)
  const change = isAgent(caller) ? taken(before, caller, now) : { conversation: before, events: [] }
  const { conversation } = change
  checkSend({
    ...{ command, sender: caller, conversation, readiness: connection, template, named: namesNothing, now },
    maxTextLength: null,
    takesChoices: false,
    mediaWay: undefined,
  })
  // Its own conversation may be asked for again, for the sake of the answer that was lost.
  if (isAgent(caller) && before.ownerEpoch !== conversation.ownerEpoch)
    await checkLimits(tx, caller, conversation.id, now)
  if (found !== undefined) {
    if (conversation === before) return { conversation, isNew: false }
    await commitChange({ tx, keyring, workspaceId, now }, before, change, { actor, reason: null })
    return { conversation, isNew: false }
  }
  await Promise.all([
    insertConversations({ tx, keyring, workspaceId }, [conversation]),
    recordDifference(tx, workspaceId, before, conversation, { actor, reason: 'began' }, now),
    recordEvents(tx, keyring, workspaceId, change.events, now),
  ])
  return { conversation, isNew: true }
}

const isAgent = (caller: Sender): caller is HandingAgent => caller.actor.type === 'agent'

async function checkAgent(
  tx: Tx,
  { workspaceId, actor }: HandingAgent,
  connectionId: string,
  now: Date,
): Promise<void> {
  const { isStopped } = await readAgentRules(tx, workspaceId)
  if (isStopped) throw agentsStopped()
  if (!(await agentCanOwn(tx, workspaceId, actor.id, connectionId, now))) throw keyCannotOwn()
}

function taken(before: Conversation, { actor }: HandingAgent, now: Date): ConversationChange {
  refuseToTake(before, actor.id)
  return changeOwner(before, agent(actor.id), actor, now)
}

function refuseToTake(conversation: Conversation, keyId: string): void {
  const refusal = refusalToTake(conversation, keyId, 'offered_only', 'when_handed')
  if (refusal === 'held_by_people') throw heldByPeople(conversation, 'HELD_BY_PEOPLE')
  if (refusal === 'of_another_agent') throw agentHasIt(conversation)
}

/** Nothing begins for a message that would be one too many; it is counted when it is sent. */
async function checkLimits(tx: Tx, sender: HandingAgent, conversationId: string, now: Date): Promise<void> {
  const send = { sender, conversationId }
  const allowance = await countSends(tx, sender.workspaceId, [send], now)
  allowance.check(send)
  await allowance.giveBack()
}
