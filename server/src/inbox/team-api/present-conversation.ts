import type { Quoted } from '../../channels/channel-event.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import { openWindow, windowOf } from '../conversation/conversation-state.ts'
import { shownConsent } from '../conversation/customer.ts'
import { type GoalState, shownClock } from '../conversation/goal.ts'
import { authorOf } from '../conversation/message.ts'
import { keyIdOf, writeOwner } from '../conversation/owner.ts'
import { standbyOwner } from '../conversation/thread-control.ts'
import { isInlineType, safeName } from '../media/inspect-file.ts'
import type { Note } from '../notes/notes.ts'
import type { ConversationView } from '../read/names.ts'
import { actorReferences, type NamedContact, type Names, readNames } from '../read/names.ts'
import type { MediaView } from '../read/read-details.ts'
import { emojiOf, type MessageDetails } from '../read/read-details.ts'
import type { MessageView } from '../read/read-messages.ts'
import { presentPrompt } from '../send/prompt-schema.ts'

export function presentTeamConversation({ conversation, contact, newest, names }: ConversationView, now: Date) {
  const { lastMessage } = conversation
  const { marketing } = conversation.contact
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
    standbyFor: standbyOwner(conversation, now),
    status: conversation.status,
    snoozedUntil: conversation.snoozedUntil?.toISOString() ?? null,
    assignedTo: conversation.assignedTo,
    assignedToName: names('user', conversation.assignedTo),
    teamId: conversation.teamId,
    teamName: names('team', conversation.teamId),
    labelIds: conversation.labelIds,
    priority: conversation.priority,
    goal: presentGoal(conversation.goal),
    unreadCount: conversation.unreadCount,
    windowExpiresAt: openWindow(windowOf(conversation), now)?.toISOString() ?? null,
    optedOutAt: marketing?.isStopped ? marketing.at : null,
    marketingConsent: shownConsent(conversation.contact),
    utilityConsent: shownConsent(conversation.contact, 'utility'),
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
            author: presentWithName(newest.author, names),
          },
    contact: presentContact(contact),
    profileName: contact.profileName,
    leadId: contact.leadId,
    createdAt: conversation.createdAt.toISOString(),
    updatedAt: conversation.updatedAt.toISOString(),
  }
}

function presentGoal(state: GoalState | null) {
  const clock = shownClock(state)
  if (clock === null) return null
  const { goal, dueAt, warnAt, isMissed = false } = clock
  return { goal, dueAt, warnAt, isMissed }
}

export const presentContact = ({ name, phone }: NamedContact) => ({ name, phone })

export const presentWithName = <A extends { type: string; id: string | null }>({ type, id }: A, names: Names) => ({
  type: type as A['type'],
  id,
  name: names(type, id),
})

export function presentTeamMessage(message: MessageView, names: Names, details: MessageDetails) {
  return {
    id: message.id,
    direction: message.direction,
    kind: message.kind,
    origin: message.origin,
    text: message.text,
    status: message.status,
    errorCode: message.errorCode,
    actor: message.actor,
    author: presentWithName(authorOf(message), names),
    occurredAt: message.occurredAt.toISOString(),
    referral: message.referral,
    ...presentDetail(message, details),
  }
}

function presentDetail(message: MessageView, details: MessageDetails) {
  const { detail, revision } = message
  const media = details.media(message)
  return {
    media: media === null ? null : presentTeamMedia(media),
    place: detail?.place ?? null,
    cards: detail?.cards ?? [],
    quoted:
      detail?.quoted === undefined
        ? null
        : presentQuoted(detail.quoted, details.referenced(message, detail.quoted.externalId)),
    choices: detail?.choices ?? null,
    prompt: detail?.prompt === undefined ? null : presentPrompt(detail.prompt),
    reaction:
      detail?.reaction === undefined
        ? null
        : { messageId: details.referenced(message, detail.reaction.externalId)?.id ?? null, emoji: emojiOf(message) },
    reactions: details.reactions(message).map((reaction) => ({
      id: reaction.id,
      emoji: emojiOf(reaction),
      direction: reaction.direction,
      at: reaction.occurredAt.toISOString(),
    })),
    isForwarded: detail?.isForwarded ?? false,
    sources: [...(detail?.sources ?? [])],
    editedAt: revision?.editedAt ?? null,
    withdrawnAt: revision?.withdrawnAt ?? null,
    former: revision?.former ?? [],
  }
}

const maxQuoted = 300

/** Prefers the current text of the message, if known, to that of the quote. */
function presentQuoted(quoted: Quoted, message: MessageView | null) {
  const text = message === null ? quoted.text : message.text
  return {
    messageId: message?.id ?? null,
    direction: message?.direction ?? null,
    text: text?.slice(0, maxQuoted).toWellFormed() || null,
    mediaKind: message?.detail?.media?.kind ?? null,
  }
}

export function presentTeamMedia({ id, kind, state, failure, bytes, hasPreview, details }: MediaView) {
  const { realType, mimeType = null, name = null, thumbnail = null } = details
  return {
    id,
    kind,
    state,
    failure,
    // A file not yet downloaded has its declared name.
    name: name === null ? null : safeName(name),
    type: realType ?? mimeType,
    bytes: bytes ?? inRange(details.size, 0, Number.MAX_SAFE_INTEGER),
    width: inRange(details.width, 1, maxDeclared),
    height: inRange(details.height, 1, maxDeclared),
    seconds: inRange(details.seconds, 0, maxDeclared),
    waveform: details.waveform ?? null,
    placeholder: thumbnail,
    hasPreview,
    isInline: state === 'here' && isInlineType(realType),
    isAnimated: details.isAnimated ?? false,
  }
}

/** Limit of declared pixels and seconds, which come from strangers. */
const maxDeclared = 1_000_000

const inRange = (value: number | null | undefined, least: number, most: number): number | null =>
  typeof value === 'number' && value >= least && value <= most ? value : null

/** Returns notes with the names of their authors. */
export async function presentTeamNotes(
  deps: Pick<InboxDeps, 'db' | 'keyStore'>,
  workspaceId: string,
  notes: readonly Note[],
) {
  const names = await readNames(deps, workspaceId, actorReferences(notes.map(({ actor }) => actor)))
  return notes.map((note) => presentTeamNote(note, names))
}

export function presentTeamNote({ id, text, mentions, actor, createdAt }: Note, names: Names) {
  return { id, text, mentions, actor: presentWithName(actor, names), createdAt: createdAt.toISOString() }
}
