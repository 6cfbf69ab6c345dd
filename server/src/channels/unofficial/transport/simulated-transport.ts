import pLimit from 'p-limit'
import type { Outgoing } from '../../../base/outgoing/guarded-fetch.ts'
import type { OutgoingRequest } from '../../../base/outgoing/http-exchange.ts'
import type { FileToUpload } from '../../media-transport.ts'
import { readToEnd } from '../../waba/cloud-media.ts'
import { type JsonObject, listOf, objectOf, parseJson, textOf } from '../../waba/json.ts'
import type { AuthStore, Socket, SocketEventName, SocketMessage, SocketOptions, Transport } from './transport.ts'

const pollMs = 20_000
const graceMs = 10_000
const lost = 428

/** Returns the transport to a simulator, whose network behaves like the real one. */
export function simulatedTransport(outgoing: Outgoing): Transport {
  return {
    open: (options) => {
      const network = simulatedNetwork(outgoing, options.connection.settings.baseUrl ?? '')
      const state: State = { network, options, memory: openDeviceState(options.auth), socketId: null, isClosed: false }
      void run(state)
      return socketOf(state)
    },
  }
}

interface State {
  network: SimulatedNetwork
  options: SocketOptions
  memory: DeviceState
  /** Null until the socket is open. */
  socketId: string | null
  isClosed: boolean
}

async function run(state: State): Promise<void> {
  try {
    await deliver(state, 'connection.update', { connection: 'connecting', receivedPendingNotifications: false })
    state.socketId = await openNetworkSocket(state)
    if (state.isClosed) return await state.network.close(state.socketId)
    await pollEvents(state, state.socketId)
  } catch (error) {
    const isLost = error instanceof ConnectionLost
    if (!isLost && state.socketId !== null) await state.network.close(state.socketId)
    await deliverClose(state, isLost ? 'Connection was lost' : 'The keys could not be stored')
  } finally {
    state.isClosed = true
  }
}

async function openNetworkSocket({ network, memory }: State): Promise<string> {
  const answer = await network.call('', { credentials: await memory.loadCredentials() })
  const id = answer.outcome === 'answered' ? textOf(answer.body.socketId) : null
  if (id === null) throw new ConnectionLost()
  return id
}

// The next request acknowledges all earlier events, so it is sent only after they are committed.
async function pollEvents(state: State, socketId: string): Promise<void> {
  const { network, memory } = state
  for (let after = 0; !state.isClosed; ) {
    const request = { after, ratchet: memory.ratchet(), waitMs: pollMs }
    const answer = await network.call(`/${socketId}/poll`, request, { timeoutMs: pollMs + graceMs, canRepeat: true })
    if (state.isClosed) return
    if (answer.outcome !== 'answered') throw new ConnectionLost()
    const events = listOf(answer.body.events)
    // A server that answers at once without events is not a simulator: polling it would loop without pause.
    if (events.length === 0 && answer.ms < pollMs / 2) throw new ConnectionLost()
    for (const item of events) {
      const { seq, event, data } = objectOf(item)
      await handleEvent(state, String(event), data)
      if (state.isClosed) return
      after = Number(seq)
    }
  }
}

async function handleEvent(state: State, event: string, data: unknown): Promise<void> {
  if (event === 'creds.update') return state.memory.storeCredentials(data)
  if (event === 'messages.upsert') await state.memory.advance()
  await deliver(state, event as SocketEventName, data)
  // The last event of a socket is its close.
  if (event === 'connection.update' && objectOf(data).connection === 'close') state.isClosed = true
}

async function deliver({ options, isClosed }: State, event: SocketEventName, data: unknown): Promise<void> {
  if (!isClosed) await options.onEvent({ event, data })
}

async function deliverClose(state: State, message: string): Promise<void> {
  const lastDisconnect = { error: { message, output: { statusCode: lost } } }
  await deliver(state, 'connection.update', { connection: 'close', lastDisconnect })
}

class ConnectionLost extends Error {}

function socketOf(state: State): Socket {
  return {
    send: (message, mayLeave) => send(state, message, mayLeave),
    upload: (file) => upload(state, file),
    markRead: async (jid, id) => {
      await callSocket(state, '/read', { jid, id })
    },
    setTyping: async (jid, isTyping) => {
      await callSocket(state, '/typing', { jid, isTyping })
    },
    pairingCode: async (digits) => {
      const code = textOf((await callSocket(state, '/pairing-code', { phone: digits })).code)
      if (code === null) throw new Error('The network returned no code')
      return code
    },
    logout: async () => {
      await callSocket(state, '/logout', {})
    },
    close: async () => {
      const wasClosed = state.isClosed
      state.isClosed = true
      if (!wasClosed && state.socketId !== null) await state.network.close(state.socketId)
    },
  }
}

// The ratchet advances before the message is sent: after a crash it may be ahead of the network, never behind.
async function send(state: State, message: SocketMessage, mayLeave: () => boolean = () => true): Promise<void> {
  if (state.isClosed || state.socketId === null) throw new Error('The socket is not open')
  await state.memory.advance()
  if (state.isClosed) throw new Error('The socket is not open')
  const body = { ...bodyOf(message), ratchet: state.memory.ratchet() }
  const shouldSend = () => !state.isClosed && mayLeave()
  const answer = await state.network.call(`/${state.socketId}/messages`, body, { shouldSend })
  // Without an answer, or with an invalid one, the message may have been sent: only a later status can tell.
  if (answer.outcome === 'not_sent' || answer.outcome === 'refused') throw new Error('The message was not sent')
}

