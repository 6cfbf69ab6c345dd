import { Type } from 'typebox'
import { forbidden, unavailable } from '../../base/errors.ts'
import type { Quoted } from '../../channels/channel-event.ts'
import type { Member } from '../../team/member.ts'
import type { Conversation, InboxDeps, ReadDeps, Scope } from '../conversation/conversation.ts'
import { type GoalState, openWindow, shownClock, windowOf } from '../conversation/conversation-state.ts'
import { shownConsent } from '../conversation/customer.ts'
import { authorOf } from '../conversation/message.ts'
import { keyIdOf, writeOwner } from '../conversation/owner.ts'
import { standbyOwner } from '../conversation/thread-control.ts'
import { isInlineType, safeName } from '../media/inspect-file.ts'
import type { Note } from '../notes/notes.ts'
import {
  actorReferences,
  type ConversationView,
  type NamedContact,
  type Names,
  readConversationViews,
  readNames,
} from '../read/names.ts'
import { emojiOf, type MediaView, type MessageDetails } from '../read/read-details.ts'
import type { MessageView } from '../read/read-messages.ts'
import { presentPrompt } from '../send/prompt-schema.ts'
import { TeamConversation } from './inbox-schema.ts'

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
  const { id, direction, kind, origin, text, status, errorCode, actor, referral } = message
  return {
    id,
    direction,
    kind,
    origin,
    text,
    status,
    errorCode,
    actor,
    author: presentWithName(authorOf(message), names),
    occurredAt: message.occurredAt.toISOString(),
    referral,
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
export async function presentTeamNotes(deps: ReadDeps, workspaceId: string, notes: readonly Note[]) {
  const names = await readNames(deps, workspaceId, actorReferences(notes.map(({ actor }) => actor)))
  return notes.map((note) => presentTeamNote(note, names))
}

export function presentTeamNote({ id, text, mentions, actor, createdAt }: Note, names: Names) {
  return { id, text, mentions, actor: presentWithName(actor, names), createdAt: createdAt.toISOString() }
}

export const inboxPath = '/api/team/v1/workspaces/:workspaceId/inbox'
export const conversationsPath = `${inboxPath}/conversations`

export const conversationResponse = Type.Object({ conversation: TeamConversation })

/** Members can see all connections of their workspace. */
export const scopeOf = ({ workspaceId }: Member): Scope => ({ workspaceId, connectionIds: [] })

/** Returns one conversation as the team sees it. */
export async function presentOne(deps: InboxDeps, workspaceId: string, conversation: Conversation) {
  const shown = await readConversationViews(deps, workspaceId, [conversation])
  return shown.map((each) => presentTeamConversation(each, deps.clock.now()))[0] ?? throwNotFound()
}

/** Returns the response of a route that changes one conversation. */
export const answerWith = async (deps: InboxDeps, { workspaceId }: Member, conversation: Conversation) => ({
  conversation: await presentOne(deps, workspaceId, conversation),
})

/** Throws 403 and 503 unless the workspace can use its inbox. */
export function requireInbox({ workspace }: Member): void {
  if (!workspace.inboxEnabled) throw forbidden('The plan of this workspace does not include the inbox')
  if (!workspace.inboxAvailable) {
    throw unavailable('The inbox is not available for this workspace at the moment', { code: 'CHAT_INBOX_UNAVAILABLE' })
  }
}

function throwNotFound(): never {
  throw new Error('Conversation view not found')
}
