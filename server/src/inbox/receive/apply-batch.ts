import type { Tx } from '../../base/db.ts'
import { phoneClass } from '../../base/phone/phone-variants.ts'
import type { Customer } from '../../channels/channel-event.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { lockConversationsOf } from '../conversation/many-queries.ts'
import { type ExternalId, findKnownIds, findTimes } from '../conversation/message-queries.ts'
import { rememberedIndexesOf } from '../conversation/sealed.ts'
import { holdFirstOwners } from '../ownership/agents.ts'
import { begin, type CustomerGroup, type Draft, draftOf, fold, isFollowed, isMessage, stretchesOf } from './draft.ts'
import { awaitedIds, lockAwaited } from './early-revisions.ts'
import type { CustomerEvent } from './group-events.ts'
import type { WorkspaceIntake, Writer } from './receiver.ts'
import { isRevision } from './revise.ts'
import { storeDrafts } from './store-drafts.ts'

export interface Taken {
  /** The customers who wrote something new. */
  wrote: Writer[]
  /** Left, since these begin conversations and that was not to be. */
  beginning: CustomerGroup[]
  /** Left to `applyAlone`, which looks at more. */
  others: CustomerGroup[]
}

/**
 * Applies what was told of many customers of a workspace in a handful of statements: their conversations are locked,
 * everything is decided in memory, everything is written. With `mayBegin` also of customers who have no conversation yet: other
 * locks come first then. What cannot be decided in memory is left: two conversations that turn out to be one, a name that
 * moved, a change of owner, media that show later, edits and the like, and messages for which these wait, what a linked
 * device says of its own messages.
 */
export async function applyBatch(
  tx: Tx,
  intake: WorkspaceIntake,
  groups: readonly CustomerGroup[],
  mayBegin: boolean,
): Promise<Taken> {
  const { keyring, workspaceId, now } = intake
  const taken: Taken = { wrote: [], beginning: [], others: groups.filter((group) => !isPlain(group)) }
  const plain = groups.filter(isPlain)
  const indexOf = rememberedIndexesOf(keyring)
  const [, firstOwnerOf, locked, { known: knownIds, awaited }] = await Promise.all([
    mayBegin ? lockAwaited(tx, keyring, plain.flatMap(linesOf)) : null,
    mayBegin ? holdFirstOwners(tx, workspaceId, now) : null,
    lockConversationsOf(tx, keyring, workspaceId, plain.flatMap(customersOf)),
    findKnownIds(tx, keyring, workspaceId, plain.flatMap(idsOf), indexOf),
  ])
  const known = new Set(knownIds.map(idKey))
  const awaitedKeys = new Set(awaited.map(idKey))
  const isAwaited = (group: CustomerGroup) => idsOf(group).some((id) => awaitedKeys.has(idKey(id)))
  const isKnownTo = (connectionId: string) => (externalId: string) => known.has(idKey({ connectionId, externalId }))
  const draftsOf = indexDrafts(locked)
  const found: { group: CustomerGroup; draft: Draft }[] = []
  for (const group of plain) {
    const [draft, another] = draftsOf(group)
    const isKnown = isKnownTo(group.receiver.id)
    const first = group.events.filter(isMessage).find(({ externalId }) => !isKnown(externalId))
    if (another !== undefined || isAwaited(group)) taken.others.push(group)
    else if (draft !== undefined) found.push({ group, draft })
    else if (first === undefined) continue
    else if (firstOwnerOf === null) taken.beginning.push(group)
    else {
      // What came before has no conversation to be told of.
      const events = group.events.slice(group.events.indexOf(first))
      found.push({
        group: { ...group, events },
        draft: begin(group.receiver, first, firstOwnerOf(group.receiver.id), now),
      })
    }
  }
  await learnTimes(tx, workspaceId, found)
  for (const { group, draft } of found) {
    const folded = await fold(draft, group, isKnownTo(group.receiver.id), now, null)
    if (folded === null) {
      taken.others.push(group)
      continue
    }
    Object.assign(draft, folded.draft)
    for (const externalId of folded.added) known.add(idKey({ connectionId: group.receiver.id, externalId }))
    if (folded.writer !== null) taken.wrote.push(folded.writer)
  }
  await storeDrafts(tx, intake, [...new Set(found.map(({ draft }) => draft))], indexOf)
  return taken
}

/** Whether `fold` may decide: none of these looks at more than the conversation and what it knows. */
const isPlain = ({ receiver, events }: CustomerGroup): boolean =>
  events.every(
    (event) =>
      event.type !== 'customer_changed' &&
      event.type !== 'marketing_preference' &&
      !isRevision(event) &&
      !(event.type === 'echo' && isFollowed(receiver)),
  )

const linesOf = ({ receiver, events }: CustomerGroup) => events.map((event) => ({ connectionId: receiver.id, event }))

const customersOf = ({ receiver, events }: CustomerGroup) =>
  events.map(({ customer }) => ({ connectionId: receiver.id, customer }))

const idsOf = ({ receiver, events }: CustomerGroup): ExternalId[] =>
  events.flatMap((event) => idsOfEvent(receiver.id, event))

const idsOfEvent = (connectionId: string, event: CustomerEvent): ExternalId[] =>
  awaitedIds(event).map((externalId) => ({ connectionId, externalId }))

const idKey = ({ connectionId, externalId }: ExternalId): string => `${connectionId} ${externalId}`

/** Finds the drafts of the locked conversations that a group's customers go by. */
function indexDrafts(locked: readonly Conversation[]): (group: CustomerGroup) => Draft[] {
  const byName = new Map<string, Draft[]>()
  for (const conversation of locked) {
    const draft = draftOf(conversation)
    for (const name of namesOf(conversation.connectionId, conversation.contact)) {
      byName.set(name, [...(byName.get(name) ?? []), draft])
    }
  }
  return ({ receiver, events }) => {
    const names = events.flatMap(({ customer }) => namesOf(receiver.id, customer))
    return [...new Set(names.flatMap((name) => byName.get(name) ?? []))]
  }
}

const namesOf = (connectionId: string, { userId, phone }: Pick<Customer, 'userId' | 'phone'>): string[] => [
  ...(userId === null ? [] : [`${connectionId} user ${userId}`]),
  ...(phone === null ? [] : [`${connectionId} phone ${phoneClass(phone)}`]),
]

/** Only messages that are older than the newest need a look at the times of others. */
async function learnTimes(
  tx: Tx,
  workspaceId: string,
  found: readonly { group: CustomerGroup; draft: Draft }[],
): Promise<void> {
  const stretches = found.flatMap(({ group, draft }) => stretchesOf(draft, group))
  const drafts = new Map(found.map(({ draft }) => [draft.conversation.id, draft]))
  for (const { conversationId, at } of await findTimes(tx, workspaceId, stretches)) {
    drafts.get(conversationId)?.times.add(at.getTime())
  }
}
