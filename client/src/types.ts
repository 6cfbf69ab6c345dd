// Written by `npm run contract` from docs/openapi.json.

export type AdPlatform = 'meta' | 'google' | 'tiktok' | 'linkedin' | 'chatgpt' | 'x' | 'other'

/** The click-to-chat ad that this message came from. */
export type AdReferral = {
  /** Id of the click on the ad. */
  ctwa_clid: string | null
  /** Id of the ad or post. */
  source_id: string | null
  /** What was clicked. */
  source_type: string | null
  /** Where it stands. */
  source_url: string | null
  /** Its headline. */
  headline: string | null
}

/** `waba`: official cloud API. `unofficial`: QR session. `partner`: connected partner number. */
export type Channel = 'waba' | 'unofficial' | 'partner'

export type Contact = {
  /** As the platform tells it. */
  name: string | null
  /** Digits with country code; masked for keys that see phones masked; null while it is hidden. */
  phone: string | null
}

export type Conversation = {
  /** The conversation. It stays the same for ever: a customer has one on each connection. */
  id: string
  /** The chat connection. */
  connection_id: string
  channel: Channel
  /** `human` or `agent:<api_key_id>`. Only the owner may send. */
  owner: string
  /** A message of the customer makes it `open`, whatever it was. */
  status: ConversationStatus
  /** The member it is assigned to. */
  assigned_to_user_id: string | null
  /** Labels of the workspace. */
  label_ids: string[]
  /** Customer messages since it was last marked read. */
  unread_count: number
  /** End of the 24-hour window in which text can be sent; null when closed. */
  window_expires_at: string | null
  /** When a timer opens it again; null: when the customer writes. */
  snoozed_until: string | null
  /** When its newest message was sent, by the platform. */
  last_message_at: string
  /** When it last changed. */
  updated_at: string
  contact: Contact
}

export type ConversationStatus = 'open' | 'pending' | 'snoozed' | 'resolved' | 'closed'

export type CustomField = {
  /** The original key, with the prefix `k_` if it came from a query parameter. */
  key: string
  /** Display name; the key if none was given. */
  label: string
  type: CustomFieldType
  /** Boolean for `boolean` only. */
  value: string | boolean
}

export type CustomFieldType = 'text' | 'textarea' | 'email' | 'phone' | 'url' | 'number' | 'date' | 'select' | 'multiselect' | 'boolean'

/** `inbound` is from the customer. */
export type Direction = 'inbound' | 'outbound'

/** Shape of every error. */
export type ErrorBody = {
  /** HTTP status. */
  statusCode: number
  /** What went wrong, for people. */
  statusMessage: string
  /** Details for programs: `issues`, `code`, `field` or `requestId`. */
  data?: {
    /** Branch on this. */
    code?: string
    /** The field whose value exists already. */
    field?: string
    /** Same as `x-request-id`: quote it when you report a problem. */
    requestId?: string
    /** Validation errors, at most 20. */
    issues?: ({
      /** Path of the field; empty: the whole body or query. */
      path: string
      /** What to change. */
      message: string
    })[]
  }
}

/** `event` determines the shape of `payload`. Phone numbers are masked if the key masks them. */
export type ParleyEvent = LeadCreated | LeadUpdated | LeadDeleted | LeadRestored | InboxMessageReceived | InboxMessageSent | InboxMessageStatus | InboxConversationOwnerChanged

/** Who did it. An agent compares `id` with its own key id to skip what it did itself. */
export type EventActor = {
  type: string
  id: string | null
}

export type InboxConversationOwnerChanged = {
  /** The event; equals the `webhook-id` of its deliveries. Process each id once. */
  id: string
  event: 'inbox.conversation.owner_changed'
  /** Time when it was recorded. */
  occurred_at: string
  payload: OwnerChangedEvent
}

export type InboxMessageReceived = {
  /** The event; equals the `webhook-id` of its deliveries. Process each id once. */
  id: string
  event: 'inbox.message.received'
  /** Time when it was recorded. */
  occurred_at: string
  payload: MessageReceivedEvent
}

export type InboxMessageSent = {
  /** The event; equals the `webhook-id` of its deliveries. Process each id once. */
  id: string
  event: 'inbox.message.sent'
  /** Time when it was recorded. */
  occurred_at: string
  payload: MessageSentEvent
}

