import type { InboxDeps } from '../conversation/conversation.ts'
import { openWindow } from '../conversation/conversation-state.ts'
import { authorOf } from '../conversation/message.ts'
import { keyIdOf, writeOwner } from '../conversation/owner.ts'
import type { Note } from '../notes/notes.ts'
import { type Names, namedActors, readNames } from '../read/names.ts'
import type { ShownConversation } from '../read/show.ts'
import type { ShownMessage } from '../read/shown-message.ts'

export function presentTeamConversation({ conversation, newest, names }: ShownConversation, now: Date) {
  const { contact, lastMessage } = conversation
  return {
    id: conversation.id,
    connectionId: conversation.connectionId,
    connectionName: names('connection', conversation.connectionId),
    channel: conversation.channel,
    owner: writeOwner(conversation.owner),
    ownerName: names('agent', keyIdOf(conversation.owner)),
    ownerSince: conversation.ownerSince.toISOString(),
    held: conversation.held,
    handover: conversation.handover,
    status: conversation.status,
    snoozedUntil: conversation.snoozedUntil?.toISOString() ?? null,
    assignedTo: conversation.assignedTo,
    assignedToName: names('user', conversation.assignedTo),
    labelIds: conversation.labelIds,
    unreadCount: conversation.unreadCount,
    windowExpiresAt: openWindow(conversation.windowExpiresAt, now)?.toISOString() ?? null,
    lastMessageAt: conversation.lastMessageAt.toISOString(),
    unansweredSince: conversation.unansweredSince?.toISOString() ?? null,
    lastMessage:
      lastMessage === null || newest === null
        ? null
        : {
            id: newest.id,
            ...lastMessage,
            status: newest.status,
            errorCode: newest.errorCode,
            author: named(newest.author, names),
          },
    contact: { name: contact.name, phone: contact.phone },
    createdAt: conversation.createdAt.toISOString(),
    updatedAt: conversation.updatedAt.toISOString(),
  }
}

export const named = <A extends { type: string; id: string | null }>({ type, id }: A, names: Names) => ({
  type: type as A['type'],
  id,
  name: names(type, id),
})

export function presentTeamMessage(message: ShownMessage, names: Names) {
  return {
    id: message.id,
    direction: message.direction,
    kind: message.kind,
    origin: message.origin,
    text: message.text,
    status: message.status,
    errorCode: message.errorCode,
    actor: message.actor,
    author: named(authorOf(message), names),
    occurredAt: message.occurredAt.toISOString(),
    referral: message.referral,
    ...presentDetail(message),
  }
}

function presentDetail({ detail, revision }: ShownMessage) {
  return {
    media: null,
    place: detail?.place ?? null,
    cards: detail?.cards ?? [],
    quoted: null,
    reaction: null,
    reactions: [],
    isForwarded: detail?.isForwarded ?? false,
    editedAt: revision?.editedAt ?? null,
    withdrawnAt: revision?.withdrawnAt ?? null,
    former: revision?.former ?? [],
  }
}

/** Notes with the names of who wrote them. */
export async function presentTeamNotes(
  deps: Pick<InboxDeps, 'db' | 'vault'>,
  workspaceId: string,
  notes: readonly Note[],
) {
  const names = await readNames(deps, workspaceId, namedActors(notes.map(({ actor }) => actor)))
  return notes.map((note) => presentTeamNote(note, names))
}

export function presentTeamNote({ id, text, mentions, actor, createdAt }: Note, names: Names) {
  return { id, text, mentions, actor: named(actor, names), createdAt: createdAt.toISOString() }
}
