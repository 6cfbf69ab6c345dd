import type { Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { Customer } from '../../channels/channel-event.ts'
import { touched } from './change.ts'
import type { Conversation } from './conversation.ts'
import { type Match, matchCustomer, renamed } from './customer.ts'
import { mergeConversations } from './merge.ts'
import { conversationColumns, storeConversation } from './queries.ts'
import { type ConversationRow, openConversation, phoneIndexes, userIndexes } from './sealed.ts'

/** Where a customer is looked for. */
export interface CustomerScope {
  workspaceId: string
  connectionId: string
}

/**
 * The customer's conversation on the connection, locked; undefined when there is none. Finds it by user id and by any
 * variant of the phone. Two that turn out to be one customer's are merged.
 */
export async function lockCustomer(
  tx: Tx,
  keyring: Keyring,
  scope: CustomerScope,
  customer: Customer,
  now: Date,
): Promise<Conversation | undefined> {
  return (await lockUnited(tx, keyring, scope, customer, now))?.conversation
}

/**
 * The conversation of a customer who goes by another number or user id from now on, locked and under the new names. If
 * they have written under the new ones before, the two are merged.
 */
export async function lockChanged(
  tx: Tx,
  keyring: Keyring,
  scope: CustomerScope,
  { previous, customer }: { previous: Customer; customer: Customer },
  now: Date,
): Promise<Conversation | undefined> {
  const before = await lockCustomer(tx, keyring, scope, previous, now)
  if (before === undefined) return undefined
  const after = await lockUnited(tx, keyring, scope, customer, now)
  // The new names may lead to the same conversation, and have made it one with another just now.
  const isSame = after?.ids.includes(before.id) ?? true
  const known = after?.conversation ?? before
  const conversation = isSame ? known : await mergeConversations(tx, keyring, scope.workspaceId, before, known, now)
  return { ...conversation, contact: renamed(conversation.contact, customer) }
}

interface United {
  conversation: Conversation
  /** Those that it was before. */
  ids: string[]
}

async function lockUnited(
  tx: Tx,
  keyring: Keyring,
  scope: CustomerScope,
  customer: Customer,
  now: Date,
): Promise<United | undefined> {
  const match = matchCustomer(await lockCandidates(tx, keyring, scope, customer), customer)
  await releasePhone(tx, keyring, scope, match, now)
  const { own, twin } = match
  if (own === null) return undefined
  if (twin === null) return { conversation: own, ids: [own.id] }
  const merged = await mergeConversations(tx, keyring, scope.workspaceId, own, twin, now)
  await storeConversation(tx, keyring, scope.workspaceId, merged)
  return { conversation: merged, ids: [own.id, twin.id] }
}

/** In the order of their ids, so that two deliveries that need the same two do not wait for each other. */
async function lockCandidates(
  tx: Tx,
  keyring: Keyring,
  { workspaceId, connectionId }: CustomerScope,
  { userId, phone }: Customer,
): Promise<Conversation[]> {
  const users = userId === null ? [] : userIndexes(keyring, userId)
  const phones = phone === null ? [] : phoneIndexes(keyring, phone)
  await takeTurns(tx, keyring, [users, phones])
  // Not `any` of a list: the planner would not see that the partial indexes hold all of these.
  const named = [
    ...users.map((index) => tx`c.user_index = ${index}`),
    ...phones.map((index) => tx`c.phone_index = ${index}`),
  ]
  const rows = await tx<ConversationRow[]>`
    select ${conversationColumns(tx)}
    from conversations c
    where c.workspace_id = ${workspaceId}
      and c.connection_id = ${connectionId}
      and (${named.reduce((either, one) => tx`${either} or ${one}`, tx`false`)})
    order by c.id
    for update of c`
  return rows.map((row) => openConversation(keyring, row))
}

/**
 * While two versions of a digest are in use, the unique indexes do not see that a row of the one and a row of the other
 * are one customer's: whoever may begin a conversation waits here for others who may, until they have committed. The
 * lowest version is known to all of them (decision 013).
 */
async function takeTurns(tx: Tx, keyring: Keyring, digests: Buffer[][]): Promise<void> {
  if (keyring.indexVersions.length === 1) return
  const hashes = digests.flatMap(([lowest]) => lowest?.readBigInt64BE(0) ?? []).sort((a, b) => (a < b ? -1 : 1))
  for (const hash of hashes) await tx`select pg_advisory_xact_lock(${String(hash)}::bigint)`
}

async function releasePhone(
  tx: Tx,
  keyring: Keyring,
  { workspaceId }: CustomerScope,
  { formerHolder }: Match,
  now: Date,
): Promise<void> {
  if (formerHolder === null) return
  const { contact } = formerHolder
  const withoutPhone = { ...contact, phone: null, address: { ...contact.address, phone: null } }
  await storeConversation(tx, keyring, workspaceId, touched({ ...formerHolder, contact: withoutPhone }, now))
}