export type InboxMessageStatus = {
  /** The event; equals the `webhook-id` of its deliveries. Process each id once. */
  id: string
  event: 'inbox.message.status'
  /** Time when it was recorded. */
  occurred_at: string
  payload: MessageStatusEvent
}

export type InteractiveToSend = {
  /** Not supported: 422 `UNSUPPORTED_KIND`. */
  kind: 'interactive'
}

/** A lead. */
export type Lead = {
  /** Assigned by the service (UUIDv7). */
  id: string
  /** Short code of the lead, 1 to 255 characters, unique in the workspace. Generated when not sent. */
  uniqueCode: string
  /** The caller's own reference, at most 255 characters, unique in the workspace. Null clears it. */
  externalRef: string | null
  /** 1 to 255 characters. */
  firstName: string
  /** At most 255 characters. */
  lastName: string | null
  /** At most 254 characters, kept as typed and compared in lower case. Null clears it. Encrypted at rest. */
  email: string | null
  /** 8 to 20 digits with country code; masked for callers with masked phone visibility. */
  phone: string | null
  /** 1 to 50 characters of a-z, 0-9 and _. Any transition is allowed; each is kept in the history. */
  status: string
  /** Urgency of the lead. */
  priority: LeadPriority
  /** Origin of the lead; `chat_app` is the chat application. */
  source: LeadSource
  /** The advertising platform that brought the lead. */
  adPlatform: AdPlatform | null
  /** User handling the lead. Must be a member of the workspace. */
  assignedTo: string | null
  /** At most two decimals. Null clears it. */
  estimatedValue: number | null
  /** At most two decimals. Null clears it. */
  actualValue: number | null
  /** At most 10,000 characters. Null clears it. Encrypted at rest. */
  notes: string | null
  /** UTC, with milliseconds. */
  createdAt: string
  /** UTC, with milliseconds. */
  updatedAt: string
  /** Always null: a deleted lead is not shown. */
  deletedAt: string | null
}

export type LeadChanges = {
  /** Short code of the lead, 1 to 255 characters, unique in the workspace. Generated when not sent. */
  uniqueCode?: string
  /** The caller's own reference, at most 255 characters, unique in the workspace. Null clears it. */
  externalRef?: string | null
  /** 1 to 255 characters after trimming. The only field required on create. Encrypted at rest. */
  firstName?: string
  /** At most 255 characters after trimming. Null clears it. Encrypted at rest. */
  lastName?: string | null
  /** At most 254 characters, kept as typed and compared in lower case. Null clears it. Encrypted at rest. */
  email?: string | null
  /** Phone with country code: 8 to 20 digits once formatting is removed, kept as digits. National numbers are accepted if the workspace has a default country. Null clears it. Encrypted at rest. */
  phone?: string | null
  /** 1 to 50 characters of a-z, 0-9 and _. Any transition is allowed; each is kept in the history. */
  status?: string
  /** Urgency of the lead. */
  priority?: LeadPriority
  /** Origin of the lead; `chat_app` is the chat application. */
  source?: LeadSource
  /** The advertising platform that brought the lead. */
  adPlatform?: AdPlatform | null
  /** User handling the lead. Must be a member of the workspace. */
  assignedTo?: string | null
  /** At most two decimals. Null clears it. */
  estimatedValue?: number | null
  /** At most two decimals. Null clears it. */
  actualValue?: number | null
  /** At most 10,000 characters. Null clears it. Encrypted at rest. */
  notes?: string | null
  /** Alias of `actualValue`. */
  value?: number | null
  /** Key to value. Keys: at most 40 characters, lowercase snake_case, a letter first; at most 10 fields a lead. Responses also list a `k_` field without its prefix, unless another field has that name. In a body, null removes a field. */
  customFieldValues?: Record<string, string | boolean | null>
  /** Read-only: ignored. */
  id?: unknown
  /** Read-only: ignored. */
  createdAt?: unknown
  /** Read-only: ignored. */
  updatedAt?: unknown
  /** Read-only: ignored. */
  deletedAt?: unknown
  /** Read-only: ignored. */
  customFields?: unknown
  /** Read-only: ignored. */
  previousStatus?: unknown
}

export type LeadCreated = {
  /** The event; equals the `webhook-id` of its deliveries. Process each id once. */
  id: string
  event: 'lead.created'
  /** Time when it was recorded. */
  occurred_at: string
  payload: LeadEvent
}

