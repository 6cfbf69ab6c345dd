import { phoneClass } from '../../base/phone/phone-variants.ts'
import { limitToNow } from '../../base/time.ts'
import type { Customer } from '../../channels/channel-event.ts'
import { type ConsentCustomer, type Decisions, noDecisions } from '../../consents/consent.ts'
import { findConsents } from '../../consents/store.ts'
import { systemActor } from '../../workspaces/actor.ts'
import { lockFirstOwners } from '../assignment/eligible-agents.ts'
import { decisionIn } from '../consent/keywords.ts'
import { recordConsent } from '../consent/record-consent.ts'
import { lockConversationsOf } from '../conversation/batch-queries.ts'
import type { Contact, Conversation, WorkspaceTx } from '../conversation/conversation.ts'
import { createCachedExternalIndexOf } from '../conversation/encrypted-conversation.ts'
import { lockCustomer, lockRenamed } from '../conversation/lock-customer.ts'
import { type ExternalId, findKnownIds, findTimes } from '../conversation/message-queries.ts'
import { human } from '../conversation/owner.ts'
import { type Route, routeToOwner } from '../routing/routing.ts'
import { recordScore } from '../satisfaction/record-score.ts'
import {
  applyEvents,
  type ConversationDraft,
  type CustomerGroup,
  draftOf,
  isMessage,
  isUnrouted,
  type MessageEvent,
  routeDraft,
  startDraft,
  timeRangesOf,
  tracksDelivery,
} from './conversation-draft.ts'
import { isRevision, lockRelatedIds, parkRevision, relatedIds } from './early-revisions.ts'
import { ratingOf } from './plan-event.ts'
import type { CustomerEvent, InboundCustomer, ReceiveContext, WorkspaceReceiveContext } from './receiver.ts'
import { canCompleteHistory } from './revise-message.ts'
import { storeDraft, storeDrafts } from './store-drafts.ts'

export interface BatchResult {
  /** Customers with new messages. */
  writers: InboundCustomer[]
  /** Skipped because they would create a conversation, which was not allowed. */
  newCustomers: CustomerGroup[]
  /** Skipped because they need `applyAlone`. */
  others: CustomerGroup[]
}

/**
 * Applies events of many customers of a workspace in a few statements: locks their conversations, decides everything in
 * memory, then writes. Customers without a conversation are included only if allowed, because that takes other locks
 * first. Skips what cannot be decided in memory: merges of conversations, changed identifiers, changes of owner (here or at
 * the platform), media that arrive later, revisions and messages with parked revisions, and echoes on linked devices.
 */
export async function applyBatch(
  context: WorkspaceReceiveContext,
  groups: readonly CustomerGroup[],
  canStartNew: boolean,
): Promise<BatchResult> {
  const { tx, keyring, workspaceId, now } = context
  const result: BatchResult = {
    writers: [],
    newCustomers: [],
    others: groups.filter((group) => !canApplyInMemory(group, context)),
  }
  const batchable = groups.filter((group) => canApplyInMemory(group, context))
  const indexOf = createCachedExternalIndexOf(keyring)
  const [, lockRoutes, consents, locked, { known: knownIds, withParkedRevisions }] = await Promise.all([
    canStartNew ? lockRelatedIds(context, batchable.flatMap(connectionEventsOf)) : null,
    canStartNew ? lockFirstOwners(context) : null,
    canStartNew ? findConsents(tx, keyring, workspaceId, batchable.map(identityOf)) : [],
    lockConversationsOf(context, batchable.flatMap(customersOf)),
    findKnownIds({ sql: tx, keyring, workspaceId }, batchable.flatMap(idsOf), indexOf),
  ])
  const known = new Set(knownIds.map(idKey))
  const parkedKeys = new Set(withParkedRevisions.map(idKey))
  const hasParkedRevisions = (group: CustomerGroup) => idsOf(group).some((id) => parkedKeys.has(idKey(id)))
  const isKnownTo = (connectionId: string) => (externalId: string) => known.has(idKey({ connectionId, externalId }))
  const draftsOf = indexDrafts(locked)
  const found: GroupDraft[] = []
  const begun: { group: CustomerGroup; first: MessageEvent; decisions: Decisions }[] = []
  for (const [n, group] of batchable.entries()) {
    const [draft, otherDraft] = draftsOf(group)
    const isKnown = isKnownTo(group.receiver.id)
    const first = group.events.filter(isMessage).find(({ externalId }) => !isKnown(externalId))
    if (otherDraft !== undefined || hasParkedRevisions(group)) result.others.push(group)
    else if (draft !== undefined && first?.type === 'message' && isUnrouted(draft.conversation)) {
      // A change of owner is stored alone.
      result.others.push({ ...group, isUnrouted: true })
    } else if (draft !== undefined) found.push({ group, draft })
    else if (first === undefined) continue
    else if (lockRoutes === null) result.newCustomers.push(group)
    else begun.push({ group, first, decisions: consents[n] ?? noDecisions })
  }
  if (lockRoutes !== null && begun.length > 0) {
    const routeOf = await lockRoutes(begun.map(({ group }) => group.receiver.id))
    for (const { group, first, decisions } of begun) {
      // Earlier events have no conversation to apply to.
      const events = group.events.slice(group.events.indexOf(first))
      const draft = startDraft(group.receiver, first, routeFor(first, group.receiver.id, routeOf), decisions, now)
      found.push({ group: { ...group, events }, draft })
    }
  }
  await loadTimes(context, found)
  for (const { group, draft } of found) {
    const appliedEvents = await applyEvents(draft, group, isKnownTo(group.receiver.id), now, null)
    if (appliedEvents === null) {
      result.others.push(group)
      continue
    }
    Object.assign(draft, appliedEvents.draft)
    for (const externalId of appliedEvents.added) known.add(idKey({ connectionId: group.receiver.id, externalId }))
    if (appliedEvents.writer !== null) result.writers.push(appliedEvents.writer)
  }
  await storeDrafts(context, [...new Set(found.map(({ draft }) => draft))], indexOf)
  return result
}

