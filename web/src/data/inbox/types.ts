import type { components } from '../../api/schema.ts'

type Schemas = components['schemas']

/** A row of the list, and what a thread is headed by. */
export type Conversation = Schemas['TeamConversation']
export type Message = Schemas['TeamMessage']
/** A file of a message. */
export type Media = Schemas['TeamMedia']
export type Place = Schemas['TeamPlace']
export type ContactCard = Schemas['TeamCard']
export type Choices = Schemas['ShownChoices']
export type Quoted = Schemas['TeamQuoted']
export type Reaction = Schemas['TeamReaction']
export type GalleryItem = Schemas['GalleryItem']
export type Note = Schemas['TeamNote']
export type Activity = Schemas['TeamActivity']
export type Handover = Schemas['TeamHandover']
export type TimelineItem = Schemas['TimelineItem']
/** A message that says what was searched for. */
export type MessageSearchResult = Schemas['FoundMessage']
export type Lead = Schemas['TeamLead']
export type Counts = Schemas['TeamCounts']
/** What is to become of several conversations, and one of them as it was before. */
export type BulkChanges = Schemas['ManyChanges']
export type PreviousState = Schemas['FormerConversation']
export type Mention = Schemas['Mention']
export type Status = Conversation['status']

export const views = ['mine', 'unassigned', 'all', 'agents'] as const
export type View = (typeof views)[number]

/** What a list shows; it is the address of the page as well. */
export interface ConversationFilter {
  view: View
  status: Status | 'any'
  sort: 'recent' | 'waiting'
  /** `human`, `agent`, or `agent:` and a key. */
  owner?: string
  /** A member, `me` or `none`. */
  assignedTo?: string
  connectionId?: string
  labelId?: string
  unread?: boolean
  unanswered?: boolean
  search?: string
}

/** Somebody who has a conversation open. */
export interface Person {
  userId: string
  name: string | null
  state: 'viewing' | 'typing'
}

/** What a member sends. */
export type Reply = (
  | { kind: 'text'; text: string }
  | { kind: 'template'; template: TemplateChoice }
  | { kind: 'media'; upload_id: string; text?: string }
) & { quoted_message_id?: string }

/** What is sent, and stands on another message rather than by itself. */
export interface ReactionToSend {
  kind: 'reaction'
  message_id: string
  emoji: string | null
}

interface TemplateChoice {
  name: string
  language: string
  body_params?: string[]
  header_upload_id?: string
}

/** What the channel of a conversation takes. */
export type UploadLimits = Schemas['UploadLimits']
/** A file that the service holds, to be sent. */
export type Upload = Schemas['Upload']
export type MediaKind = Upload['kind']
