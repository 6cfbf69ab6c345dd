import { complain } from '../../ui/overlay/notices.tsx'
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
  return act(inbox, id, shown, () => calls.change(inbox.workspaceId, id, changes))
}

/** Names are what lists show beside the ids; the service's answer puts them right. */
export function assign(inbox: Inbox, id: string, member: { id: string; name: string } | null): Promise<boolean> {
  const assignedTo = member?.id ?? null
  const shown = { assignedTo, assignedToName: member?.name ?? null }
  return act(inbox, id, shown, () => calls.change(inbox.workspaceId, id, { assignedTo }))
}

export function takeOver(inbox: Inbox, id: string): Promise<boolean> {
  const shown = { owner: 'human', ownerName: null, ownerSince: new Date().toISOString(), held: true }
  return act(inbox, id, shown, () => calls.takeOver(inbox.workspaceId, id))
}

// No longer people's, nor handed to them.
const given = { held: false, handover: null }

export function handBack(inbox: Inbox, id: string, to: calls.HandBack & { name: string }): Promise<boolean> {
  const { name, ...body } = to
  const shown = { owner: `agent:${to.keyId}`, ownerName: name, ownerSince: new Date().toISOString(), ...given }
  return act(inbox, id, shown, () => calls.handBack(inbox.workspaceId, id, body))
}

/** For whichever agent takes it. */
export function offerToAgents(inbox: Inbox, id: string, note: { note?: calls.HandoverNote }): Promise<boolean> {
  return act(inbox, id, given, () => calls.offer(inbox.workspaceId, id, note))
}

export function markRead(inbox: Inbox, id: string): Promise<boolean> {
  return act(inbox, id, { unreadCount: 0 }, () => calls.read(inbox.workspaceId, id))
}

export function markUnread(inbox: Inbox, id: string): Promise<boolean> {
  return act(inbox, id, { unreadCount: 1 }, () => calls.unread(inbox.workspaceId, id))
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
  await calls.note(inbox.workspaceId, id, { text, mentions }, key)
  void inbox.queries.invalidateQueries({ queryKey: threadKey(inbox.workspaceId, id), exact: true })
}

/** Sends what I do in a conversation. A failure changes nothing for me. */
export async function sayPresence(inbox: Inbox, id: string, state: Person['state'] | 'gone'): Promise<void> {
  const key = peopleKey(inbox.workspaceId, id)
  const before = inbox.queries.getQueryData<Person[]>(key)
  const people = await calls.say(inbox.workspaceId, id, state).catch(() => null)
  // What the stream brought meanwhile is as new, or newer.
  const isNews = inbox.queries.getQueryData<Person[]>(key) === before
  if (people !== null && isNews) inbox.queries.setQueryData(key, people)
}

async function act(
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
    complain(error)
    return false
  }
}
