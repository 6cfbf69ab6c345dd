import type { MediaKind } from '../../channel-event.ts'
import type { SessionConnection } from '../../connection/connection.ts'
import type { OtherMessage } from '../../connector.ts'
import type { FileToUpload } from '../../media-transport.ts'

/**
 * What carries a session: Baileys to the real network, or the simulator's. It has one socket of a session at a time; the
 * next is opened after the last has closed.
 */
export interface Transport {
  /** Opens a socket. Never throws: what goes wrong arrives as a close. */
  open(options: OpenSocket): Socket
}

export interface OpenSocket {
  connection: SessionConnection
  auth: AuthStore
  /**
   * Takes the network's events, one after another, and resolves when it is committed. A transport that can does not
   * acknowledge an event before, so that one which a crash lost comes again. It never throws.
   */
  hear(event: SocketEvent): Promise<void>
  /** What we sent under this id, for a phone that asks for it again; null when it is not known any more. */
  sentText(id: string): Promise<string | null>
}

/** As Baileys names and shapes them; `data` is what came over the wire and may lack anything. */
export interface SocketEvent {
  event: SocketEventName
  data: unknown
}

export type SocketEventName =
  | 'connection.update'
  | 'messages.upsert'
  | 'messages.update'
  | 'messaging-history.set'
  | 'contacts.upsert'
  | 'contacts.update'
  | 'lid-mapping.update'

/** What a message shows. */
export type SocketContent = (
  | { text: string; previewUrl: boolean }
  | { file: SocketFile; caption: string }
  | { reaction: { about: OtherMessage; emoji: string | null } }
) & { quoted?: OtherMessage }

/** A file that the network has. */
export interface SocketFile {
  kind: MediaKind
  name: string | null
  mimeType: string
  /** As `upload` has returned it. */
  given: string
}

export type SocketMessage = SocketContent & {
  /** Chosen before the message is sent, so that whatever comes of it can be told to be ours. */
  id: string
  /** `5511955501234@s.whatsapp.net` or `1234@lid` */
  jid: string
}

export interface Socket {
  /**
   * Resolves when the message has left; the network's word on it comes as an event. Rejects when it has surely not left.
   * `mayLeave` is asked as late as the transport can; false keeps the message back.
   */
  send(message: SocketMessage, mayLeave?: () => boolean): Promise<void>
  /**
   * Gives the network a file, for a message that is to show it; what it returns says how. Rejects when that did not succeed:
   * then it may be tried again.
   */
  upload(file: FileToUpload): Promise<string>
  /** Tells that the customer's message was read. */
  markRead(jid: string, id: string): Promise<void>
  /** Returns eight characters to type on the phone with these digits, in place of a QR code. */
  pairingCode(digits: string): Promise<string>
  /** Unlinks the device at the network. */
  logout(): Promise<void>
  /** Closes without a word to the network; no event comes after it resolves. */
  close(): Promise<void>
}

/** Where a session keeps what it needs to be the same device tomorrow. Values are JSON, whose shape is the transport's. */
export interface AuthStore {
  readCreds(): Promise<string | null>
  writeCreds(value: string): Promise<void>
  /** Those of the ids that are known. */
  readKeys(type: string, ids: readonly string[]): Promise<Map<string, string>>
  /** All or none; null forgets a key. */
  writeKeys(entries: readonly AuthKey[]): Promise<void>
}

export interface AuthKey {
  type: string
  id: string
  value: string | null
}
