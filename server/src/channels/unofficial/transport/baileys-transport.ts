import { Readable } from 'node:stream'
import type { MediaKind } from '../../channel-event.ts'
import type { OtherMessage } from '../../connector.ts'
import type { FileToUpload } from '../../media-transport.ts'
import { objectOf, readJson } from '../../waba/json.ts'
import { type BaileysPackage, type BaileysSocket, type MessageKey, silentLogger } from './baileys-package.ts'
import { connect, type Line, type LineDeps, newLine } from './baileys-socket.ts'
import type { OpenSocket, Socket, SocketFile, SocketMessage, Transport } from './transport.ts'

/** Returns the transport to the real network, based on Baileys. */
export function baileysTransport(deps: LineDeps): Transport {
  return { open: (options) => openSocket(deps, options) }
}

function openSocket(deps: LineDeps, options: OpenSocket): Socket {
  const line = newLine(options)
  void connect(deps, line)
  return {
    send: (message, mayLeave) => send(line, message, mayLeave),
    upload: (file) => giveFile(line, file),
    markRead: async (remoteJid, id) => waOf(line).readMessages([{ remoteJid, id, fromMe: false }]),
    pairingCode: async (digits) => {
      // The network accepts a pairing code only after it has offered a QR code.
      await line.offered.promise
      return waOf(line).requestPairingCode(digits)
    },
    logout: async () => waOf(line).logout(),
    close: () => close(line),
  }
}

async function send(line: Line, message: SocketMessage, mayLeave: () => boolean = () => true): Promise<void> {
  const wa = waOf(line)
  const { id } = message
  if (!mayLeave()) throw new Error('The message deadline has passed')
  line.sent.add(id)
  try {
    await sendBy(wa, line, message)
  } catch (error) {
    // The acknowledgement, or its absence, decides.
    if (mayHaveLeft(error)) return
    line.sent.delete(id)
    throw error
  }
}

function sendBy(wa: BaileysSocket, line: Line, message: SocketMessage): Promise<unknown> {
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
  const content = shownFile(message.file, message.caption, quoteOf(wa, jid, quoted))
  return wa.relayMessage(jid, packageOf(line).proto.Message.fromObject(content), { messageId: id })
}

// After a timeout or a connection reset it is unknown whether the bytes were sent.
function mayHaveLeft(error: unknown): boolean {
  const { code, output } = error as { code?: unknown; output?: { statusCode?: unknown } }
  return typeof code === 'string' || output?.statusCode === 408
}

const maxGoodbyeMs = 1_000

async function close(line: Line): Promise<void> {
  const { wa } = line
  wa?.ev.flush()
  const heard = line.hangUp()
  if (wa !== null) {
    // Does not wait for a network that does not complete the close.
    const cut = setTimeout(() => wa.ws.socket?.terminate(), maxGoodbyeMs)
    await wa.end(undefined).finally(() => clearTimeout(cut))
  }
  await heard
}

export function waOf({ wa, isOver }: Line): BaileysSocket {
  if (wa === null || isOver) throw new Error('The session has no socket at the moment')
  return wa
}

export function packageOf({ baileys }: Line): BaileysPackage {
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
export async function giveFile(line: Line, file: FileToUpload): Promise<string> {
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
  const upload = waOf(line).waUploadToServer
  const options = { upload, logger: silentLogger, mediaUploadTimeoutMs: uploadTimeoutMs }
  const prepared = await packageOf(line).prepareWAMessageMedia(content, options)
  return JSON.stringify({ ...objectOf(prepared[`${type}Message`]), jpegThumbnail: undefined }, toBase64)
}

// At this point buffers have been converted to objects by their `toJSON`.
function toBase64(this: unknown, key: string, value: unknown): unknown {
  const own = objectOf(this)[key]
  return own instanceof Uint8Array ? Buffer.from(own).toString('base64') : value
}

/** Returns the message that shows an uploaded file. */
export function shownFile({ kind, name, given }: SocketFile, caption: string, contextInfo: object | null): object {
  const words = {
    ...(caption !== '' && { caption }),
    ...(kind === 'document' && name !== null && { fileName: name, title: name }),
    ...(contextInfo !== null && { contextInfo }),
  }
  const shown = { [`${types[kind]}Message`]: { ...objectOf(readJson(given)), ...words } }
  return kind === 'document' && caption !== '' ? { documentWithCaptionMessage: { message: shown } } : shown
}

export const keyOf = (remoteJid: string, { externalId, direction }: OtherMessage): MessageKey => ({
  remoteJid,
  id: externalId,
  fromMe: direction === 'outbound',
})

/** Returns the quoted message in Baileys' format. */
export const quotedMessage = (jid: string, quoted: OtherMessage) => ({
  key: keyOf(jid, quoted),
  message: { conversation: quoted.text },
})

/** Returns the context info of a message that quotes another one. */
export function quoteOf(wa: BaileysSocket, jid: string, quoted: OtherMessage | undefined): object | null {
  if (quoted === undefined) return null
  const own = (wa.user?.id ?? '').replace(/:\d+@/, '@')
  const participant = quoted.direction === 'outbound' ? own : jid
  return { stanzaId: quoted.externalId, participant, quotedMessage: { conversation: quoted.text } }
}
