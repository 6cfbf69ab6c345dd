import { randomUUID } from 'node:crypto'
import type { Clock } from '../../../src/base/clock.ts'
import type {
  OpenSocket,
  Socket,
  SocketEventName,
  SocketMessage,
  Transport,
} from '../../../src/channels/unofficial/transport/transport.ts'

/** A network of phones in memory that does what a test tells it, and keeps the truth of it. */
export interface ScriptedNetwork {
  transport: Transport
  /** Every socket that was ever opened, oldest first. */
  sockets: ScriptedSocket[]
  /** The one that was opened last. */
  last(): ScriptedSocket
  /** What reached the customers, in order, from whichever socket. */
  delivered: SocketMessage[]
  /** Resolves once so many messages have arrived. */
  arrived(count: number): Promise<SocketMessage>
  reads: { jid: string; id: string }[]
  logouts: number
  /** What happens while a socket logs out. */
  beforeLogout: (() => Promise<void>) | null
  /** What happens while a socket closes. */
  beforeClose: (() => Promise<void>) | null
  /** Asked before a message is taken: throw to refuse it before it leaves, wait to be slow. */
  beforeSend: ((message: SocketMessage) => Promise<void>) | null
  /** Before it takes a file. */
  beforeUpload?: () => Promise<void>
  /** Whether messages are acknowledged as soon as they arrive. */
  acknowledges: boolean
  pairingCodes: string[]
}

export interface ScriptedSocket {
  connectionId: string
  /** The device that it says it is; null when it has to be linked first. */
  device: string | null
  isClosed: boolean
  options: OpenSocket
  /** Tells one event; resolves when it counts as acknowledged, or when the socket was closed instead. */
  tell(event: SocketEventName, data: unknown): Promise<void>
  qr(text: string): Promise<void>
  /** The phone has scanned: the device is linked, and the network asks for a restart. */
  login(): Promise<void>
  open(phone?: string): Promise<void>
  close(code: number | null): Promise<void>
  customerWrites(phone: string, text: string, id?: string): Promise<void>
  status(id: string, status: number, code?: string): Promise<void>
}

export function scriptedNetwork(clock: Clock): ScriptedNetwork {
  const waiting = new Set<() => void>()
  const stir = () => {
    for (const look of [...waiting]) look()
  }
  const network: ScriptedNetwork = {
    transport: {
      open: (options) => {
        const { scripted, socket } = openScripted(network, options, { clock, stir })
        network.sockets.push(scripted)
        return socket
      },
    },
    sockets: [],
    last: () => {
      const last = network.sockets.at(-1)
      if (last === undefined) throw new Error('No socket was opened')
      return last
    },
    delivered: [],
    arrived: (count) =>
      new Promise((resolve) => {
        const look = () => {
          const message = network.delivered[count - 1]
          if (message === undefined) return
          waiting.delete(look)
          resolve(message)
        }
        waiting.add(look)
        look()
      }),
    reads: [],
    logouts: 0,
    beforeLogout: null,
    beforeClose: null,
    beforeSend: null,
    acknowledges: true,
    pairingCodes: [],
  }
  return network
}

function openScripted(
  network: ScriptedNetwork,
  options: OpenSocket,
  { clock, stir }: { clock: Clock; stir: () => void },
) {
  const reading = options.auth.readCreds().then(
    (creds) => {
      scripted.device = creds === null ? null : (JSON.parse(creds).device as string)
    },
    () => {},
  )
  const tell: ScriptedSocket['tell'] = async (event, data) => {
    if (scripted.isClosed) throw new Error('Nothing is heard from a closed socket')
    await reading
    await options.hear({ event, data })
  }
  const update = (data: object) => tell('connection.update', data)
  const scripted: ScriptedSocket = {
    connectionId: options.connection.id,
    device: null,
    isClosed: false,
    options,
    tell,
    qr: (qr) => update({ qr }),
    login: async () => {
      await options.auth.writeCreds(JSON.stringify({ device: randomUUID() }))
      await update({ isNewLogin: true })
    },
    open: (phone) =>
      update({ connection: 'open', ...(phone === undefined ? {} : { me: { id: `${phone}:7@s.whatsapp.net` } }) }),
    close: async (code) => {
      await update({
        connection: 'close',
        lastDisconnect: { error: code === null ? {} : { output: { statusCode: code } } },
      })
    },
    customerWrites: (phone, text, id = randomUUID()) => {
      const key = { remoteJid: `${phone}@s.whatsapp.net`, fromMe: false, id }
      const messageTimestamp = Math.floor(clock.now().getTime() / 1000)
      const message = { key, message: { conversation: text }, messageTimestamp, pushName: 'Marina' }
      return tell('messages.upsert', { type: 'notify', messages: [message] })
    },
    status: (id, status, code) =>
      tell('messages.update', [
        { key: { id, fromMe: true }, update: { status, ...(code ? { messageStubParameters: [code] } : {}) } },
      ]),
  }
  const socket: Socket = {
    send: async (message) => {
      if (scripted.isClosed) throw new Error('The socket is closed')
      await network.beforeSend?.(message)
      network.delivered.push(message)
      stir()
      if (network.acknowledges) void scripted.status(message.id, 2).catch(() => {})
    },
    upload: async ({ id }) => {
      await network.beforeUpload?.()
      return `given ${id}`
    },
    markRead: async (jid, id) => {
      network.reads.push({ jid, id })
    },
    pairingCode: async (digits) => {
      network.pairingCodes.push(digits)
      return 'K7QX2M9P'
    },
    logout: async () => {
      await network.beforeLogout?.()
      network.logouts++
    },
    close: async () => {
      if (network.beforeClose !== null) await network.beforeClose()
      scripted.isClosed = true
    },
  }
  return { scripted, socket }
}
