import type { Tx } from '../../base/db.ts'
import { phoneClass } from '../../base/phone/phone-variants.ts'
import type { Customer } from '../../channels/channel-event.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { lockChanged, lockCustomer } from '../conversation/lock-customer.ts'
import { lockConversationsOf } from '../conversation/many-queries.ts'
import { type ExternalId, findKnownIds, findTimes } from '../conversation/message-queries.ts'
import { rememberedIndexesOf } from '../conversation/sealed.ts'
import { holdFirstOwners } from '../ownership/agents.ts'
import {
  begin,
  type CustomerGroup,
  type Draft,
  draftOf,
  fold,
  isFollowed,
  isMessage,
  mayBegin,
  stretchesOf,
} from './draft.ts'
import { awaitedIds, isRevision, lockAwaited, parkRevision } from './early-revisions.ts'
import type { CustomerEvent, Intake, WorkspaceIntake, Writer } from './receiver.ts'
import { mayReveal } from './revise-message.ts'
import { storeDraft, storeDrafts } from './store-drafts.ts'

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
    lockConversationsOf({ tx, keyring, workspaceId }, plain.flatMap(customersOf)),
    findKnownIds({ sql: tx, keyring, workspaceId }, plain.flatMap(idsOf), indexOf),
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
  events.flatMap(awaitedIds).map((externalId) => ({ connectionId: receiver.id, externalId }))

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

interface TakenAlone {
  /** The customer, if they wrote something new. */
  writer: Writer | null
  /** Edits and the like that wait for their message while their customer has no conversation. */
  strays: CustomerEvent[]
}

/** Applies what was told of one customer, event by event, and looks at whatever each of them takes. */
export async function applyAlone(tx: Tx, intake: Intake, events: readonly CustomerEvent[]): Promise<TakenAlone> {
  const { keyring, receiver, now } = intake
  const { workspaceId, id: connectionId } = receiver
  const taken: TakenAlone = { writer: null, strays: [] }
  const told = events.map((event) => ({ connectionId, event }))
  const ids = events.filter(isMessage).map(({ externalId }) => ({ connectionId, externalId }))
  const [, found] = await Promise.all([
    lockAwaited(tx, keyring, told),
    findKnownIds({ sql: tx, keyring, workspaceId }, ids),
  ])
  const known = new Set(found.known.map(({ externalId }) => externalId))
  for (const event of events) {
    const isKnown = isMessage(event) && known.has(event.externalId)
    // By a repeat nothing is learned of its customer.
    if (isKnown && !mayReveal(event)) continue
    const conversation = await lock(tx, intake, event)
    if (conversation === undefined && isRevision(event)) {
      await parkRevision(tx, intake, null, event)
      taken.strays.push(event)
    }
    const draft = conversation === undefined ? await beginning(tx, intake, event, isKnown) : draftOf(conversation)
    if (draft === null) continue
    const folded = await fold(draft, { receiver, events: [event] }, () => isKnown, now, { tx, intake })
    if (folded === null) throw new TypeError('An event that looks at all was not decided')
    await storeDraft(tx, intake, folded.draft)
    for (const externalId of folded.added) known.add(externalId)
    if (folded.writer === null) continue
    taken.writer = { ...folded.writer, referral: folded.writer.referral ?? taken.writer?.referral ?? null }
  }
  return taken
}

/** By all names of the customer: what turns out to be one conversation is merged. */
async function lock(
  tx: Tx,
  { keyring, receiver, now }: Intake,
  event: CustomerEvent,
): Promise<Conversation | undefined> {
  const scope = { workspaceId: receiver.workspaceId, connectionId: receiver.id }
  return event.type === 'customer_changed'
    ? lockChanged(tx, keyring, scope, event, now)
    : lockCustomer(tx, keyring, scope, event.customer, now)
}

async function beginning(
  tx: Tx,
  { receiver, now }: Intake,
  event: CustomerEvent,
  isKnown: boolean,
): Promise<Draft | null> {
  if (isKnown || !mayBegin(event)) return null
  const firstOwnerOf = await holdFirstOwners(tx, receiver.workspaceId, now)
  return begin(receiver, event, firstOwnerOf(receiver.id), now)
}