interface GroupDraft {
  group: CustomerGroup
  draft: ConversationDraft
}

/** Conversations that were started outside this service belong to people. */
const routeFor = (event: MessageEvent, connectionId: string, routeOf: (connectionId: string) => Route): Route =>
  event.type === 'message' ? routeOf(connectionId) : routeToOwner(human)

/** Returns whether all events can be decided from the conversation alone. */
const canApplyInMemory = (
  { receiver, events }: CustomerGroup,
  { keywords }: Pick<ReceiveContext, 'keywords'>,
): boolean =>
  events.every(
    (event) =>
      event.type !== 'customer_changed' &&
      event.type !== 'marketing_preference' &&
      event.type !== 'thread_control' &&
      !isStandby(event) &&
      ratingOf(event) === null &&
      decisionIn(event, keywords) === null &&
      !isRevision(event) &&
      !(event.type === 'echo' && tracksDelivery(receiver)),
  )

const isStandby = (event: CustomerEvent): boolean =>
  (event.type === 'message' || event.type === 'echo') && event.isStandby === true

const connectionEventsOf = ({ receiver, events }: CustomerGroup) =>
  events.map((event) => ({ connectionId: receiver.id, event }))

/** All that these events tell about who the customer is. */
const identityOf = ({ events }: CustomerGroup): ConsentCustomer => ({
  phone: events.findLast(({ customer }) => customer.phone !== null)?.customer.phone ?? null,
  userId: events.findLast(({ customer }) => customer.userId !== null)?.customer.userId ?? null,
})

const customersOf = ({ receiver, events }: CustomerGroup) =>
  events.map(({ customer }) => ({ connectionId: receiver.id, customer }))

const idsOf = ({ receiver, events }: CustomerGroup): ExternalId[] =>
  events.flatMap(relatedIds).map((externalId) => ({ connectionId: receiver.id, externalId }))

const idKey = ({ connectionId, externalId }: ExternalId): string => `${connectionId} ${externalId}`

