import type { Tx } from '../base/db.ts'
import type { Keyring } from '../base/encryption/keyring.ts'
import type { Customer, MediaKind } from './channel-event.ts'
import type { Channel, Connection } from './connection/connection.ts'
import type { Choices } from './interactive-options.ts'
import type { Prompt } from './prompts.ts'

/** The customer's address on the platform, as last seen. */
export type Recipient = Pick<Customer, 'phone' | 'userId'>

export type OutgoingMessage =
  | { kind: 'text'; text: string; previewUrl: boolean; quoted?: ReferencedMessage }
  | {
      kind: 'template'
      /** Category as the platform writes it. */
      category?: string
      name: string
      language: string
      /** Values in the order of the body's placeholders; `names` maps them for templates with named parameters. */
      parameters: string[]
      names: string[] | null
      header?: PlatformFile | LinkedFile
      /** Other values that the template needs. */
      inputs?: FilledInputs
      quoted?: ReferencedMessage
    }
  | { kind: 'media'; file: PlatformFile; caption: string; quoted?: ReferencedMessage }
  /** Only for connectors with `supportsChoices`. */
  | { kind: 'choices'; text: string; choices: Choices; quoted?: ReferencedMessage }
  /** Only for connectors with `supportsChoices`. */
  | { kind: 'prompt'; text: string; prompt: Prompt; quoted?: ReferencedMessage }
  /** A null emoji removes our reaction. */
  | { kind: 'reaction'; about: ReferencedMessage; emoji: string | null }

/** Values of a template besides those of its body. */
export interface FilledInputs {
  /** Value of the header's variable, with its name if the template names its variables. */
  headerText?: { value: string; name: string | null }
  headerLocation?: HeaderLocation
  /** Values of buttons, by their position among all buttons. */
  buttons?: { index: number; type: 'url' | 'copy_code' | 'otp' | 'quick_reply'; value: string }[]
}

export interface HeaderLocation {
  latitude: number
  longitude: number
  name?: string
  address?: string
}

/** A file to send, uploaded to the platform first. */
export interface PlatformFile {
  kind: MediaKind
  name: string | null
  mimeType: string
  /** Id returned by `MediaTransport.upload`; null before the upload. */
  platformId: string | null
}

/** A file that the platform loads by itself. */
export interface LinkedFile {
  kind: MediaKind
  name: string | null
  url: string
}

/** A message of the same chat that another message quotes or reacts to. */
export interface ReferencedMessage {
  externalId: string
  direction: 'inbound' | 'outbound'
  /** Its text, for channels whose quotes include the quoted text. */
  text: string
}

export interface Order {
  recipient: Recipient
  message: OutgoingMessage
  /** Sent with the message and returned in its statuses: `<message id>:<part>`. */
  correlator: string
  /** No byte is sent after this time. */
  deadline: Date
}

/**
 * Result of one send. `refused`: the platform answered that it sent nothing. `unreachable`: certainly nothing was sent,
 * or the platform is down. `unknown`: the message may have been sent.
 */
export type SendResult =
  | { outcome: 'accepted'; externalId: string; platformUserPhone: string | null }
  | {
      outcome: 'refused'
      errorCode: string
      effect: RefusalEffect
      /** The platform may have deleted the uploaded file; sending again after a new upload may succeed. */
      isFileGone?: boolean
    }
  | { outcome: 'unreachable'; errorCode: string }
  | { outcome: 'unknown'; errorCode: string }

/** Effect of a refusal on the connection, beyond the one message. */
export type RefusalEffect = 'none' | 'connection_unavailable' | 'billable_held' | 'templates_stale'

/** Sends the messages of a channel. Tests provide a second implementation. */
export interface Connector<C extends Connection = Connection> {
  /** Maximum length of a platform message's text, in UTF-16 units; null when the channel has no limit. */
  maxTextLength: number | null
  /** The channel supports interactive messages: choices and prompts. */
  supportsChoices?: boolean
  send(connection: C, order: Order): Promise<SendResult>
  /**
   * Marks the customer's message as read on the platform; never throws. `isTyping` also shows the customer that an
   * answer is being written, until a message is sent or 25 s have passed.
   */
  markRead(connection: C, externalId: string, customer: Recipient, isTyping?: boolean): Promise<void>
  /** Ends what `markRead` shows, with the same message. Only for channels that can. */
  stopTyping?(connection: C, externalId: string, customer: Recipient): Promise<void>
  /**
   * Cancels the order of a process that died. Returns true when nothing was sent and nothing will be once the
   * transaction commits. Only for channels that can know this.
   */
  cancelOrder?(tx: Tx, keyring: Keyring, order: OrderKey): Promise<boolean>
}

/** Identifies an order to processes other than the one that placed it. */
export interface OrderKey {
  workspaceId: string
  connectionId: string
  correlator: string
}

/** Connector of each channel. Each receives only connections of its own channel. */
export type Connectors = { [C in Channel]: Connector<Extract<Connection, { channel: C }>> }