export type LeadDeleted = {
  /** The event; equals the `webhook-id` of its deliveries. Process each id once. */
  id: string
  event: 'lead.deleted'
  /** Time when it was recorded. */
  occurred_at: string
  payload: LeadEvent
}

/** A lead with its custom fields. */
export type LeadDetail = {
  /** Assigned by the service (UUIDv7). */
  id: string
  /** Short code of the lead, 1 to 255 characters, unique in the workspace. Generated when not sent. */
  uniqueCode: string
  /** The caller's own reference, at most 255 characters, unique in the workspace. Null clears it. */
  externalRef: string | null
  /** 1 to 255 characters. */
  firstName: string
  /** At most 255 characters. */
  lastName: string | null
  /** At most 254 characters, kept as typed and compared in lower case. Null clears it. Encrypted at rest. */
  email: string | null
  /** 8 to 20 digits with country code; masked for callers with masked phone visibility. */
  phone: string | null
  /** 1 to 50 characters of a-z, 0-9 and _. Any transition is allowed; each is kept in the history. */
  status: string
  /** Urgency of the lead. */
  priority: LeadPriority
  /** Origin of the lead; `chat_app` is the chat application. */
  source: LeadSource
  /** The advertising platform that brought the lead. */
  adPlatform: AdPlatform | null
  /** User handling the lead. Must be a member of the workspace. */
  assignedTo: string | null
  /** At most two decimals. Null clears it. */
  estimatedValue: number | null
  /** At most two decimals. Null clears it. */
  actualValue: number | null
  /** At most 10,000 characters. Null clears it. Encrypted at rest. */
  notes: string | null
  /** UTC, with milliseconds. */
  createdAt: string
  /** UTC, with milliseconds. */
  updatedAt: string
  /** Always null: a deleted lead is not shown. */
  deletedAt: string | null
  /** Only when the lead has custom fields. */
  customFields?: CustomField[]
  /** Key to value. Keys: at most 40 characters, lowercase snake_case, a letter first; at most 10 fields a lead. Responses also list a `k_` field without its prefix, unless another field has that name. In a body, null removes a field. */
  customFieldValues?: Record<string, string | boolean | null>
}

/** `lead.*`: the lead right after the change. */
export type LeadEvent = {
  /** Assigned by the service (UUIDv7). */
  id: string
  /** Short code of the lead, 1 to 255 characters, unique in the workspace. Generated when not sent. */
  uniqueCode: string
  /** The caller's own reference, at most 255 characters, unique in the workspace. Null clears it. */
  externalRef: string | null
  /** 1 to 255 characters. */
  firstName: string
  /** At most 255 characters. */
  lastName: string | null
  /** At most 254 characters, kept as typed and compared in lower case. Null clears it. Encrypted at rest. */
  email: string | null
  /** 8 to 20 digits with country code; masked for callers with masked phone visibility. */
  phone: string | null
  /** 1 to 50 characters of a-z, 0-9 and _. Any transition is allowed; each is kept in the history. */
  status: string
  /** Urgency of the lead. */
  priority: LeadPriority
  /** Origin of the lead; `chat_app` is the chat application. */
  source: LeadSource
  /** The advertising platform that brought the lead. */
  adPlatform: AdPlatform | null
  /** User handling the lead. Must be a member of the workspace. */
  assignedTo: string | null
  /** At most two decimals. Null clears it. */
  estimatedValue: number | null
  /** At most two decimals. Null clears it. */
  actualValue: number | null
  /** At most 10,000 characters. Null clears it. Encrypted at rest. */
  notes: string | null
  /** UTC, with milliseconds. */
  createdAt: string
  /** UTC, with milliseconds. */
  updatedAt: string
  /** Set only in `lead.deleted`. */
  deletedAt: string | null
  /** Only when the lead has custom fields. */
  customFields?: CustomField[]
  /** Key to value. Keys: at most 40 characters, lowercase snake_case, a letter first; at most 10 fields a lead. Responses also list a `k_` field without its prefix, unless another field has that name. In a body, null removes a field. */
  customFieldValues?: Record<string, string | boolean | null>
  /** The former status, in `lead.updated` if the status changed. */
  previousStatus?: string
}

