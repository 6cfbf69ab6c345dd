// Written by `npm run contract` from docs/openapi.json.

export type AdPlatform = 'meta' | 'google' | 'tiktok' | 'linkedin' | 'chatgpt' | 'x' | 'other'

/** The click-to-chat ad that this message came from. */
export type AdReferral = {
  /** Id of the click on the ad. */
  ctwa_clid: string | null
  /** Id of the ad or post. */
  source_id: string | null
  /** Type of the clicked source. */
  source_type: string | null
  /** URL of the ad or post. */
  source_url: string | null
  /** Headline of the ad. */
  headline: string | null
}

/** `waba`: official cloud API. `unofficial`: QR session. `partner`: connected partner number. */
export type Channel = 'waba' | 'unofficial' | 'partner'

export type Contact = {
  /** Name from the platform. */
  name: string | null
  /** Digits with country code; masked for keys that see phones masked; null while the customer hides it. */
  phone: string | null
}

export type Conversation = {
  /** Conversation id. Never changes: a customer has one conversation per connection. */
  id: string
  /** Chat connection id. */
  connection_id: string
  channel: Channel
  /** `human` or `agent:<api_key_id>`. Only the owner may send. */
  owner: string
  /** A customer message sets it to `open`, whatever it was before. */
  status: ConversationStatus
  /** Assigned member. */
  assigned_to_user_id: string | null
  /** Labels of the workspace. */
  label_ids: string[]
  /** Customer messages since the conversation was last marked read. */
  unread_count: number
  /** End of the 24-hour window in which text can be sent; null if closed. */
  window_expires_at: string | null
  /** When a timer reopens the conversation; null if only a customer message does. */
  snoozed_until: string | null
  /** Platform time of the newest message. */
  last_message_at: string
  /** Time of the last change. */
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

/** `inbound`: from the customer. */
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

/** Who caused the event. An agent compares `id` with its own key id to skip its own actions. */
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
  /** Message id. */
  id: string
  /** Platform id; empty until assigned. It contains the customer's number, so keys that see phones masked get a stable opaque id instead. */
  external_id: string
  direction: Direction
  kind: MessageKind
  /** Message text, or the caption of media. */
  text: string
  /** Always null: this interface returns no media. */
  media: Record<string, unknown> | null
  status: MessageStatus
  /** The platform's error code if the message failed. */
  error_code: string | null
  /** Who sent the message through this service; null for inbound messages and echoes. */
  actor: {
    /** `agent` is an API key. */
    type: 'agent' | 'user' | 'token' | 'form' | 'system'
    id: string | null
  } | null
  /** Platform time, unique within the conversation. */
  occurred_at: string
  referral: AdReferral | null
}

/** Only `text` and `template` can be sent. */
export type MessageKind = 'text' | 'template' | 'image' | 'video' | 'audio' | 'document' | 'location' | 'system'

/** `inbox.message.received`: a customer message arrived. */
export type MessageReceivedEvent = {
  conversation: {
    /** Conversation id. Never changes: a customer has one conversation per connection. */
    id: string
    /** Chat connection id. */
    connection_id: string
    channel: Channel
    /** `human` or `agent:<api_key_id>`. Only the owner may send. */
    owner: string
    /** A customer message sets it to `open`, whatever it was before. */
    status: ConversationStatus
    /** End of the 24-hour window in which text can be sent; null if closed. */
    window_expires_at: string | null
  }
  contact: Contact
  message: {
    /** Message id. */
    id: string
    /** Platform id; empty until assigned. It contains the customer's number, so keys that see phones masked get a stable opaque id instead. */
    external_id: string | null
    kind: MessageKind
    /** Message text, or the caption of media. */
    text: string
    /** Always null: this interface returns no media. */
    media: Record<string, unknown> | null
    /** Platform time, unique within the conversation. */
    occurred_at: string
  }
  referral: AdReferral | null
}

/** `inbox.message.sent`: a message was sent (also by the receiving key) or recorded as an echo. */
export type MessageSentEvent = {
  conversation: {
    /** Conversation id. Never changes: a customer has one conversation per connection. */
    id: string
    /** Chat connection id. */
    connection_id: string
    channel: Channel
    /** `human` or `agent:<api_key_id>`. Only the owner may send. */
    owner: string
  }
  message: {
    /** Message id. */
    id: string
    kind: MessageKind
    /** Message text, or the caption of media. */
    text: string
    status: MessageStatus
    /** Platform time, unique within the conversation. */
    occurred_at: string
  }
  /** Null for echoes. */
  actor: EventActor | null
}

