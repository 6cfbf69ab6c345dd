import type { Schemas } from '../../api/client.ts'

/** Shown in lists and in the header of a thread. */
export type Conversation = Schemas['TeamConversation']
export type Message = Schemas['TeamMessage']
export type Media = Schemas['TeamMedia']
export type Place = Schemas['TeamPlace']
export type ContactCard = Schemas['TeamCard']
export type Choices = Schemas['ShownChoices']
export type ShownPrompt = Schemas['ShownPrompt']
export type Quoted = Schemas['TeamQuoted']
export type Reaction = Schemas['TeamReaction']
export type GalleryItem = Schemas['GalleryItem']
export type Note = Schemas['TeamNote']
export type Activity = Schemas['TeamActivity']
export type Handover = Schemas['TeamHandover']
export type TimelineItem = Schemas['TimelineItem']
/** Result of a message search. */
export type MessageSearchResult = Schemas['FoundMessage']
export type Lead = Schemas['TeamLead']
/** Changes to several conversations, and the former state of one of them. */
export type BulkChanges = Schemas['ManyChanges']
export type PreviousState = Schemas['FormerConversation']
export type Mention = Schemas['Mention']
export type Status = Conversation['status']

export type Goal = NonNullable<Conversation['goal']>

export const priorities = ['low', 'normal', 'high', 'urgent'] as const
export type Priority = (typeof priorities)[number]

export const views = ['mine', 'unassigned', 'all', 'agents'] as const
export type View = (typeof views)[number]

/** Filter of a list; it is also the address of the page. */
export interface ConversationFilter {
  view: View
  status: Status | 'any'
  sort: 'recent' | 'waiting' | 'due' | 'priority'
  /** `human`, `agent`, or `agent:` and the id of a key. */
  owner?: string
  /** The id of a member, `me` or `none`. */
  assignedTo?: string
  connectionId?: string
  /** The id of a team, or `none`. */
  teamId?: string
  labelId?: string
  unread?: boolean
  unanswered?: boolean
  priority?: Priority
  /** Only with a missed goal that is still to be reached. */
  overdue?: boolean
  search?: string
}

/** A member who has a conversation open. */
export type Person = Schemas['Presence']

export type Reply = (
  | { kind: 'text'; text: string }
  | { kind: 'template'; template: Schemas['TemplateChoiceAsMember'] }
  | { kind: 'media'; upload_id: string; text?: string }
  | { kind: 'link'; link: Schemas['LinkToSend'] }
  | { kind: 'location_request'; location_request: Schemas['LocationToRequest'] }
  | { kind: 'contact_request'; contact_request: Schemas['ContactToRequest'] }
  | { kind: 'address_request'; address_request: Schemas['AddressToRequest'] }
  | { kind: 'flow'; flow: Schemas['FlowToSend'] }
) & { quoted_message_id?: string }

/** A reaction is attached to another message instead of being one of its own. */
export type ReactionToSend = Pick<Schemas['ReactionToSendAsMember'], 'kind' | 'message_id' | 'emoji'>

/** Limits of the conversation's channel. */
export type UploadLimits = Schemas['UploadLimits']
/** An uploaded file that can be sent. */
export type Upload = Schemas['Upload']
export type MediaKind = Upload['kind']