export type LeadMatch = {
  /** The field to match by. */
  by: 'id' | 'uniqueCode' | 'phone' | 'externalRef'
  /** The value to match; a phone matches in all its common variants. */
  value: string
}

export type LeadPriority = 'low' | 'medium' | 'high' | 'urgent'

export type LeadRestored = {
  /** The event; equals the `webhook-id` of its deliveries. Process each id once. */
  id: string
  event: 'lead.restored'
  /** Time when it was recorded. */
  occurred_at: string
  payload: LeadEvent
}

export type LeadSource = 'website' | 'chat_app' | 'phone' | 'email' | 'referral' | 'social' | 'ads' | 'event' | 'other'

export type LeadUpdated = {
  /** The event; equals the `webhook-id` of its deliveries. Process each id once. */
  id: string
  event: 'lead.updated'
  /** Time when it was recorded. */
  occurred_at: string
  payload: LeadEvent
}

export type LeadUpsert = {
  match: LeadMatch
  lead: LeadChanges
  /** If not false and no lead matches, a lead is created. */
  createIfMissing?: boolean
}

export type Message = {
  /** The message. */
  id: string
  /** The platform's id; empty until it has assigned one. It holds the customer's number, so that keys with masked phones get a stable stand-in. */
  external_id: string
  direction: Direction
  kind: MessageKind
  /** What was said; the caption of media. */
  text: string
  /** Always null: this interface returns no media. */
  media: Record<string, unknown> | null
  status: MessageStatus
  /** Why it failed: the platform's code. */
  error_code: string | null
  /** Who sent it through this service; null for inbound messages and for echoes. */
  actor: {
    /** `agent` is an API key. */
    type: 'agent' | 'user' | 'token' | 'form' | 'system'
    id: string | null
  } | null
  /** The platform's time, unique within the conversation. */
  occurred_at: string
  referral: AdReferral | null
}

/** Only `text` and `template` can be sent. */
export type MessageKind = 'text' | 'template' | 'image' | 'video' | 'audio' | 'document' | 'location' | 'system'

/** `inbox.message.received`: a message of the customer has arrived. */
export type MessageReceivedEvent = {
  conversation: {
    /** The conversation. It stays the same for ever: a customer has one on each connection. */
    id: string
    /** The chat connection. */
    connection_id: string
    channel: Channel
    /** `human` or `agent:<api_key_id>`. Only the owner may send. */
    owner: string
    /** A message of the customer makes it `open`, whatever it was. */
    status: ConversationStatus
    /** End of the 24-hour window in which text can be sent; null when closed. */
    window_expires_at: string | null
  }
  contact: Contact
  message: {
    /** The message. */
    id: string
    /** The platform's id; empty until it has assigned one. It holds the customer's number, so that keys with masked phones get a stable stand-in. */
    external_id: string | null
    kind: MessageKind
    /** What was said; the caption of media. */
    text: string
    /** Always null: this interface returns no media. */
    media: Record<string, unknown> | null
    /** The platform's time, unique within the conversation. */
    occurred_at: string
  }
  referral: AdReferral | null
}

/** `inbox.message.sent`: a message has gone out, also the reader's own, or was echoed. */
export type MessageSentEvent = {
  conversation: {
    /** The conversation. It stays the same for ever: a customer has one on each connection. */
    id: string
    /** The chat connection. */
    connection_id: string
    channel: Channel
    /** `human` or `agent:<api_key_id>`. Only the owner may send. */
    owner: string
  }
  message: {
    /** The message. */
    id: string
    kind: MessageKind
    /** What was said; the caption of media. */
    text: string
    status: MessageStatus
    /** The platform's time, unique within the conversation. */
    occurred_at: string
  }
  /** Null for echoes. */
  actor: EventActor | null
}

/** Climbs and never goes down. */
export type MessageStatus = 'pending' | 'sent' | 'delivered' | 'read' | 'failed'

/** `inbox.message.status`: a message has climbed, or failed. */
export type MessageStatusEvent = {
  /** The conversation. It stays the same for ever: a customer has one on each connection. */
  conversation_id: string
  /** The message. */
  message_id: string
  status: MessageStatus
  /** Why it failed: the platform's code. */
  error_code: string | null
  /** When it happened. */
  at: string
}

