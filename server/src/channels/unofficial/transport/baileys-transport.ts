import { Readable } from 'node:stream'
import type { MediaKind } from '../../channel-event.ts'
import type { ReferencedMessage } from '../../connector.ts'
import type { FileToUpload } from '../../media-transport.ts'
import { objectOf, parseJson } from '../../waba/json.ts'
import { type BaileysPackage, type BaileysSocket, type MessageKey, silentLogger } from './baileys-package.ts'
import { type BaileysDeps, type BaileysState, connect, createBaileysState } from './baileys-socket.ts'
import type { Socket, SocketFile, SocketMessage, SocketOptions, Transport } from './transport.ts'

/** Returns the transport to the real network, based on Baileys. */
export function baileysTransport(deps: BaileysDeps): Transport {
  return { open: (options) => openSocket(deps, options) }
}

function openSocket(deps: BaileysDeps, options: SocketOptions): Socket {
  const state = createBaileysState(options)
  void connect(deps, state)
  return {
    send: (message, mayLeave) => send(state, message, mayLeave),
    upload: (file) => uploadFile(state, file),
    markRead: async (remoteJid, id) => waOf(state).readMessages([{ remoteJid, id, fromMe: false }]),
    setTyping: async (jid, isTyping) => waOf(state).sendPresenceUpdate(isTyping ? 'composing' : 'paused', jid),
    pairingCode: async (digits) => {
      // The network accepts a pairing code only after it has offered a QR code.
      await state.qrOffered.promise
      return waOf(state).requestPairingCode(digits)
    },
    logout: async () => waOf(state).logout(),
    close: () => close(state),
  }
}

async function send(state: BaileysState, message: SocketMessage, mayLeave: () => boolean = () => true): Promise<void> {
  const wa = waOf(state)
  const { id } = message
  if (!mayLeave()) throw new Error('The message deadline has passed')
  state.sent.add(id)
  try {
    await sendBy(wa, state, message)
  } catch (error) {
    // The acknowledgement, or its absence, decides.
    if (mayHaveLeft(error)) return
    state.sent.delete(id)
    throw error
  }
}

function sendBy(wa: BaileysSocket, state: BaileysState, message: SocketMessage): Promise<unknown> {
  const { id, jid, quoted } = message
  const options = { messageId: id, ...(quoted !== undefined && { quoted: quotedMessage(jid, quoted) }) }
  if ('text' in message) {
    const { text, previewUrl } = message
    return wa.sendMessage(jid, previewUrl ? { text } : { text, linkPreview: null }, options)
  }
  if ('reaction' in message) {
    const { about, emoji } = message.reaction
    return wa.sendMessage(jid, { react: { text: emoji ?? '', key: keyOf(jid, about) } }, options)
  }
  const content = fileMessage(message.file, message.caption, quoteOf(wa, jid, quoted))
  return wa.relayMessage(jid, packageOf(state).proto.Message.fromObject(content), { messageId: id })
}

// After a timeout or a connection reset it is unknown whether the bytes were sent.
function mayHaveLeft(error: unknown): boolean {
  const { code, output } = error as { code?: unknown; output?: { statusCode?: unknown } }
  return typeof code === 'string' || output?.statusCode === 408
}

const maxGoodbyeMs = 1_000

async function close(state: BaileysState): Promise<void> {
  const { wa } = state
  wa?.ev.flush()
  const drained = state.shutDown()
  if (wa !== null) {
    // Does not wait for a network that does not complete the close.
    const cut = setTimeout(() => wa.ws.socket?.terminate(), maxGoodbyeMs)
    await wa.end(undefined).finally(() => clearTimeout(cut))
  }
  await drained
}

export function waOf({ wa, isOver }: BaileysState): BaileysSocket {
  if (wa === null || isOver) throw new Error('The session has no socket at the moment')
  return wa
}

export function packageOf({ baileys }: BaileysState): BaileysPackage {
  if (baileys === null) throw new Error('The session has no socket at the moment')
  return baileys
}

/** Baileys' names of media kinds. */
const types = {
  image: 'image',
  video: 'video',
  audio: 'audio',
  voice: 'audio',
  document: 'document',
  sticker: 'sticker',
} as const satisfies Record<MediaKind, string>

const uploadTimeoutMs = 180_000

/**
 * Has Baileys encrypt and upload a file. Returns the fields for its message as JSON, with bytes in base64, so that this
 * process keeps no state.
 */
export async function uploadFile(state: BaileysState, file: FileToUpload): Promise<string> {
  const { kind, mimeType, name, seconds, waveform, bytes } = file
  const type = types[kind]
  const content = {
    [type]: { stream: Readable.from(bytes()) },
    mimetype: kind === 'voice' ? `${mimeType}; codecs=opus` : mimeType,
    ...(name !== null && { fileName: name }),
    // Set, because otherwise Baileys writes a copy of the file to disk to compute it.
    ...((type === 'image' || type === 'video') && { jpegThumbnail: '' }),
    ...(type === 'audio' && { seconds: Math.round(seconds ?? 0), ptt: kind === 'voice' }),
    ...(kind === 'voice' && { waveform: Uint8Array.from(waveform ?? []) }),
  }
  const upload = waOf(state).waUploadToServer
  const options = { upload, logger: silentLogger, mediaUploadTimeoutMs: uploadTimeoutMs }
  const prepared = await packageOf(state).prepareWAMessageMedia(content, options)
  return JSON.stringify({ ...objectOf(prepared[`${type}Message`]), jpegThumbnail: undefined }, toBase64)
}

// At this point buffers have been converted to objects by their `toJSON`.
function toBase64(this: unknown, key: string, value: unknown): unknown {
  const own = objectOf(this)[key]
  return own instanceof Uint8Array ? Buffer.from(own).toString('base64') : value
}

/** Returns the message that shows an uploaded file. */
export function fileMessage({ kind, name, fileId }: SocketFile, caption: string, contextInfo: object | null): object {
  const textFields = {
    ...(caption !== '' && { caption }),
    ...(kind === 'document' && name !== null && { fileName: name, title: name }),
    ...(contextInfo !== null && { contextInfo }),
  }
  const fileContent = { [`${types[kind]}Message`]: { ...objectOf(parseJson(fileId)), ...textFields } }
  return kind === 'document' && caption !== '' ? { documentWithCaptionMessage: { message: fileContent } } : fileContent
}

export const keyOf = (remoteJid: string, { externalId, direction }: ReferencedMessage): MessageKey => ({
  remoteJid,
  id: externalId,
  fromMe: direction === 'outbound',
})

/** Returns the quoted message in Baileys' format. */
export const quotedMessage = (jid: string, quoted: ReferencedMessage) => ({
  key: keyOf(jid, quoted),
  message: { conversation: quoted.text },
})

/** Returns the context info of a message that quotes another one. */
export function quoteOf(wa: BaileysSocket, jid: string, quoted: ReferencedMessage | undefined): object | null {
  if (quoted === undefined) return null
  const own = (wa.user?.id ?? '').replace(/:\d+@/, '@')
  const participant = quoted.direction === 'outbound' ? own : jid
  return { stanzaId: quoted.externalId, participant, quotedMessage: { conversation: quoted.text } }
}