function bodyOf(message: SocketMessage): object {
  const { id, jid, quoted } = message
  const to = { id, jid, previewUrl: false, ...(quoted !== undefined && { quotes: quoted.externalId }) }
  if ('text' in message) return { ...to, text: message.text, previewUrl: message.previewUrl }
  if ('reaction' in message) {
    const { about, emoji } = message.reaction
    return { ...to, reaction: { about: about.externalId, emoji: emoji ?? '' } }
  }
  const { kind, name, fileId } = message.file
  const file = { fileId: fileId, kind, ...(name !== null && { name }) }
  return { ...to, file, ...(message.caption !== '' && { text: message.caption }) }
}

async function upload({ network, socketId, isClosed }: State, file: FileToUpload): Promise<string> {
  if (isClosed || socketId === null) throw new Error('The socket is not open')
  const fileId = await network.uploadFile(socketId, file)
  if (fileId === null) throw new Error('The network did not accept the file')
  return fileId
}

async function callSocket({ isClosed, socketId, network }: State, path: string, body: object) {
  if (isClosed || socketId === null) throw new Error('The socket is not open')
  const answer = await network.call(`/${socketId}${path}`, body)
  if (answer.outcome !== 'answered') throw new Error('The network did not answer the call')
  return answer.body
}

interface Credentials {
  device: string
  secret: string
  phone: string
  ratchet: number
}

const type = 'ratchet'
const id = 'self'

/** Credentials and ratchet of the device, as stored. */
type DeviceState = ReturnType<typeof openDeviceState>

function openDeviceState(auth: AuthStore) {
  let ratchet = 0
  // One at a time: two concurrent steps would store the same value.
  const runExclusive = pLimit(1)
  return {
    ratchet: () => ratchet,
    /** Reads the credentials; null before the device is linked. */
    loadCredentials: async (): Promise<Credentials | null> => {
      const creds = readCreds(await auth.readCreds())
      if (creds === null) return null
      const stored = Number((await auth.readKeys(type, [id])).get(id))
      // A lost ratchet is behind the network's, which then reports an error.
      ratchet = Number.isSafeInteger(stored) && stored > 0 ? stored : 0
      return { ...creds, ratchet }
    },
    storeCredentials: async (creds: unknown): Promise<void> => {
      await auth.writeCreds(JSON.stringify(creds))
      await auth.writeKeys([{ type, id, value: '0' }])
      ratchet = 0
    },
    /** Advances the ratchet, as with each message on the real network. Rejects if it cannot be stored. */
    advance: () =>
      runExclusive(async () => {
        await auth.writeKeys([{ type, id, value: String(ratchet + 1) }])
        ratchet += 1
      }),
  }
}

function readCreds(text: string | null): Omit<Credentials, 'ratchet'> | null {
  if (text === null) return null
  const { device, secret, phone } = objectOf(parseJson(text))
  const [deviceText, secretText, phoneText] = [textOf(device), textOf(secret), textOf(phone)]
  if (deviceText === null || secretText === null || phoneText === null) return null
  return { device: deviceText, secret: secretText, phone: phoneText }
}

/** Result of a call. `refused`: not done; `not_sent`: not received; `lost`: the network may have acted on it. */
type NetworkAnswer =
  | { outcome: 'answered'; body: JsonObject; ms: number }
  | { outcome: 'refused' }
  | { outcome: 'not_sent' }
  | { outcome: 'lost' }

/** Options of the outgoing HTTP client. */
type CallOptions = Partial<Pick<OutgoingRequest, 'timeoutMs' | 'canRepeat' | 'shouldSend'>>

type SimulatedNetwork = ReturnType<typeof simulatedNetwork>

const timeoutMs = 10_000
const closeTimeoutMs = 2_000
const maxAnswerBytes = 16 * 1024 * 1024

function simulatedNetwork(outgoing: Outgoing, baseUrl: string) {
  /** Calls the simulator's socket API; never throws. */
  const call = async (path: string, body: object, options: CallOptions = {}): Promise<NetworkAnswer> => {
    const answer = await outgoing.call({
      method: 'POST',
      url: `${baseUrl}/linked/sockets${path}`,
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify(body),
      timeoutMs,
      maxAnswerBytes,
      ...options,
    })
    if (answer.outcome === 'failed') return { outcome: answer.wasSent ? 'lost' : 'not_sent' }
    if (answer.status >= 400 && answer.status < 500) return { outcome: 'refused' }
    const read = answer.status < 300 && answer.isWhole ? parseJson(answer.body.toString('utf8')) : null
    return read === null ? { outcome: 'lost' } : { outcome: 'answered', body: objectOf(read), ms: answer.ms }
  }
  return {
    call,
    /** Uploads a file. Returns its id; null on failure. */
    uploadFile: (socketId: string, file: FileToUpload) =>
      uploadFile(outgoing, `${baseUrl}/linked/sockets/${socketId}/files`, file),
    /** Closes a socket, with a short timeout. */
    close: async (socketId: string): Promise<void> => {
      await call(`/${socketId}/close`, {}, { timeoutMs: closeTimeoutMs, canRepeat: true })
    },
  }
}

const idleTimeoutMs = 30_000

async function uploadFile(
  outgoing: Outgoing,
  url: string,
  { mimeType, name, size, bytes }: FileToUpload,
): Promise<string | null> {
  const query = new URLSearchParams({ type: mimeType, ...(name !== null && { name }) })
  const answer = await outgoing.stream({
    method: 'POST',
    url: `${url}?${query}`,
    headers: { accept: 'application/json', 'content-type': 'application/octet-stream' },
    body: { bytes: bytes(), length: size },
    idleTimeoutMs,
    maxAnswerBytes,
    signal: new AbortController().signal,
  })
  if (answer.outcome === 'failed') return null
  return textOf(objectOf(parseJson((await readToEnd(answer)) ?? '')).fileId)
}
