import { giveFile, keyOf, packageOf, quotedMessage, quoteOf, shownFile, waOf } from './baileys-file.ts'
import { connect, type Line, type LineDeps, newLine } from './baileys-line.ts'
import type { BaileysSocket } from './baileys-package.ts'
import type { OpenSocket, Socket, SocketMessage, Transport } from './transport.ts'

/** The real network, by Baileys. */
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
      // Before the network offers a code to scan, it is not ready for one to type either.
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
  if (!mayLeave()) throw new Error('The message is too late')
  line.sent.add(id)
  try {
    await sendBy(wa, line, message)
  } catch (error) {
    // Then the network's word on it, or its silence, tells.
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

// Out of time, or cut off by the operating system: nobody knows whether the bytes went.
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
    // A network that does not answer the goodbye is not waited for.
    const cut = setTimeout(() => wa.ws.socket?.terminate(), maxGoodbyeMs)
    await wa.end(undefined).finally(() => clearTimeout(cut))
  }
  await heard
}
