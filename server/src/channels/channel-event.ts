import type { Connection } from './connection/connection.ts'
import type { AccountRestrictions } from './health/holds.ts'

/** Who wrote or was written to, as far as the platform says: the user id, the phone, or both. */
export interface Customer {
  /** The platform's id of the user; survives a hidden number. */
  userId: string | null
  parentUserId: string | null
  /** Digits with country code; null while the customer hides it. */
  phone: string | null
  name: string | null
}

/** Details of the ad that opened the conversation; every field is there, null when the platform left it out. */
export interface Referral {
  ctwa_clid: string | null
  source_id: string | null
  source_type: string | null
  source_url: string | null
  headline: string | null
}

export type MessageKind = 'text' | 'template' | 'image' | 'video' | 'audio' | 'document' | 'location' | 'system'
export type DeliveryStatus = 'sent' | 'delivered' | 'read' | 'failed'

/** What became of a message that was there before: of the customer's, or of one that our number sent. */
interface Revised {
  /** The message's id. */
  originalId: string
  direction: 'inbound' | 'outbound'
  customer: Customer
  /** When it was changed, by the platform's clock. */
  at: Date
}

interface Said {
  externalId: string
  customer: Customer
  kind: MessageKind
  text: string
  /** What it is beside its words; absent when it is words alone. */
  detail?: MessageDetail
  /** The platform's time, in whole seconds. */
  at: Date
}

/** What comes from a channel's webhook or session, in one shape for every channel. */
export type ChannelEvent =
  /** A customer wrote. `opensWindow` is false for notices of the platform about the customer. */
  | ({ type: 'message'; referral: Referral | null; opensWindow: boolean } & Said)
  /** A person wrote on the phone of a number that is also used there. */
  | ({ type: 'echo' } & Said)
  /** Delivered afterwards: opens no window, raises no unread count, changes no owner. */
  | ({ type: 'history'; direction: 'inbound' | 'outbound'; status: 'pending' | DeliveryStatus } & Said)
  /** Its author wrote it anew: the words alone. */
  | ({ type: 'edited'; text: string } & Revised)
  /** Its author took it back. */
  | ({ type: 'withdrawn' } & Revised)
  /** Somebody took back their reaction to the message. */
  | ({ type: 'reaction_lifted' } & Revised)
  /** `correlator` is what travelled with the send: our message id and part. */
  | {
      type: 'status'
      externalId: string
      status: DeliveryStatus
      errorCode: string | null
      at: Date
      correlator: string | null
      customer: Customer | null
    }
  /** A call or the like: opens the window, says nothing. */
  | { type: 'contact_opened'; customer: Customer; at: Date }
  /** The customer's number or user id changed: `customer` is how they are known from now on. */
  | { type: 'customer_changed'; previous: Customer; customer: Customer; at: Date }
  /** The customer wants no marketing messages of ours any more, or wants them again. */
  | { type: 'marketing_preference'; customer: Customer; isStopped: boolean; at: Date }
  /** A name from the number's contact book; the weakest source of a name. */
  | { type: 'contact_named'; customer: Customer }
  /** Something about templates changed: read them again. */
  | { type: 'templates_changed' }
  | { type: 'connection_state'; available: boolean; reason: string }
  /** What the platform keeps the account from: all that there is now, or what comes beside what was told before. */
  | ({ type: 'account_restricted' } & AccountRestrictions)

/** One item of a delivery: an event, or why there is none. The number it belongs to routes it. */
export interface Delivered {
  numberId: string | null
  /** For what concerns a whole account rather than one number. */
  accountId: string | null
  event: ChannelEvent
}

export interface Parsed {
  items: Delivered[]
  /** Kinds of items that were passed over, with a reason without values: for the log. */
  skipped: string[]
}

/** Takes the events of one connection, in the platform's order; resolves only when it is committed. */
export type Receive = (connection: Connection, events: ChannelEvent[]) => Promise<void>

/** What a message is beside its words, in one shape for every channel. All texts come from strangers: none is trusted. */
export interface MessageDetail {
  media?: MediaTold
  place?: Place
  cards?: ContactCard[]
  quoted?: Quoted
  reaction?: Reaction
  /** The id of what was chosen, among what the quoted message offers. */
  chosen?: string
  /** Passed on from elsewhere. */
  isForwarded?: boolean
}

/** `voice` is a note that was spoken into the app; `audio` any other sound. */
export type MediaKind = 'image' | 'video' | 'audio' | 'voice' | 'document' | 'sticker'

/** What a platform tells of a file that travels with a message. */
export interface MediaTold {
  kind: MediaKind
  source: MediaSource
  /** As declared, without parameters, in lower case; null when it is none. */
  mimeType: string | null
  /** In bytes, as declared. */
  size: number | null
  /** SHA-256 of the file, in base64. */
  sha256: string | null
  name: string | null
  width: number | null
  height: number | null
  seconds: number | null
  /** Up to 64 heights of 0–100. */
  waveform: number[] | null
  /** A tiny JPEG in base64, for the time until it is here. */
  thumbnail: string | null
  isAnimated: boolean
}

/** Where a platform keeps a file. */
export type MediaSource =
  /** By its id: the platform, or a partner, is asked where it is. */
  | { by: 'id'; id: string }
  /** The linked device's: what its library needs to fetch and decrypt it, as the network told it. */
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

/** How many cards of a message are kept, and how many phones and e-mails of each. */
export const [maxCards, maxPhones] = [20, 10]

export interface ContactCard {
  name: string
  organisation: string | null
  /** Digits with country code where they are known, else as written. */
  phones: { phone: string; label: string | null }[]
  emails: string[]
}

/** The message that another one answers to. */
export interface Quoted {
  externalId: string
  /** What the quote itself shows of it, where the platform tells; for a message that is not known here. */
  text: string | null
}

export interface Reaction {
  /** The message that it is about. */
  externalId: string
  emoji: string
}
