import type { Connection } from './connection/connection.ts'
import type { AccountRestrictions } from './health/holds.ts'
import type { NumberFacts } from './health/number-status.ts'
import type { TemplateQuality, TemplateReview } from './templates/templates.ts'

/** The customer of an event, identified by user id, phone or both. */
export interface Customer {
  /** The platform's user id; remains when the customer hides the phone. */
  userId: string | null
  parentUserId: string | null
  /** Digits with country code; null if the customer hides it. */
  phone: string | null
  name: string | null
}

/** Roles of apps that answer on one number of the official platform. `other_app`: the platform did not say which. */
export const threadOwners = [
  ...(['ai_agent', 'escalation', 'customer_service', 'marketing', 'utility', 'ctwa', 'other_app'] as const),
] as const
export type ThreadOwner = (typeof threadOwners)[number]

/** Details of the ad that opened the conversation; all fields are present, null if the platform omitted them. */
export interface Referral {
  ctwa_clid: string | null
  source_id: string | null
  source_type: string | null
  source_url: string | null
  headline: string | null
}

export type MessageKind = 'text' | 'template' | 'image' | 'video' | 'audio' | 'document' | 'location' | 'system'
export type DeliveryStatus = 'sent' | 'delivered' | 'read' | 'failed'

/** `exempt`: the platform charges this business nothing. `unknown`: a value that this version does not know, or none. */
export const pricingTypes = [
  ...(['regular', 'free_customer_service', 'free_entry_point', 'free_group_customer_service'] as const),
  ...(['exempt', 'unknown'] as const),
] as const
export const pricingCategories = [
  ...(['marketing', 'marketing_lite', 'utility', 'authentication', 'authentication_international'] as const),
  ...(['service', 'referral_conversion', 'group_marketing', 'group_utility', 'group_service', 'unknown'] as const),
] as const

/** What the platform reports about the price of one of its messages. It never reports an amount. */
export interface Pricing {
  type: (typeof pricingTypes)[number]
  category: (typeof pricingCategories)[number]
  /** Whether the platform says that it charges for the message; null if it does not say. `type` takes precedence. */
  isBillable: boolean | null
  /** End of the free entry point window in which the message was sent; null outside of one. */
  freeUntil: Date | null
}

/** A change to an existing message, of the customer or of our number. */
interface RevisionFields {
  /** The message's id. */
  originalId: string
  direction: 'inbound' | 'outbound'
  customer: Customer
  /** Time of the change, by the platform's clock. */
  at: Date
}

interface MessageFields {
  externalId: string
  customer: Customer
  kind: MessageKind
  text: string
  /** Anything beyond the text; absent for text only. */
  detail?: MessageDetail
  /** Platform time, in whole seconds. */
  at: Date
}

/** An event from a channel's webhook or session, in one format for all channels. */
export type ChannelEvent =
  /**
   * A customer wrote. `opensWindow` is false for platform notices about the customer. `isStandby`: another app on the number
   * has the conversation.
   */
  | ({ type: 'message'; referral: Referral | null; opensWindow: boolean; isStandby?: boolean } & MessageFields)
  /** A person wrote on the phone of a number that is also used there; with `isStandby`, another app on the number did. */
  | ({ type: 'echo'; isStandby?: boolean } & MessageFields)
  /** The platform gave the conversation to us (null) or to another app on the number. */
  | { type: 'thread_control'; customer: Customer; owner: ThreadOwner | null; at: Date }
  /** Older message, delivered later: opens no window, does not count as unread, does not change the owner. */
  | ({ type: 'history'; direction: 'inbound' | 'outbound'; status: 'pending' | DeliveryStatus } & MessageFields)
  /** The author edited the text. */
  | ({ type: 'edited'; text: string } & RevisionFields)
  /** The author deleted it for everyone. */
  | ({ type: 'withdrawn' } & RevisionFields)
  /** The author of a reaction to the message removed it. */
  | ({ type: 'reaction_lifted' } & RevisionFields)
  /** `correlator`: the value sent with the message, our message id and part. `pricing`: absent on most statuses. */
  | {
      type: 'status'
      externalId: string
      status: DeliveryStatus
      errorCode: string | null
      at: Date
      correlator: string | null
      customer: Customer | null
      pricing?: Pricing
    }
  /** A call or similar: opens the window, has no content. */
  | { type: 'contact_opened'; customer: Customer; at: Date }
  /** The customer's phone or user id changed; `customer` has the new values. */
  | { type: 'customer_changed'; previous: Customer; customer: Customer; at: Date }
  /** The customer opted out of our marketing messages, or back in; `refused_send`: a refused send shows it. */
  | {
      type: 'marketing_preference'
      customer: Customer
      isStopped: boolean
      source: 'setting' | 'refused_send'
      at: Date
      /** `at` is by our clock: the platform refused the send in its answer. */
      isOurTime?: boolean
    }
  /** A name from the phone's contact book; has the lowest priority of all names. */
  | { type: 'contact_named'; customer: Customer }
  /** Templates changed and must be synced; the other fields say what has changed in one of them. */
  | {
      type: 'templates_changed'
      /** Its category from now on. */
      category?: { name: string; language: string; category: string }
      review?: TemplateReview
      quality?: { name: string; language: string; quality: TemplateQuality | null }
    }
  | { type: 'connection_state'; available: boolean; reason: string }
  /** Restrictions of the account: all current ones, or additional ones. */
  | ({ type: 'account_restricted' } & AccountRestrictions)
  /** The account reached a volume tier of a market in a month, such as `2026-11`; `region` is the market's name. */
  | { type: 'volume_tier'; region: string; category: string; month: string; fromMessage: number; at: Date }
  /** Facts about our number. `isHint`: others may have changed too and must be read. */
  | { type: 'number_status'; facts: Partial<NumberFacts>; isHint: boolean }

