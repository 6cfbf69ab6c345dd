import { showError } from '../../ui/overlay/toasts.tsx'
import type { ConsentDecision, ConsentPurpose } from '../lead/consents.ts'
import { peopleKey, showPending, threadKey } from './cache.ts'
import * as calls from './calls.ts'
import type { Inbox } from './inbox.ts'
import type { Conversation, Person } from './types.ts'

/**
 * Actions of a member on a conversation. Each is optimistic, and is reverted with a message if the server refuses.
 * Resolves to whether it succeeded.
 */
export function patchConversation(inbox: Inbox, id: string, changes: calls.Changes): Promise<boolean> {
  const shown: Partial<Conversation> = { ...changes }
  if (changes.status !== undefined) shown.snoozedUntil = changes.snoozedUntil ?? null
  return applyChange(inbox, id, shown, () => calls.changeConversation(inbox.workspaceId, id, changes))
}

/** The name is for lists, which show it beside the id; the response corrects it. */
export function assign(inbox: Inbox, id: string, member: { id: string; name: string } | null): Promise<boolean> {
  const assignedTo = member?.id ?? null
  const shown = { assignedTo, assignedToName: member?.name ?? null }
  return applyChange(inbox, id, shown, () => calls.changeConversation(inbox.workspaceId, id, { assignedTo }))
}

/** Moves it to a team, whose rule then decides who gets it. */
export function moveToTeam(inbox: Inbox, id: string, team: { id: string; name: string } | null): Promise<boolean> {
  const teamId = team?.id ?? null
  const shown = { teamId, teamName: team?.name ?? null }
  return applyChange(inbox, id, shown, () => calls.changeConversation(inbox.workspaceId, id, { teamId }))
}

export function takeOver(inbox: Inbox, id: string): Promise<boolean> {
  const shown = { owner: 'human', ownerName: null, ownerSince: new Date().toISOString(), held: true }
  return applyChange(inbox, id, shown, () => calls.takeOver(inbox.workspaceId, id))
}

// No longer locked to people, and no longer a handover to them.
const handedBack = { held: false, handover: null }

export function handBack(inbox: Inbox, id: string, to: calls.HandBack & { name: string }): Promise<boolean> {
  const { name, ...body } = to
  const shown = { owner: `agent:${to.keyId}`, ownerName: name, ownerSince: new Date().toISOString(), ...handedBack }
  return applyChange(inbox, id, shown, () => calls.handBack(inbox.workspaceId, id, body))
}

/** Offers the conversation to any agent. */
export function offerToAgents(inbox: Inbox, id: string, note: { note?: calls.HandoverNote }): Promise<boolean> {
  return applyChange(inbox, id, handedBack, () => calls.postOffer(inbox.workspaceId, id, note))
}

export function markRead(inbox: Inbox, id: string): Promise<boolean> {
  return applyChange(inbox, id, { unreadCount: 0 }, () => calls.postRead(inbox.workspaceId, id))
}

export function markUnread(inbox: Inbox, id: string): Promise<boolean> {
  return applyChange(inbox, id, { unreadCount: 1 }, () => calls.postUnread(inbox.workspaceId, id))
}

/** Records what the customer has decided, or takes back the member's last record. */
export function setConsent(
  inbox: Inbox,
  id: string,
  decision: ConsentDecision | 'undo',
  purpose: ConsentPurpose,
): Promise<boolean> {
  return applyChange(inbox, id, {}, () => calls.setConsent(inbox.workspaceId, id, decision, purpose))
}

/** Rejects if it was not saved, so that the text stays in the field. */
export async function addNote(
  inbox: Inbox,
  id: string,
  text: string,
  mentions: string[],
  /** Idempotency key: the note is added at most once. */
  key: string,
): Promise<void> {
  await calls.postNote(inbox.workspaceId, id, { text, mentions }, key)
  void inbox.queries.invalidateQueries({ queryKey: threadKey(inbox.workspaceId, id), exact: true })
}

/** Reports what I do in a conversation; `toCustomer`: I write a message, not a note. Failures are ignored. */
export async function sendPresence(
  inbox: Inbox,
  id: string,
  state: Person['state'] | 'gone',
  toCustomer: boolean,
): Promise<void> {
  const key = peopleKey(inbox.workspaceId, id)
  const before = inbox.queries.getQueryData<Person[]>(key)
  const people = await calls.postPresence(inbox.workspaceId, id, state, toCustomer).catch(() => null)
  // Updates from the stream meanwhile are as new or newer.
  const isUnchanged = inbox.queries.getQueryData<Person[]>(key) === before
  if (people !== null && isUnchanged) inbox.queries.setQueryData(key, people)
}

async function applyChange(
  inbox: Inbox,
  id: string,
  shown: Partial<Conversation>,
  call: () => Promise<Conversation>,
): Promise<boolean> {
  const end = showPending(inbox, id, shown)
  try {
    end(await call())
    return true
  } catch (error) {
    end(null)
    showError(error)
    return false
  }
}
