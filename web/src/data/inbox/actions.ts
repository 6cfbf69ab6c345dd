import { api } from '../../api/client.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import type { ConsentDecision, ConsentPurpose } from '../lead/consents.ts'
import { peopleKey, showPending, threadKey } from './cache.ts'
import type { Changes, HandBack, HandoverNote } from './calls.ts'
import type { Inbox } from './inbox.ts'
import type { Conversation, Person } from './types.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/inbox/conversations/{id}'
const at = ({ workspaceId }: Inbox, id: string) => ({ workspaceId, id })

/**
 * Actions of a member on a conversation. Each is optimistic, and is reverted with a message if the server refuses.
 * Resolves to whether it succeeded.
 */
export function patchConversation(inbox: Inbox, id: string, changes: Changes): Promise<boolean> {
  const shown: Partial<Conversation> = { ...changes }
  if (changes.status !== undefined) shown.snoozedUntil = changes.snoozedUntil ?? null
  return applyChange(inbox, id, shown, () => api.PATCH(path, { ...at(inbox, id), body: changes }))
}

/** The name is for lists, which show it beside the id; the response corrects it. */
export function assign(inbox: Inbox, id: string, member: { id: string; name: string } | null): Promise<boolean> {
  const assignedTo = member?.id ?? null
  const shown = { assignedTo, assignedToName: member?.name ?? null }
  return applyChange(inbox, id, shown, () => api.PATCH(path, { ...at(inbox, id), body: { assignedTo } }))
}

/** Moves it to a team, whose rule then decides who gets it. */
export function moveToTeam(inbox: Inbox, id: string, team: { id: string; name: string } | null): Promise<boolean> {
  const teamId = team?.id ?? null
  const shown = { teamId, teamName: team?.name ?? null }
  return applyChange(inbox, id, shown, () => api.PATCH(path, { ...at(inbox, id), body: { teamId } }))
}

export function takeOver(inbox: Inbox, id: string): Promise<boolean> {
  const shown = { owner: 'human', ownerName: null, ownerSince: new Date().toISOString(), held: true }
  return applyChange(inbox, id, shown, () => api.POST(`${path}/take-over`, at(inbox, id)))
}

// No longer locked to people, and no longer a handover to them.
const handedBack = { held: false, handover: null }

export function handBack(inbox: Inbox, id: string, to: HandBack & { name: string }): Promise<boolean> {
  const { name, ...body } = to
  const shown = { owner: `agent:${to.keyId}`, ownerName: name, ownerSince: new Date().toISOString(), ...handedBack }
  return applyChange(inbox, id, shown, () => api.POST(`${path}/hand-back`, { ...at(inbox, id), body }))
}

/** Offers the conversation to any agent. */
export function offerToAgents(inbox: Inbox, id: string, note: { note?: HandoverNote }): Promise<boolean> {
  return applyChange(inbox, id, handedBack, () => api.POST(`${path}/offer`, { ...at(inbox, id), body: note }))
}

export function markRead(inbox: Inbox, id: string): Promise<boolean> {
  return applyChange(inbox, id, { unreadCount: 0 }, () => api.POST(`${path}/read`, at(inbox, id)))
}

export function markUnread(inbox: Inbox, id: string): Promise<boolean> {
  return applyChange(inbox, id, { unreadCount: 1 }, () => api.POST(`${path}/unread`, at(inbox, id)))
}

/** Records what the customer has decided, or takes back the member's last record. */
export function setConsent(
  inbox: Inbox,
  id: string,
  decision: ConsentDecision | 'undo',
  purpose: ConsentPurpose,
): Promise<boolean> {
  return applyChange(inbox, id, {}, () =>
    decision === 'undo'
      ? api.DELETE(`${path}/marketing-consent`, { ...at(inbox, id), query: { purpose } })
      : api.PUT(`${path}/marketing-consent`, { ...at(inbox, id), body: { decision, purpose } }),
  )
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
  const headers = { 'idempotency-key': key }
  await api.POST(`${path}/notes`, { ...at(inbox, id), headers, body: { text, mentions } })
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
  const body = { state, ...(toCustomer && { toCustomer }) }
  // Completes even if the page is being closed.
  const call = api.POST(`${path}/presence`, { ...at(inbox, id), body, keepalive: true })
  const people = (await call.catch(() => null))?.people
  // Updates from the stream meanwhile are as new or newer.
  const isUnchanged = inbox.queries.getQueryData<Person[]>(key) === before
  if (people !== undefined && isUnchanged) inbox.queries.setQueryData(key, people)
}

async function applyChange(
  inbox: Inbox,
  id: string,
  shown: Partial<Conversation>,
  call: () => Promise<{ conversation: Conversation }>,
): Promise<boolean> {
  const end = showPending(inbox, id, shown)
  try {
    end((await call()).conversation)
    return true
  } catch (error) {
    end(null)
    showError(error)
    return false
  }
}
