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
    send: (message) => send(line, message),
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

async function send(line: Line, { id, jid, text, previewUrl }: SocketMessage): Promise<void> {
  const wa = waOf(line)
  line.sent.add(id)
  try {
    await wa.sendMessage(jid, previewUrl ? { text } : { text, linkPreview: null }, { messageId: id })
  } catch (error) {
    // Then the network's word on it, or its silence, tells.
    if (mayHaveLeft(error)) return
    line.sent.delete(id)
    throw error
  }
}

// Out of time, or cut off by the operating system: nobody knows whether the bytes went.
function mayHaveLeft(error: unknown): boolean {
  const { code, output } = error as { code?: unknown; output?: { statusCode?: unknown } }
  return typeof code === 'string' || output?.statusCode === 408
}

function waOf({ wa, isOver }: Line): BaileysSocket {
  if (wa === null || isOver) throw new Error('The session has no socket at the moment')
  return wa
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
