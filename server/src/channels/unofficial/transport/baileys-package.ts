import type { Log } from '../../../base/log.ts'

/**
 * The parts of Baileys that we use, with our own types. Not a dependency: its libsignal is under GPL-3.0, so the
 * operator decides whether to install it. Hence it is loaded only when a session opens.
 */
export interface BaileysPackage {
  makeWASocket(options: BaileysOptions): BaileysSocket
  makeCacheableSignalKeyStore(store: SignalKeys, logger: BaileysLogger): SignalKeys
  initAuthCreds(): Creds
  BufferJSON: JsonRules
  proto: { Message: { AppStateSyncKeyData: { fromObject(value: object): unknown }; fromObject(value: object): object } }
  /** Encrypts and uploads a file, and returns the message that shows it. */
  prepareWAMessageMedia(
    content: object,
    options: { upload: unknown; logger: BaileysLogger; mediaUploadTimeoutMs: number },
  ): Promise<Record<string, unknown>>
}

export interface JsonRules {
  replacer(this: unknown, key: string, value: unknown): unknown
  reviver(this: unknown, key: string, value: unknown): unknown
}

/** Identity of the device, with only the fields that we read: `account` is present once a phone has linked it. */
export interface Creds {
  me?: { id: string; lid?: string }
  account?: object
}

export interface SignalKeys {
  get(type: string, ids: string[]): Promise<Record<string, unknown>>
  set(data: Record<string, Record<string, unknown>>): Promise<void>
}

export interface BaileysLogger {
  level: string
  child(bindings: object): BaileysLogger
  trace(): void
  debug(): void
  info(): void
  warn(): void
  error(): void
}

export interface BaileysOptions {
  auth: { creds: Creds; keys: SignalKeys }
  logger: BaileysLogger
  waWebSocketUrl?: string
  connectTimeoutMs: number
  keepAliveIntervalMs: number
  defaultQueryTimeoutMs: number
  markOnlineOnConnect: boolean
  syncFullHistory: boolean
  emitOwnEvents: boolean
  shouldIgnoreJid(jid: string): boolean
  getMessage(key: { id?: string | null }): Promise<{ conversation: string } | undefined>
}

export interface BaileysSocket {
  user?: { id: string }
  ev: {
    /** Calls the handler with events that occurred together, by name. */
    process(handler: (events: Record<string, unknown>) => void): void
    /** Emits events that were buffered during a burst. */
    flush(): unknown
  }
  /** Raw stanzas; `socket` is the underlying WebSocket. */
  ws: {
    on(stanza: string, listener: (node: Stanza) => void): unknown
    socket?: { terminate(): void } | null
  }
  sendMessage(
    jid: string,
    content: { text: string; linkPreview?: null } | { react: { text: string; key: MessageKey } },
    options: { messageId: string; quoted?: { key: MessageKey; message: object } },
  ): Promise<unknown>
  /** Sends a message unchanged. */
  relayMessage(jid: string, message: object, options: { messageId: string }): Promise<unknown>
  waUploadToServer: unknown
  readMessages(keys: { remoteJid: string; id: string; fromMe: boolean }[]): Promise<void>
  sendPresenceUpdate(type: 'composing' | 'paused', toJid: string): Promise<void>
  /** Absent in older versions. */
  fetchAccountReachoutTimelock?(): Promise<unknown>
  fetchNewChatMessageCap?(): Promise<object>
  requestPairingCode(digits: string): Promise<string>
  logout(): Promise<void>
  end(error: undefined): Promise<void>
}

export interface MessageKey {
  remoteJid: string
  id: string
  fromMe: boolean
}

export interface Stanza {
  attrs: Record<string, string | undefined>
}

/** The version that was tested. */
export const baileysVersion = '7.0.0-rc14'

export async function loadBaileys(): Promise<BaileysPackage> {
  // Not a literal, because the compiler would try to resolve a package that is not installed.
  const name: string = 'baileys'
  return (await import(name)) as BaileysPackage
}

/** Baileys' log output contains phones and keys. */
export const silentLogger: BaileysLogger = {
  level: 'silent',
  child: () => silentLogger,
  trace: () => {},
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
}

const ofPackage = /[\\/]node_modules[\\/](?:baileys|libsignal)[\\/]/

let isGuarded = false

/**
 * Contains two side effects of Baileys: it prints sessions with their keys on the console, and leaves rejected promises
 * unhandled, which would end the process.
 */
export function guardBaileys(log: Log): void {
  if (isGuarded) return
  isGuarded = true
  for (const name of ['log', 'info', 'warn', 'error', 'debug'] as const) {
    const print = console[name]
    console[name] = (...words: unknown[]) => {
      if (!ofPackage.test(new Error().stack ?? '')) print(...words)
    }
  }
  process.on('unhandledRejection', (reason) => {
    if (!(reason instanceof Error && ofPackage.test(reason.stack ?? ''))) throw reason
    log.warn('unhandled error in Baileys', {}, reason)
  })
}