/** Returns a function that finds the drafts of the locked conversations of a group's customers. */
function indexDrafts(locked: readonly Conversation[]): (group: CustomerGroup) => ConversationDraft[] {
  const byName = new Map<string, ConversationDraft[]>()
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

/** Only messages older than the newest one need the times of other messages. */
async function loadTimes({ tx, workspaceId }: WorkspaceTx, found: readonly GroupDraft[]): Promise<void> {
  const ranges = found.flatMap(({ group, draft }) => timeRangesOf(draft, group))
  const drafts = new Map(found.map(({ draft }) => [draft.conversation.id, draft]))
  for (const { conversationId, at } of await findTimes(tx, workspaceId, ranges)) {
    drafts.get(conversationId)?.times.add(at.getTime())
  }
}

interface CustomerResult {
  /** The customer, if they sent something new. */
  writer: InboundCustomer | null
  /** Parked revisions of a customer who has no conversation yet. */
  unmatched: CustomerEvent[]
}

/**
 * Applies the events of one customer one by one, with any lookups they need. `mayRoute`: routes a conversation in which only a
 * broadcast has written.
 */
export async function applyAlone(
  context: ReceiveContext,
  events: readonly CustomerEvent[],
  mayRoute = false,
): Promise<CustomerResult> {
  const { tx, keyring, workspaceId, receiver, now } = context
  const connectionId = receiver.id
  const result: CustomerResult = { writer: null, unmatched: [] }
  // Before the conversation is locked.
  const lockRoutes = mayRoute ? await lockFirstOwners(context) : null
  const awaited = events.map((event) => ({ connectionId, event }))
  const ids = events.filter(isMessage).map(({ externalId }) => ({ connectionId, externalId }))
  const [, found] = await Promise.all([
    lockRelatedIds(context, awaited),
    findKnownIds({ sql: tx, keyring, workspaceId }, ids),
  ])
  const known = new Set(found.known.map(({ externalId }) => externalId))
  for (const event of events) {
    const isKnown = isMessage(event) && known.has(event.externalId)
    // A repeat does not update its customer.
    if (isKnown && !canCompleteHistory(event)) continue
    const conversation = await lockByCustomer(context, event)
    if (conversation === undefined && isRevision(event)) {
      await parkRevision(context, null, event)
      result.unmatched.push(event)
    }
    let draft = conversation === undefined ? await startIfAllowed(context, event, isKnown) : draftOf(conversation)
    if (lockRoutes !== null && draft !== null && event.type === 'message' && isUnrouted(draft.conversation)) {
      draft = routeDraft(draft, (await lockRoutes([connectionId]))(connectionId), now)
    }
    if (draft === null) {
      await recordDecision(context, event, null)
      continue
    }
    const applied = await applyEvents(draft, { receiver, events: [event] }, () => isKnown, now, context)
    if (applied === null) throw new TypeError('applyEvents returned null although lookups are allowed')
    await storeDraft(context, applied.draft)
    await recordRating(context, event, applied.draft)
    await recordDecision(context, event, applied.draft.conversation.contact)
    for (const externalId of applied.added) known.add(externalId)
    if (applied.writer === null) continue
    result.writer = { ...applied.writer, referral: applied.writer.referral ?? result.writer?.referral ?? null }
  }
  return result
}

/** Records the score that the customer chose, if the event is such an answer. */
async function recordRating(
  context: ReceiveContext,
  event: CustomerEvent,
  { conversation, messages }: ConversationDraft,
): Promise<void> {
  const rating = ratingOf(event)
  if (rating === null) return
  await recordScore(context, conversation, rating, messages.at(-1)?.id ?? null)
}

/** Records what the event decides about marketing, if anything. Repeats of messages do not come here. */
async function recordDecision(context: ReceiveContext, event: CustomerEvent, contact: Contact | null): Promise<void> {
  const { tx, keyring, workspaceId, receiver, now, keywords } = context
  const { phone, userId } = contact ?? event.customer
  const made = { customer: { phone, userId }, connectionId: receiver.id, actor: systemActor }
  const work = { tx, keyring, workspaceId, now }
  if (event.type === 'marketing_preference') {
    const isRefused = event.source === 'refused_send'
    const decision = event.isStopped ? 'opted_out' : 'opted_in'
    const source = isRefused ? 'platform_error' : 'platform'
    const reportedAt = event.isOurTime ? null : limitToNow(event.at, now)
    await recordConsent(work, { ...made, decision, source, reportedAt })
    return
  }
  const decision = decisionIn(event, keywords)
  // A first "start" is no consent: the customer did not know that it could be one.
  if (decision === null || (decision === 'opted_in' && contact?.marketing?.isStopped !== true)) return
  const reportedAt = 'at' in event ? limitToNow(event.at, now) : null
  await recordConsent(work, { ...made, decision, source: 'keyword', reportedAt }, 'customer_wrote')
}

/** Locks by all identifiers of the customer and merges their conversations. */
function lockByCustomer(context: ReceiveContext, event: CustomerEvent): Promise<Conversation | undefined> {
  return event.type === 'customer_changed'
    ? lockRenamed(context, context.receiver.id, event)
    : lockCustomer(context, context.receiver.id, event.customer)
}

async function startIfAllowed(context: ReceiveContext, event: CustomerEvent, isKnown: boolean) {
  const { tx, keyring, workspaceId, receiver, now } = context
  if (isKnown || !isMessage(event)) return null
  const lockRoutes = await lockFirstOwners(context)
  const [decisions = noDecisions] = await findConsents(tx, keyring, workspaceId, [event.customer])
  const routeOf = await lockRoutes([receiver.id])
  return startDraft(receiver, event, routeFor(event, receiver.id, routeOf), decisions, now)
}
