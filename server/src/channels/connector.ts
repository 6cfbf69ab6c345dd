import type { Tx } from '../base/db.ts'
import type { Keyring } from '../base/encryption/keyring.ts'
import type { MediaKind } from './channel-event.ts'
import type { Channel, Connection } from './connection/connection.ts'
import type { Choices } from './interactive-options.ts'

/** Where a message goes: the platform's own address of the customer, as last seen. */
export interface Recipient {
  phone: string | null
  userId: string | null
}

export type Outgoing =
  | { kind: 'text'; text: string; previewUrl: boolean; quoted?: OtherMessage }
  | {
      kind: 'template'
      /** As the platform spells it. */
      category?: string
      name: string
      language: string
      /** In the order of the body; `names` maps them for templates with named parameters. */
      parameters: string[]
      names: string[] | null
      /** What fills its header. */
      header?: GivenFile
      quoted?: OtherMessage
    }
  | { kind: 'media'; file: GivenFile; caption: string; quoted?: OtherMessage }
  /** For connectors that take choices. */
  | { kind: 'choices'; text: string; choices: Choices; quoted?: OtherMessage }
  /** Null takes ours back. */
  | { kind: 'reaction'; about: OtherMessage; emoji: string | null }

/** A file that the platform has. */
export interface GivenFile {
  kind: MediaKind
  name: string | null
  mimeType: string
  /** As `MediaWay.upload` has returned it; null until then. */
  platformId: string | null
}

/** A message of the same chat, which another one is about. */
export interface OtherMessage {
  externalId: string
  direction: 'inbound' | 'outbound'
  /** What it says, for channels whose quotes carry it. */
  text: string
}

export interface Order {
  recipient: Recipient
  message: Outgoing
  /** Travels with the message and comes back in its statuses: `<message id>:<part>`. */
  correlator: string
  /** No byte leaves after this. */
  deadline: Date
}

/**
 * What became of one call. `refused` is a definite answer that nothing was sent; `unreachable` says that surely nothing
 * was sent, or that the platform is down; `unknown` that it may have been.
 */
export type SendResult =
  | { outcome: 'accepted'; externalId: string; platformUserPhone: string | null }
  | {
      outcome: 'refused'
      errorCode: string
      effect: RefusalEffect
      /** The platform may not have the file any more that it was given: given anew it may take the message. */
      isFileGone?: boolean
    }
  | { outcome: 'unreachable'; errorCode: string }
  | { outcome: 'unknown'; errorCode: string }

/** What a refusal means beyond the one message. */
export type RefusalEffect = 'none' | 'connection_unavailable' | 'billable_held' | 'templates_stale'

/** A channel's way out. The second implementation of each is the test's. */
export interface Connector<C extends Connection = Connection> {
  /** The longest text of one platform message, in UTF-16 units; null when the channel has no limit of its own. */
  maxTextLength: number | null
  /** The channel has buttons and lists to choose from. */
  takesChoices?: boolean
  send(connection: C, order: Order): Promise<SendResult>
  /** Tells the platform that the customer's message was read; never throws. */
  markRead(connection: C, externalId: string, customer: Recipient): Promise<void>
  /**
   * Takes an order back whose process is gone: true when nothing of it has left, and nothing ever will once the transaction
   * has committed. For channels that can know.
   */
  takeBack?(tx: Tx, keyring: Keyring, order: GivenOrder): Promise<boolean>
}

/** An order that was given, as far as others than its process know it. */
export interface GivenOrder {
  workspaceId: string
  connectionId: string
  correlator: string
}

/** The way out of each channel, which is only ever given connections of its own. */
export type Connectors = { [C in Channel]: Connector<Extract<Connection, { channel: C }>> }
