import { AsyncLocalStorage } from 'node:async_hooks'
import { singleFlight } from '../../../base/async/batch.ts'
import { withTimeout } from '../../../base/async/loop.ts'
import type { Log } from '../../../base/log.ts'
import { type JsonObject, objectOf } from '../../waba/json.ts'
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
import { type AuthKey, type AuthStore, type SocketEvent, type SocketOptions, socketEventNames } from './transport.ts'

export interface BaileysDeps {
  log: Log
  load?: () => Promise<BaileysPackage>
  /** Overrides the network's own address. */
  webSocketUrl?: string
}

/** A socket of a session, from before it opens until it has closed. */
export interface BaileysState {
  options: SocketOptions
  wa: BaileysSocket | null
  /** Baileys, once loaded. */
  baileys: BaileysPackage | null
  /** Closed by the network or by us. */
  isOver: boolean
  /** Ids of messages that were sent and not acknowledged. */
  sent: Set<string>
  /** Resolves when the network offers a QR code; rejects if it never will. */
  qrOffered: PromiseWithResolvers<void>
  /** Delivers an event, in order and after `after` resolves. */
  deliver(event: SocketEvent, after?: Promise<void>): void
  /** Closes the socket on our side: accepts no new events, and delivers none after it resolves. */
  shutDown(): Promise<void>
}

const maxDrainMs = 3_000
const delivering = new AsyncLocalStorage<BaileysState>()

export function createBaileysState(options: SocketOptions): BaileysState {
  let last: Promise<void> = Promise.resolve()
  let isClosed = false
  let isMuted = false
  const qrOffered = Promise.withResolvers<void>()
  // Prevents an unhandled rejection when no one waits for it.
  qrOffered.promise.catch(() => {})
  const state: BaileysState = {
    options,
    wa: null,
    baileys: null,
    isOver: false,
    sent: new Set(),
    qrOffered,
    deliver: (event, after) => {
      if (isClosed) return
      const before = last
      last = (async () => {
        await before
        await after
        if (!isMuted) await delivering.run(state, () => options.onEvent(event))
      })().catch(() => {})
    },
    shutDown: async () => {
      isClosed = true
      end(state)
      // The network treats queued events as delivered, so wait; but a handler that closes would wait for itself.
      if (delivering.getStore() !== state) await withTimeout(maxDrainMs, () => last).catch(() => {})
      isMuted = true
    },
  }
  return state
}

function end(state: BaileysState): void {
  state.isOver = true
  state.qrOffered.reject(new Error('The socket of the session has closed'))
}

/** Opens the socket. Never throws: errors are reported as a close event. */
export async function connect(deps: BaileysDeps, state: BaileysState): Promise<void> {
  const { log } = deps
  const { connection, auth } = state.options
  const baileys = await (deps.load ?? loadBaileys)().catch((error: unknown) => {
    log.error(missingMessage, { connectionId: connection.id, version: baileysVersion }, error)
    return null
  })
  if (baileys === null) return deliverClose(state, baileysMissing)
  guardBaileys(log)
  state.baileys = baileys
  try {
    const identity = await loadIdentity(baileys, auth)
    if (state.isOver) return
    const wa = baileys.makeWASocket(optionsOf(deps, state, baileys, identity))
    state.wa = wa
    listen(deps, state, wa, identity)
  } catch (error) {
    log.warn('Baileys failed to open a socket', { connectionId: connection.id }, error)
    deliverClose(state, null)
  }
}

const missingMessage = 'Baileys is not installed: see QR sessions in docs/operations.md'

function deliverClose(state: BaileysState, statusCode: number | null): void {
  end(state)
  const lastDisconnect = { error: { output: { statusCode } } }
  state.deliver({ event: 'connection.update', data: { connection: 'close', lastDisconnect } })
}

function optionsOf(
  deps: BaileysDeps,
  { options }: BaileysState,
  baileys: BaileysPackage,
  identity: Identity,
): BaileysOptions {
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
      const text = id ? await options.loadSentText(id).catch(() => null) : null
      return text === null ? undefined : { conversation: text }
    },
  }
}

