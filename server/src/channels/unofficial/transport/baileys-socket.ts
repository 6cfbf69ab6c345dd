import { AsyncLocalStorage } from 'node:async_hooks'
import { singleFlight } from '../../../base/async/batch.ts'
import { withTimeout } from '../../../base/async/loop.ts'
import type { Log } from '../../../base/log.ts'
import { type Loose, objectOf } from '../../waba/json.ts'
import { baileysMissing } from '../session/disconnect.ts'
import {
  type BaileysOptions,
  type BaileysPackage,
  type BaileysSocket,
  baileysVersion,
  type Creds,
  guardBaileys,
  loadBaileys,
  type SignalKeys,
  silentLogger,
} from './baileys-package.ts'
import type { AuthKey, AuthStore, OpenSocket, SocketEvent, SocketEventName } from './transport.ts'

export interface LineDeps {
  log: Log
  load?: () => Promise<BaileysPackage>
  /** Overrides the network's own address. */
  webSocketUrl?: string
}

/** A socket of a session, from before it opens until it has closed. */
export interface Line {
  options: OpenSocket
  wa: BaileysSocket | null
  /** Baileys, once loaded. */
  baileys: BaileysPackage | null
  /** Closed by the network or by us. */
  isOver: boolean
  /** Ids of messages that were sent and not acknowledged. */
  sent: Set<string>
  /** Resolves when the network offers a QR code; rejects if it never will. */
  offered: PromiseWithResolvers<void>
  /** Delivers an event, in order and after `after` resolves. */
  tell(event: SocketEvent, after?: Promise<void>): void
  /** Closes the socket on our side: accepts no new events, and delivers none after it resolves. */
  hangUp(): Promise<void>
}

const maxDrainMs = 3_000
const hearing = new AsyncLocalStorage<Line>()

export function newLine(options: OpenSocket): Line {
  let last: Promise<void> = Promise.resolve()
  let isShut = false
  let isSilent = false
  const offered = Promise.withResolvers<void>()
  // Prevents an unhandled rejection when no one waits for it.
  offered.promise.catch(() => {})
  const line: Line = {
    options,
    wa: null,
    baileys: null,
    isOver: false,
    sent: new Set(),
    offered,
    tell: (event, after) => {
      if (isShut) return
      const before = last
      last = (async () => {
        await before
        await after
        if (!isSilent) await hearing.run(line, () => options.hear(event))
      })().catch(() => {})
    },
    hangUp: async () => {
      isShut = true
      end(line)
      // The network treats queued events as delivered, so wait; but a handler that closes would wait for itself.
      if (hearing.getStore() !== line) await withTimeout(maxDrainMs, () => last).catch(() => {})
      isSilent = true
    },
  }
  return line
}

function end(line: Line): void {
  line.isOver = true
  line.offered.reject(new Error('The socket of the session has closed'))
}

/** Opens the socket. Never throws: errors are reported as a close event. */
export async function connect(deps: LineDeps, line: Line): Promise<void> {
  const { log } = deps
  const { connection, auth } = line.options
  const baileys = await (deps.load ?? loadBaileys)().catch((error: unknown) => {
    log.error(missing, { connectionId: connection.id, version: baileysVersion }, error)
    return null
  })
  if (baileys === null) return tellClosed(line, baileysMissing)
  guardBaileys(log)
  line.baileys = baileys
  try {
    const identity = await openIdentity(baileys, auth)
    if (line.isOver) return
    const wa = baileys.makeWASocket(optionsOf(deps, line, baileys, identity))
    line.wa = wa
    listen(deps, line, wa, identity)
  } catch (error) {
    log.warn('Baileys failed to open a socket', { connectionId: connection.id }, error)
    tellClosed(line, null)
  }
}

const missing = 'Baileys is not installed: see QR sessions in docs/operations.md'

function tellClosed(line: Line, statusCode: number | null): void {
  end(line)
  const lastDisconnect = { error: { output: { statusCode } } }
  line.tell({ event: 'connection.update', data: { connection: 'close', lastDisconnect } })
}

function optionsOf(deps: LineDeps, { options }: Line, baileys: BaileysPackage, identity: Identity): BaileysOptions {
  return {
    auth: { creds: identity.creds, keys: baileys.makeCacheableSignalKeyStore(identity.keys, silentLogger) },
    logger: silentLogger,
    ...(deps.webSocketUrl === undefined ? {} : { waWebSocketUrl: deps.webSocketUrl }),
    connectTimeoutMs: 20_000,
    keepAliveIntervalMs: 30_000,
    defaultQueryTimeoutMs: 20_000,
    // Otherwise the phone shows no notifications, as if messages were being read here.
    markOnlineOnConnect: false,
    syncFullHistory: false,
    // Our own messages are known; during a burst, their events would replace the network's acknowledgements.
    emitOwnEvents: false,
    shouldIgnoreJid: (jid) => /@(?:g\.us|broadcast|newsletter)$/.test(jid),
    getMessage: async ({ id }) => {
      const text = id ? await options.sentText(id).catch(() => null) : null
      return text === null ? undefined : { conversation: text }
    },
  }
}