export type NewLead = {
  /** Short code of the lead, 1 to 255 characters, unique in the workspace. Generated when not sent. */
  uniqueCode?: string
  /** The caller's own reference, at most 255 characters, unique in the workspace. Null clears it. */
  externalRef?: string | null
  /** 1 to 255 characters after trimming. The only field required on create. Encrypted at rest. */
  firstName: string
  /** At most 255 characters after trimming. Null clears it. Encrypted at rest. */
  lastName?: string | null
  /** At most 254 characters, kept as typed and compared in lower case. Null clears it. Encrypted at rest. */
  email?: string | null
  /** Phone with country code: 8 to 20 digits once formatting is removed, kept as digits. National numbers are accepted if the workspace has a default country. Null clears it. Encrypted at rest. */
  phone?: string | null
  /** 1 to 50 characters of a-z, 0-9 and _. Any transition is allowed; each is kept in the history. */
  status?: string
  /** Urgency of the lead. */
  priority?: LeadPriority
  /** Origin of the lead; `chat_app` is the chat application. */
  source?: LeadSource
  /** The advertising platform that brought the lead. */
  adPlatform?: AdPlatform | null
  /** User handling the lead. Must be a member of the workspace. */
  assignedTo?: string | null
  /** At most two decimals. Null clears it. */
  estimatedValue?: number | null
  /** At most two decimals. Null clears it. */
  actualValue?: number | null
  /** At most 10,000 characters. Null clears it. Encrypted at rest. */
  notes?: string | null
  /** Alias of `actualValue`. */
  value?: number | null
  /** Key to value. Keys: at most 40 characters, lowercase snake_case, a letter first; at most 10 fields a lead. Responses also list a `k_` field without its prefix, unless another field has that name. In a body, null removes a field. */
  customFieldValues?: Record<string, string | boolean | null>
  /** Read-only: ignored. */
  id?: unknown
  /** Read-only: ignored. */
  createdAt?: unknown
  /** Read-only: ignored. */
  updatedAt?: unknown
  /** Read-only: ignored. */
  deletedAt?: unknown
  /** Read-only: ignored. */
  customFields?: unknown
  /** Read-only: ignored. */
  previousStatus?: unknown
}

/** `inbox.conversation.owner_changed`: somebody else may send now. */
export type OwnerChangedEvent = {
  /** The conversation. It stays the same for ever: a customer has one on each connection. */
  conversation_id: string
  /** `human` or `agent:<api_key_id>`. Only the owner may send. */
  owner: string
  actor: EventActor
  /** When it happened. */
  at: string
  /** The hand-over that says why; only there when somebody wrote one. */
  handover_id?: string
}

export type SendResult = {
  /** The message. */
  message_id: string
  /** What the platform said at once. Later changes arrive as `inbox.message.status`. */
  status: 'sent' | 'failed'
}

export type Template = {
  /** The template. */
  id: string
  /** The chat connection that it can be sent on. */
  connection_id: string
  /** As it is named at the platform. */
  name: string
  /** Language code. */
  language: string
  /** As the platform spells it. */
  category: string
  /** With placeholders `{{1}}`, `{{2}}`, …. */
  body: string
  /** How many `body_params` a send needs. */
  parameter_count: number
}

export type TemplateChoice = {
  name: string
  /** Language code. */
  language: string
  /** Fill `{{1}}`, `{{2}}`, … in order: as many as the template has in `parameter_count`. */
  body_params?: string[]
}

export type TemplateToSend = {
  /** An approved template, to open or restart a conversation. */
  kind: 'template'
  template: TemplateChoice
}

export type TextToSend = {
  /** A free text, for as long as the 24-hour window is open. */
  kind: 'text'
  /** At most 16,384 characters. What is too long for one message of the channel goes out as several, in order; to the caller it stays one message. */
  text: string
  /** Shows a preview of the first link. Default: `false`. */
  preview_url?: boolean
}