/** An event of a delivery. `numberId` or `accountId` routes it. */
export interface DeliveredEvent {
  numberId: string | null
  /** For events that concern the whole account. */
  accountId: string | null
  event: ChannelEvent
}

export interface ParsedCallback {
  items: DeliveredEvent[]
  /** Reasons for skipped items, without values, for the log. */
  skipped: string[]
}

/** Stores the events of one connection, in the platform's order; resolves when they are committed. */
export type ReceiveEvents = (connection: Connection, events: ChannelEvent[]) => Promise<void>

/** Message content beyond its text, in one format for all channels. All texts are from strangers and untrusted. */
export interface MessageDetail {
  media?: MediaInfo
  place?: Place
  cards?: ContactCard[]
  quoted?: Quoted
  reaction?: Reaction
  /** Id of the chosen option of the quoted message. */
  chosen?: string
  /** Forwarded from another chat. */
  isForwarded?: boolean
}

/** `voice`: voice note recorded in the app; `audio`: any other sound. */
export type MediaKind = 'image' | 'video' | 'audio' | 'voice' | 'document' | 'sticker'

/** What the platform reports about a file of a message. */
export interface MediaInfo {
  kind: MediaKind
  source: MediaSource
  /** As declared, in lower case without parameters; null if invalid. */
  mimeType: string | null
  /** Bytes, as declared. */
  size: number | null
  /** SHA-256 of the file, in base64. */
  sha256: string | null
  name: string | null
  width: number | null
  height: number | null
  seconds: number | null
  /** Up to 64 values of 0–100. */
  waveform: number[] | null
  /** Tiny JPEG in base64, shown until the file is downloaded. */
  thumbnail: string | null
  isAnimated: boolean
}

/** Location of a file at the platform. */
export type MediaSource =
  /** By id: the platform or partner returns the URL. */
  | { by: 'id'; id: string }
  /** From a linked device: what is needed to download and decrypt the file, as received from the network. */
  | {
      by: 'linked'
      type: string
      url: string | null
      directPath: string | null
      mediaKey: string
      fileEncSha256: string | null
    }

export interface Place {
  latitude: number
  longitude: number
  name: string | null
  address: string | null
  isLive: boolean
}

/** Maximum number of contact cards of a message, and of phones and e-mail addresses per card. */
export const [maxCards, maxPhones] = [20, 10]

export interface ContactCard {
  name: string
  organisation: string | null
  /** Digits with country code if known, otherwise as written. */
  phones: { phone: string; label: string | null }[]
  emails: string[]
}

/** The message that a reply quotes. */
export interface Quoted {
  externalId: string
  /** Quoted text, if the platform includes it; used when the message is not stored here. */
  text: string | null
}

export interface Reaction {
  /** The message reacted to. */
  externalId: string
  emoji: string
}
