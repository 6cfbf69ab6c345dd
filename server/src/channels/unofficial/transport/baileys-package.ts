import type { Log } from '../../../base/log.ts'

/**
 * The parts of Baileys that we use, in types of our own. It is no dependency of ours: its libsignal is under GPL-3.0, which
 * whoever installs it decides upon. Hence it is looked for when a session is opened and not before.
 */
export interface BaileysPackage {
  makeWASocket(options: BaileysOptions): BaileysSocket
  makeCacheableSignalKeyStore(store: SignalKeys, logger: BaileysLogger): SignalKeys
  initAuthCreds(): Creds
  BufferJSON: JsonRules
  proto: { Message: { AppStateSyncKeyData: { fromObject(value: object): unknown }; fromObject(value: object): object } }
  /** Encrypts a file, gives it to the network, and returns the message that shows it. */
  prepareWAMessageMedia(
    content: object,
    options: { upload: unknown; logger: BaileysLogger; mediaUploadTimeoutMs: number },
  ): Promise<Record<string, unknown>>
}

export interface JsonRules {
  replacer(this: unknown, key: string, value: unknown): unknown
  reviver(this: unknown, key: string, value: unknown): unknown
}

/** Identity of the device. Only what we look at is named: `account` is there once a phone has linked it. */
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
    /** The handler gets what happened at one time, by name. */
    process(handler: (happened: Record<string, unknown>) => void): void
    /** Tells what was kept back until a burst is over. */
    flush(): unknown
  }
  /** Raw stanzas; `socket` is the line itself. */
  ws: {
    on(stanza: string, listener: (node: Stanza) => void): unknown
    socket?: { terminate(): void } | null
  }
  sendMessage(
    jid: string,
    content: { text: string; linkPreview?: null } | { react: { text: string; key: MessageKey } },
    options: { messageId: string; quoted?: { key: MessageKey; message: object } },
  ): Promise<unknown>
  /** Sends a message as it is. */
  relayMessage(jid: string, message: object, options: { messageId: string }): Promise<unknown>
  waUploadToServer: unknown
  readMessages(keys: { remoteJid: string; id: string; fromMe: boolean }[]): Promise<void>
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

/** The one edition that all of this was tried with. */
export const baileysVersion = '7.0.0-rc14'

export async function loadBaileys(): Promise<BaileysPackage> {
  // Not a literal: the compiler would look for a package that is not here.
  const name: string = 'baileys'
  return (await import(name)) as BaileysPackage
}

/** What the package says of its work holds phones and keys. */
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
 * Keeps two habits of the package from the rest of the process: it prints sessions with their keys on the console, and lets
 * promises fail that nobody waits for, which would end the process.
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
