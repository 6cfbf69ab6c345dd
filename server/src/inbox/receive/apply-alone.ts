import type { Tx } from '../../base/db.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { lockChanged, lockCustomer } from '../conversation/lock-customer.ts'
import { findKnownIds } from '../conversation/message-queries.ts'
import { holdFirstOwners } from '../ownership/agents.ts'
import { begin, type Draft, draftOf, fold, isMessage, mayBegin } from './draft.ts'
import { lockAwaited, parkRevision } from './early-revisions.ts'
import type { CustomerEvent } from './group-events.ts'
import type { Intake, Writer } from './receiver.ts'
import { mayReveal } from './reveal.ts'
import { isRevision } from './revise.ts'
import { storeDraft } from './store-drafts.ts'

export interface TakenAlone {
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
  const [, found] = await Promise.all([lockAwaited(tx, keyring, told), findKnownIds(tx, keyring, workspaceId, ids)])
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
