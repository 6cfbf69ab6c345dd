import { showError } from '../../ui/overlay/toasts.tsx'
import { peopleKey, showPending, threadKey } from './cache.ts'
import * as calls from './calls.ts'
import type { Inbox } from './inbox.ts'
import type { Conversation, Person } from './types.ts'

/**
 * What a member does to a conversation. Each shows at once, and is taken back with a word when the service refuses it;
 * the promise resolves to whether it was done.
 */
export function patchConversation(inbox: Inbox, id: string, changes: calls.Changes): Promise<boolean> {
  const shown: Partial<Conversation> = { ...changes }
  if (changes.status !== undefined) shown.snoozedUntil = changes.snoozedUntil ?? null
  return applyChange(inbox, id, shown, () => calls.changeConversation(inbox.workspaceId, id, changes))
}

/** Names are what lists show beside the ids; the service's answer puts them right. */
export function assign(inbox: Inbox, id: string, member: { id: string; name: string } | null): Promise<boolean> {
  const assignedTo = member?.id ?? null
  const shown = { assignedTo, assignedToName: member?.name ?? null }
  return applyChange(inbox, id, shown, () => calls.changeConversation(inbox.workspaceId, id, { assignedTo }))
}

export function takeOver(inbox: Inbox, id: string): Promise<boolean> {
  const shown = { owner: 'human', ownerName: null, ownerSince: new Date().toISOString(), held: true }
  return applyChange(inbox, id, shown, () => calls.takeOver(inbox.workspaceId, id))
}

// No longer people's, nor handed to them.
const handedBack = { held: false, handover: null }

export function handBack(inbox: Inbox, id: string, to: calls.HandBack & { name: string }): Promise<boolean> {
  const { name, ...body } = to
  const shown = { owner: `agent:${to.keyId}`, ownerName: name, ownerSince: new Date().toISOString(), ...handedBack }
  return applyChange(inbox, id, shown, () => calls.handBack(inbox.workspaceId, id, body))
}

/** For whichever agent takes it. */
export function offerToAgents(inbox: Inbox, id: string, note: { note?: calls.HandoverNote }): Promise<boolean> {
  return applyChange(inbox, id, handedBack, () => calls.postOffer(inbox.workspaceId, id, note))
}

export function markRead(inbox: Inbox, id: string): Promise<boolean> {
  return applyChange(inbox, id, { unreadCount: 0 }, () => calls.postRead(inbox.workspaceId, id))
}

export function markUnread(inbox: Inbox, id: string): Promise<boolean> {
  return applyChange(inbox, id, { unreadCount: 1 }, () => calls.postUnread(inbox.workspaceId, id))
}

/** Rejects when it was not kept, so that the text stays where it was typed. */
export async function addNote(
  inbox: Inbox,
  id: string,
  text: string,
  mentions: string[],
  /** Its Idempotency-Key: it is added at most once, however often it is tried. */
  key: string,
): Promise<void> {
  await calls.postNote(inbox.workspaceId, id, { text, mentions }, key)
  void inbox.queries.invalidateQueries({ queryKey: threadKey(inbox.workspaceId, id), exact: true })
}

/** Sends what I do in a conversation. A failure changes nothing for me. */
export async function sendPresence(inbox: Inbox, id: string, state: Person['state'] | 'gone'): Promise<void> {
  const key = peopleKey(inbox.workspaceId, id)
  const before = inbox.queries.getQueryData<Person[]>(key)
  const people = await calls.postPresence(inbox.workspaceId, id, state).catch(() => null)
  // What the stream brought meanwhile is as new, or newer.
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
