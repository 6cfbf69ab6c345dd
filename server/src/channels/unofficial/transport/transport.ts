import type { SessionConnection } from '../../connection/connection.ts'
import type { PlatformFile, ReferencedMessage } from '../../connector.ts'
import type { FileToUpload } from '../../media-transport.ts'

/**
 * Carries a session: Baileys to the real network, or the simulator. A session has one socket at a time: the next one
 * opens after the last one has closed.
 */
export interface Transport {
  /** Opens a socket. Never throws: errors are reported as a close event. */
  open(options: SocketOptions): Socket
}

export interface SocketOptions {
  connection: SessionConnection
  auth: AuthStore
  /**
   * Processes the network's events one at a time and resolves when they are committed. Never throws. A transport
   * acknowledges an event only after that, if it can, so that the network repeats an event lost in a crash.
   */
  onEvent(event: SocketEvent): Promise<void>
  /** Returns the text sent with this id, when a phone requests it again; null if no longer known. */
  loadSentText(id: string): Promise<string | null>
}

/** Named and structured as in Baileys; `data` is unvalidated. */
export interface SocketEvent {
  event: SocketEventName
  data: unknown
}

/** In the order in which events that occurred together are delivered. */
export const socketEventNames = [
  'connection.update',
  'messaging-history.set',
  'contacts.upsert',
  'contacts.update',
  'lid-mapping.update',
  'messages.upsert',
  'messages.update',
  'message-capping.update',
] as const
export type SocketEventName = (typeof socketEventNames)[number]

/** Content of a message. */
export type SocketContent = (
  | { text: string; previewUrl: boolean }
  | { file: SocketFile; caption: string }
  | { reaction: { about: ReferencedMessage; emoji: string | null } }
) & { quoted?: ReferencedMessage }

/** A file uploaded to the network. `fileId`: value returned by `upload`. */
export type SocketFile = Omit<PlatformFile, 'platformId'> & { fileId: string }

export type SocketMessage = SocketContent & {
  /** Chosen before sending, so that later events can be recognized as ours. */
  id: string
  /** `5511955501234@s.whatsapp.net` or `1234@lid` */
  jid: string
}

export interface Socket {
  /**
   * Resolves when the message was sent; its acknowledgement is an event. Rejects if it was certainly not sent. Calls
   * `mayLeave` as late as possible; if it returns false, the message is not sent.
   */
  send(message: SocketMessage, mayLeave?: () => boolean): Promise<void>
  /** Uploads a file and returns a value for its message. Rejects on failure; the upload may be retried. */
  upload(file: FileToUpload): Promise<string>
  /** Marks the customer's message as read. */
  markRead(jid: string, id: string): Promise<void>
  /** Shows or ends that an answer is being written. The network shows it only for some seconds. */
  setTyping(jid: string, isTyping: boolean): Promise<void>
  /** Requests a code of eight characters to type on the phone with these digits, instead of a QR code. */
  pairingCode(digits: string): Promise<string>
  /** Unlinks the device at the network. */
  logout(): Promise<void>
  /** Closes without logging out; no events follow after it resolves. */
  close(): Promise<void>
}

/** Stores what a session needs to reconnect as the same device. Values are JSON in the transport's own format. */
export interface AuthStore {
  readCreds(): Promise<string | null>
  writeCreds(value: string): Promise<void>
  /** Returns the values of the known ids. */
  readKeys(type: string, ids: readonly string[]): Promise<Map<string, string>>
  /** Writes all entries or none; a null value deletes the key. */
  writeKeys(entries: readonly AuthKey[]): Promise<void>
}

export interface AuthKey {
  type: string
  id: string
  value: string | null
}
