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
