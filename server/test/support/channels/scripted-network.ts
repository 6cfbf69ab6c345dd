import { randomUUID } from 'node:crypto'
import { createSignal } from '../../../src/base/async/loop.ts'
import type { Clock } from '../../../src/base/clock.ts'
import type {
  OpenSocket,
  Socket,
  SocketEventName,
  SocketMessage,
  Transport,
} from '../../../src/channels/unofficial/transport/transport.ts'

export type ScriptedSocket = ReturnType<typeof openScripted>['scripted']

function newTruth() {
  const arrival = createSignal()
  /** What reached the customers, in order, from whichever socket. */
  const delivered: SocketMessage[] = []
  return {
    delivered,
    deliver: (message: SocketMessage) => {
      delivered.push(message)
      arrival.wake()
    },
    /** Resolves once so many messages have arrived, with the last of them. */
    arrived: async (count: number): Promise<SocketMessage> => {
      for (;;) {
        const next = arrival.next()
        const message = delivered[count - 1]
        if (message !== undefined) return message
        await next
      }
    },
    /** Called with whom a read is told to. */
    onRead: (_jid: string) => {},
    logouts: 0,
    beforeLogout: async (): Promise<void> => {},
    beforeClose: null as (() => Promise<void>) | null,
    /** Asked before a message is taken: throw to refuse it before it leaves, wait to be slow. */
    beforeSend: async (_message: SocketMessage): Promise<void> => {},
    beforeUpload: async (): Promise<void> => {},
    /** Whether messages are acknowledged as soon as they arrive. */
    acknowledges: true,
    pairingCodes: [] as string[],
  }
}

/** A network of phones in memory that does what a test tells it, and keeps the truth of it. */
export function scriptedNetwork(clock: Clock) {
  const truth = newTruth()
  /** Every socket that was ever opened, oldest first. */
  const sockets: ScriptedSocket[] = []
  const transport: Transport = {
    open: (options) => {
      const { scripted, socket } = openScripted(truth, options, clock)
      sockets.push(scripted)
      return socket
    },
  }
  const last = () => {
    const found = sockets.at(-1)
    if (found === undefined) throw new Error('No socket was opened')
    return found
  }
  return Object.assign(truth, { transport, sockets, last })
}

function openScripted(network: ReturnType<typeof newTruth>, options: OpenSocket, clock: Clock) {
  const reading = options.auth.readCreds().then(
    (creds) => {
      scripted.device = creds === null ? null : (JSON.parse(creds).device as string)
    },
    () => {},
  )
  /** Tells one event; resolves when it counts as acknowledged, or when the socket was closed instead. */
  const tell = async (event: SocketEventName, data: unknown): Promise<void> => {
    if (scripted.isClosed) throw new Error('Nothing is heard from a closed socket')
    await reading
    await options.hear({ event, data })
  }
  const update = (data: object) => tell('connection.update', data)
  const scripted = {
    /** The device that it says it is; null when it has to be linked first. */
    device: null as string | null,
    isClosed: false,
    options,
    tell,
    qr: (qr: string) => update({ qr }),
    /** The phone has scanned: the device is linked, and the network asks for a restart. */
    login: async () => {
      await options.auth.writeCreds(JSON.stringify({ device: randomUUID() }))
      await update({ isNewLogin: true })
    },
    open: (phone?: string) =>
      update({ connection: 'open', ...(phone === undefined ? {} : { me: { id: `${phone}:7@s.whatsapp.net` } }) }),
    close: (statusCode: number | null) => {
      const error = statusCode === null ? {} : { output: { statusCode } }
      return update({ connection: 'close', lastDisconnect: { error } })
    },
    customerWrites: (phone: string, text: string) => {
      const key = { remoteJid: `${phone}@s.whatsapp.net`, fromMe: false, id: randomUUID() }
      const messageTimestamp = Math.floor(clock.now().getTime() / 1000)
      const message = { key, message: { conversation: text }, messageTimestamp, pushName: 'Marina' }
      return tell('messages.upsert', { type: 'notify', messages: [message] })
    },
    status: (id: string, status: number) =>
      tell('messages.update', [{ key: { id, fromMe: true }, update: { status } }]),
  }
  const socket: Socket = {
    send: async (message) => {
      if (scripted.isClosed) throw new Error('The socket is closed')
      await network.beforeSend(message)
      network.deliver(message)
      if (network.acknowledges) void scripted.status(message.id, 2).catch(() => {})
    },
    upload: async ({ id }) => {
      await network.beforeUpload()
      return `given ${id}`
    },
    markRead: async (jid) => network.onRead(jid),
    pairingCode: async (digits) => {
      network.pairingCodes.push(digits)
      return 'K7QX2M9P'
    },
    logout: async () => {
      await network.beforeLogout()
      network.logouts++
    },
    close: async () => {
      if (network.beforeClose !== null) await network.beforeClose()
      scripted.isClosed = true
    },
  }
  return { scripted, socket }
}