function listen(deps: BaileysDeps, state: BaileysState, wa: BaileysSocket, identity: Identity): void {
  const { log } = deps
  const { connection } = state.options
  let saved: Promise<void> = Promise.resolve()
  let wasOffered = false
  const save = (): void => {
    saved = identity.save().catch((error: unknown) => {
      // Continuing with an unsaved identity would leave a device that the network does not know.
      log.warn('failed to store the identity of a linked session; closing it', { connectionId: connection.id }, error)
      void wa.end(undefined)
    })
  }
  wa.ev.process((events) => {
    if ('creds.update' in events) save()
    const update = objectOf(events['connection.update'])
    // Baileys buffers events during a burst; they would be lost with the socket.
    if (update.connection === 'close') wa.ev.flush()
    for (const event of socketEventNames) {
      const data =
        event === 'connection.update' ? addNumber(removeAmbiguousCode(update, wasOffered), wa) : events[event]
      if (event in events) state.deliver({ event, data }, saved)
    }
    if (update.qr) {
      wasOffered = true
      state.qrOffered.resolve()
    }
    if (update.connection === 'open') void readLimits(deps, state, wa)
    if (update.connection === 'close') end(state)
  })
  reportAcknowledgements(state, wa)
}

/** Asks the network for the limits on new chats, which it otherwise reports only when they change. */
async function readLimits({ log }: BaileysDeps, state: BaileysState, wa: BaileysSocket): Promise<void> {
  try {
    // Emits an event of its own.
    await wa.fetchAccountReachoutTimelock?.()
    const data = await wa.fetchNewChatMessageCap?.()
    if (data !== undefined) state.deliver({ event: 'message-capping.update', data })
  } catch {
    log.debug('failed to read the limits of a linked session', { connectionId: state.options.connection.id })
  }
}

// Code 408 means an ended series of QR codes, but also a failed connection: removed if no QR code was offered.
function removeAmbiguousCode(update: JsonObject, wasOffered: boolean): JsonObject {
  const { output } = objectOf(objectOf(update.lastDisconnect).error)
  const isAmbiguous = objectOf(output).statusCode === 408 && !wasOffered
  return isAmbiguous ? { ...update, lastDisconnect: {} } : update
}

// The number is confirmed only after the phone accepts; before, it is what someone typed.
function addNumber(update: JsonObject, { user }: BaileysSocket): JsonObject {
  const isLinked = update.connection === 'open' || update.isNewLogin === true
  return isLinked && user !== undefined ? { ...update, me: { id: user.id } } : update
}

/** Reports acknowledgements, which the network sends as a bare stanza: Baileys emits an event only for errors. */
function reportAcknowledgements(state: BaileysState, wa: BaileysSocket): void {
  wa.ws.on('CB:ack,class:message', ({ attrs }) => {
    const { id, error, from, t } = attrs
    if (id === undefined || !state.sent.delete(id) || error !== undefined) return
    const key = { id, fromMe: true, remoteJid: from }
    state.deliver({ event: 'messages.update', data: [{ key, update: { status: 2, messageTimestamp: t } }] })
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
export async function loadIdentity(baileys: BaileysPackage, store: AuthStore): Promise<Identity> {
  const stored = await readCreds(baileys, store)
  const creds = stored ?? baileys.initAuthCreds()
  const save = singleFlight(() => store.writeCreds(JSON.stringify(creds, baileys.BufferJSON.replacer)))
  if (stored === null) await save()
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
      const stored = await store.readKeys(type, ids)
      return Object.fromEntries([...stored].map(([id, text]) => [id, revive(type, text)]))
    },
    set: async (data) => {
      const entries = Object.entries(data).flatMap(([type, values]) =>
        Object.entries(values ?? {}).map(([id, value]): AuthKey => {
          const isDeleted = value === null || value === undefined
          return { type, id, value: isDeleted ? null : JSON.stringify(value, BufferJSON.replacer) }
        }),
      )
      if (entries.length > 0) await store.writeKeys(entries)
    },
  }
}