export type UpdatedLead = {
  /** Assigned by the service (UUIDv7). */
  id: string
  /** Short code of the lead, 1 to 255 characters, unique in the workspace. Generated when not sent. */
  uniqueCode: string
  /** The caller's own reference, at most 255 characters, unique in the workspace. Null clears it. */
  externalRef: string | null
  /** 1 to 255 characters. */
  firstName: string
  /** At most 255 characters. */
  lastName: string | null
  /** At most 254 characters, kept as typed and compared in lower case. Null clears it. Encrypted at rest. */
  email: string | null
  /** 8 to 20 digits with country code; masked for callers with masked phone visibility. */
  phone: string | null
  /** 1 to 50 characters of a-z, 0-9 and _. Any transition is allowed; each is kept in the history. */
  status: string
  /** Urgency of the lead. */
  priority: LeadPriority
  /** Origin of the lead; `chat_app` is the chat application. */
  source: LeadSource
  /** The advertising platform that brought the lead. */
  adPlatform: AdPlatform | null
  /** User handling the lead. Must be a member of the workspace. */
  assignedTo: string | null
  /** At most two decimals. Null clears it. */
  estimatedValue: number | null
  /** At most two decimals. Null clears it. */
  actualValue: number | null
  /** At most 10,000 characters. Null clears it. Encrypted at rest. */
  notes: string | null
  /** UTC, with milliseconds. */
  createdAt: string
  /** UTC, with milliseconds. */
  updatedAt: string
  /** Always null: a deleted lead is not shown. */
  deletedAt: string | null
  /** The status before this update. */
  previousStatus?: string
  /** Alias of `actualValue`. */
  value?: number | null
}

export type ListLeadsQuery = {
  /** One status, or several separated by commas. */
  status?: string
  priority?: LeadPriority
  source?: LeadSource
  adPlatform?: AdPlatform
  /** Leads of this user. */
  assignedTo?: string
  /** Created at or after; ISO 8601, a bare date is midnight UTC. */
  createdFrom?: string
  /** Created at or before; ISO 8601. */
  createdTo?: string
  /** Updated at or after; ISO 8601. */
  updatedFrom?: string
  /** Updated at or before; ISO 8601. */
  updatedTo?: string
  /** Default `createdAt`. */
  sortBy?: 'createdAt' | 'updatedAt'
  /** Default `desc`. */
  sortOrder?: 'asc' | 'desc'
  /** The `nextCursor` of the previous page, unchanged, with the same filters and sort. */
  cursor?: string
  /** Leads per page. Default 50. */
  limit?: number
  /** Legacy page number, from 1; ignored if `cursor` is sent. */
  page?: number
  /** Finds leads whose name, e-mail, phone, uniqueCode or externalRef contains the text, ignoring case and accents. A text shorter than 3 characters matches whole words of names, and the start of uniqueCodes and externalRefs; in scripts without spaces between words, such as Chinese, it matches any part. */
  search?: string
}

export type ListLeadsAnswer = {
  /** True when the request succeeded. */
  success: boolean
  data: Lead[]
  pagination: {
    /** Null in cursor mode. */
    page: number | null
    limit: number
    /** Exact number of leads that match the filters. */
    total: number
    /** Null in cursor mode. */
    totalPages: number | null
    /** The cursor that was sent. */
    cursor: string | null
    /** Send it as `cursor` for the next page; null at the end. */
    nextCursor: string | null
  }
}

export type CreateLeadBody = NewLead

export type CreateLeadAnswer = {
  /** True when the request succeeded. */
  success: boolean
  message: string
  data: Lead
  lead: Lead
}

export type GetLeadAnswer = {
  /** True when the request succeeded. */
  success: boolean
  data: LeadDetail
}

export type UpdateLeadBody = LeadChanges

export type UpdateLeadAnswer = {
  /** True when the request succeeded. */
  success: boolean
  /** `Lead updated successfully` or `No changes detected`. */
  message: string
  data: UpdatedLead
  lead: UpdatedLead
}

export type DeleteLeadAnswer = {
  /** True when the request succeeded. */
  success: boolean
  message: string
}

export type RestoreLeadAnswer = {
  /** True when the request succeeded. */
  success: boolean
  message: string
  data: Lead
  lead: Lead
}

export type UpsertLeadQuery = {
  /** Returns what would happen, without writing anything or using quota. */
  dryRun?: boolean
}

export type UpsertLeadBody = LeadUpsert

export type UpsertLeadAnswer = {
  /** True when the request succeeded. */
  success: boolean
  action: 'created' | 'updated'
  data: Lead
  lead: Lead
  /** True if this was a dry run; otherwise absent. */
  dryRun?: boolean
}

export type BulkUpsertLeadsQuery = {
  /** Returns what would happen, without writing anything or using quota. */
  dryRun?: boolean
}