const names: readonly SocketEventName[] = [
  'connection.update',
  'messaging-history.set',
  'contacts.upsert',
  'contacts.update',
  'lid-mapping.update',
  'messages.upsert',
  'messages.update',
]

function listen({ log }: LineDeps, line: Line, wa: BaileysSocket, identity: Identity): void {
  const { connection } = line.options
  let saved: Promise<void> = Promise.resolve()
  let wasOffered = false
  const save = (): void => {
    saved = identity.save().catch((error: unknown) => {
      // Continuing with an unsaved identity would leave a device that the network does not know.
      log.warn('failed to store the identity of a linked session; closing it', { connectionId: connection.id }, error)
      void wa.end(undefined)
    })
  }
  wa.ev.process((happened) => {
    if ('creds.update' in happened) save()
    const update = objectOf(happened['connection.update'])
    // Baileys buffers events during a burst; they would be lost with the socket.
    if (update.connection === 'close') wa.ev.flush()
    for (const event of names) {
      const data = event === 'connection.update' ? withNumber(clear(update, wasOffered), wa) : happened[event]
      if (event in happened) line.tell({ event, data }, saved)
    }
    if (update.qr) {
      wasOffered = true
      line.offered.resolve()
    }
    if (update.connection === 'close') end(line)
  })
  acknowledge(line, wa)
}

// Code 408 means an ended series of QR codes, but also a failed connection: removed if no QR code was offered.
function clear(update: Loose, wasOffered: boolean): Loose {
  const { output } = objectOf(objectOf(update.lastDisconnect).error)
  const isAmbiguous = objectOf(output).statusCode === 408 && !wasOffered
  return isAmbiguous ? { ...update, lastDisconnect: {} } : update
}

// The number is confirmed only after the phone accepts; before, it is what someone typed.
function withNumber(update: Loose, { user }: BaileysSocket): Loose {
  const isLinked = update.connection === 'open' || update.isNewLogin === true
  return isLinked && user !== undefined ? { ...update, me: { id: user.id } } : update
}

/** Reports acknowledgements, which the network sends as a bare stanza: Baileys emits an event only for errors. */
function acknowledge(line: Line, wa: BaileysSocket): void {
  wa.ws.on('CB:ack,class:message', ({ attrs }) => {
    const { id, error, from, t } = attrs
    if (id === undefined || !line.sent.delete(id) || error !== undefined) return
    const key = { id, fromMe: true, remoteJid: from }
    line.tell({ event: 'messages.update', data: [{ key, update: { status: 2, messageTimestamp: t } }] })
  })
}

/** Credentials and keys of a linked device. */
export interface Identity {
  creds: Creds
  keys: SignalKeys
  /** Saves the current credentials; concurrent calls are combined. */
  save(): Promise<void>
}

/** Loads the identity from the store. If no phone has linked it yet, creates and stores a new one. */
export async function openIdentity(baileys: BaileysPackage, store: AuthStore): Promise<Identity> {
  const kept = await readCreds(baileys, store)
  const creds = kept ?? baileys.initAuthCreds()
  const save = singleFlight(() => store.writeCreds(JSON.stringify(creds, baileys.BufferJSON.replacer)))
  if (kept === null) await save()
  return { creds, keys: keysOf(baileys, store), save }
}

async function readCreds({ BufferJSON }: BaileysPackage, store: AuthStore): Promise<Creds | null> {
  const text = await store.readCreds()
  if (text === null) return null
  const creds = JSON.parse(text, BufferJSON.reviver) as Creds
  // Pairing by code stores the phone before the phone accepts. With that name the network would treat us as a known
  // device and refuse the login.
  return creds.account === undefined || creds.account === null ? null : creds
}

function keysOf({ BufferJSON, proto }: BaileysPackage, store: AuthStore): SignalKeys {
  const revive = (type: string, text: string): unknown => {
    const value: unknown = JSON.parse(text, BufferJSON.reviver)
    const isMessage = type === 'app-state-sync-key' && typeof value === 'object' && value !== null
    return isMessage ? proto.Message.AppStateSyncKeyData.fromObject(value) : value
  }
  return {
    get: async (type, ids) => {
      const kept = await store.readKeys(type, ids)
      return Object.fromEntries([...kept].map(([id, text]) => [id, revive(type, text)]))
    },
    set: async (data) => {
      const entries = Object.entries(data).flatMap(([type, values]) =>
        Object.entries(values ?? {}).map(([id, value]): AuthKey => {
          const isGone = value === null || value === undefined
          return { type, id, value: isGone ? null : JSON.stringify(value, BufferJSON.replacer) }
        }),
      )
      if (entries.length > 0) await store.writeKeys(entries)
    },
  }
}