/** Only advances, never goes back. */
export type MessageStatus = 'pending' | 'sent' | 'delivered' | 'read' | 'failed'

/** `inbox.message.status`: the status of a message advanced, or the message failed. */
export type MessageStatusEvent = {
  /** Conversation id. Never changes: a customer has one conversation per connection. */
  conversation_id: string
  /** Message id. */
  message_id: string
  status: MessageStatus
  /** The platform's error code if the message failed. */
  error_code: string | null
  /** Time of the change. */
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

/** `inbox.conversation.owner_changed`: the conversation has a new owner. */
export type OwnerChangedEvent = {
  /** Conversation id. Never changes: a customer has one conversation per connection. */
  conversation_id: string
  /** `human` or `agent:<api_key_id>`. Only the owner may send. */
  owner: string
  actor: EventActor
  /** Time of the change. */
  at: string
  /** The handover with its note; present only if one was written. */
  handover_id?: string
}

export type SendResult = {
  /** Message id. */
  message_id: string
  /** Immediate result from the platform. Later changes arrive as `inbox.message.status`. */
  status: 'sent' | 'failed'
}

export type Template = {
  /** Template id. */
  id: string
  /** Chat connection on which the template can be sent. */
  connection_id: string
  /** Name on the platform. */
  name: string
  /** Language code. */
  language: string
  /** Category as spelled by the platform. */
  category: string
  /** Text with placeholders `{{1}}`, `{{2}}`, …. */
  body: string
  /** Number of `body_params` that a send requires. */
  parameter_count: number
}

export type TemplateChoice = {
  name: string
  /** Language code. */
  language: string
  /** Values for `{{1}}`, `{{2}}`, … in order; exactly `parameter_count` of the template. */
  body_params?: string[]
}

export type TemplateToSend = {
  /** An approved template, to open or restart a conversation. */
  kind: 'template'
  template: TemplateChoice
}

export type TextToSend = {
  /** Free text; requires an open 24-hour window. */
  kind: 'text'
  /** At most 16,384 characters. A text too long for one message of the channel is sent as several, in order; for the caller it remains one message. */
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
  /** The customer's number, 8 to 20 digits: returns the conversation with exactly that number, or none. A key that sees phones masked can look up 30 unknown numbers per minute. */
  phone?: string
  /** `human`, `agent` (any agent) or `agent:<api_key_id>`. */
  owner?: string
  /** A customer message sets it to `open`, whatever it was before. */
  status?: ConversationStatus
  /** Only conversations updated after it. */
  updated_after?: string
  /** At most 100. */
  limit?: number
  /** Cursor from the previous page; valid only with the same filters. */
  cursor?: string
}

export type ListConversationsAnswer = {
  conversations: Conversation[]
  /** Null on the last page. */
  cursor: string | null
}

export type GetConversationAnswer = {
  conversation: Conversation
}

export type UpdateConversationBody = {
  /** `human` or the key's own `agent:<api_key_id>`; another agent's id returns 403 `OWNER_FORBIDDEN`. */
  owner?: string
  /** A customer message sets it to `open`, whatever it was before. */
  status?: ConversationStatus
  /** Replaces the labels. Unknown ids return 400. */
  label_ids?: string[]
  /** Adds an internal note. The customer does not see it. */
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
  /** Whether there are older messages. */
  has_more: boolean
}

export type SendMessageBody = TextToSend | TemplateToSend | InteractiveToSend

export type SendMessageAnswer = SendResult

export type MarkConversationReadAnswer = {
  /** Conversation id. Never changes: a customer has one conversation per connection. */
  id: string
  /** Always 0. */
  unread_count: number
}

export type RecordEchoBody = {
  /** A `waba` connection that the key can see. */
  connection_id: string
  /** The customer's number, digits only, with country code. */
  to: string
  /** Platform id of the message; one id stores one message. */
  external_id: string
  /** `interactive` is stored as `text`. */
  kind: 'text' | 'template' | 'interactive'
  /** Message text or a short summary. */
  body: string
  /** Time of the send, with offset; defaults to now. */
  occurred_at?: string
}

export type RecordEchoAnswer = {
  /** Message id. */
  message_id: string
  /** False if this `external_id` was recorded before. */
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