export type BulkUpsertLeadsBody = {
  /** At most 100 upserts, processed in order; a later item sees the changes of earlier ones. Each item is validated separately. */
  items: LeadUpsert[]
  options?: {
    /** Default true. If false, processing stops at the first failure, which is the last result. */
    continueOnError?: boolean
  }
}

export type BulkUpsertLeadsAnswer = {
  /** True when no item failed. */
  success: boolean
  /** Number of results. */
  processed: number
  created: number
  updated: number
  failed: number
  results: ({
    /** Position of the item, from 0. */
    index: number
    /** The matcher as sent. */
    match: unknown
    success: boolean
    action?: 'created' | 'updated'
    lead?: Lead
    error?: ErrorBody
  })[]
  /** True if this was a dry run; otherwise absent. */
  dryRun?: boolean
}

export type ListConversationsQuery = {
  /** Only conversations of this connection. */
  connection_id?: string
  /** The customer's number, 8 to 20 digits: the conversation with exactly that number, or none. A key that sees phones masked may ask for 30 a minute that are none. */
  phone?: string
  /** `human`, `agent` (any agent) or `agent:<api_key_id>`. */
  owner?: string
  /** A message of the customer makes it `open`, whatever it was. */
  status?: ConversationStatus
  /** Only conversations updated after it. */
  updated_after?: string
  /** At most 100. */
  limit?: number
  /** From the page before; good for the same filters only. */
  cursor?: string
}

export type ListConversationsAnswer = {
  conversations: Conversation[]
  /** Null: there is no next page. */
  cursor: string | null
}

export type GetConversationAnswer = {
  conversation: Conversation
}

export type UpdateConversationBody = {
  /** `human` or the key's own `agent:<api_key_id>`; another agent's id is 403 `OWNER_FORBIDDEN`. */
  owner?: string
  /** A message of the customer makes it `open`, whatever it was. */
  status?: ConversationStatus
  /** Replaces the labels. Unknown ids are 400. */
  label_ids?: string[]
  /** Adds an internal note; nothing is sent to the customer. */
  note?: string
}

export type UpdateConversationAnswer = {
  conversation: Conversation
}

export type ListMessagesQuery = {
  /** At most 100. */
  limit?: number
  /** Only messages that occurred before it. */
  before?: string
}

export type ListMessagesAnswer = {
  messages: Message[]
  /** Whether there are older ones. */
  has_more: boolean
}

export type SendMessageBody = TextToSend | TemplateToSend | InteractiveToSend

export type SendMessageAnswer = SendResult

export type MarkConversationReadAnswer = {
  /** The conversation. It stays the same for ever: a customer has one on each connection. */
  id: string
  /** Always 0. */
  unread_count: number
}

export type RecordEchoBody = {
  /** A `waba` connection that the key sees. */
  connection_id: string
  /** The customer's number, digits only, with country code. */
  to: string
  /** The platform's id of the message; one id stores one message. */
  external_id: string
  /** `interactive` is stored as `text`. */
  kind: 'text' | 'template' | 'interactive'
  /** The text, or a short summary. */
  body: string
  /** When it was sent, with offset; now unless given. */
  occurred_at?: string
}

export type RecordEchoAnswer = {
  /** The message. */
  message_id: string
  /** False for an `external_id` that is recorded already. */
  inserted: boolean
}

export type ListTemplatesQuery = {
  /** Only templates of this connection. */
  connection_id?: string
}

export type ListTemplatesAnswer = {
  templates: Template[]
}

export type ListEventsQuery = {
  /** `next_cursor` of the previous response. Omitted: start at the oldest kept event. `latest`: only new events. A cursor belongs to the workspace, not to a filter or key: `events` and the key can change between calls. */
  after?: string
  /** Maximum number of events, up to 100. */
  limit?: number
  /** Seconds to wait for an event if there is none: returns with the first one, or empty on timeout. Each key can have 10 waiting requests. */
  wait?: number
  /** Comma-separated filter: event names, `lead.*` or `inbox.*`. */
  events?: string
}

export type ListEventsAnswer = {
  /** Oldest first. */
  events: ParleyEvent[]
  /** Always present, even without events. Store it after you have processed the events, and send it as `after`. */
  next_cursor: string
  /** More events are available now. With a filter, it can be true without events. */
  has_more: boolean
}
