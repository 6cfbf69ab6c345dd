import { randomUUID } from 'node:crypto'
import { createSignal } from '../../../src/base/async/loop.ts'
import type { Clock } from '../../../src/base/clock.ts'
import type {
  Socket,
  SocketEventName,
  SocketMessage,
  SocketOptions,
  Transport,
} from '../../../src/channels/unofficial/transport/transport.ts'

export type ScriptedSocket = ReturnType<typeof openScripted>['scripted']

function newDeliveryState() {
  const arrival = createSignal()
  /** Messages that reached customers, in order, over all sockets. */
  const delivered: SocketMessage[] = []
  return {
    delivered,
    deliver: (message: SocketMessage) => {
      delivered.push(message)
      arrival.wake()
    },
    /** Resolves with the last message when this many have arrived. */
    arrived: async (count: number): Promise<SocketMessage> => {
      for (;;) {
        const next = arrival.next()
        const message = delivered[count - 1]
        if (message !== undefined) return message
        await next
      }
    },
    onRead: (_jidAndTyping: string) => {},
    logouts: 0,
    beforeLogout: async (): Promise<void> => {},
    beforeClose: null as (() => Promise<void>) | null,
    /** Called before a message is accepted: throw to refuse it, wait to delay it. */
    beforeSend: async (_message: SocketMessage): Promise<void> => {},
    beforeUpload: async (): Promise<void> => {},
    /** Whether messages are acknowledged on arrival. */
    acknowledges: true,
    pairingCodes: [] as string[],
  }
}

/** In-memory network of phones that a test controls, and that records what was delivered. */
export function scriptedNetwork(clock: Clock) {
  const truth = newDeliveryState()
  /** All sockets ever opened, oldest first. */
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

function openScripted(network: ReturnType<typeof newDeliveryState>, options: SocketOptions, clock: Clock) {
  const reading = options.auth.readCreds().then(
    (creds) => {
      scripted.device = creds === null ? null : (JSON.parse(creds).device as string)
    },
    () => {},
  )
  /** Sends one event; resolves when it counts as acknowledged, or when the socket has closed instead. */
  const sendEvent = async (event: SocketEventName, data: unknown): Promise<void> => {
    if (scripted.isClosed) throw new Error('A closed socket receives no events')
    await reading
    await options.onEvent({ event, data })
  }
  const update = (data: object) => sendEvent('connection.update', data)
  const scripted = {
    /** Device that it claims to be; null if it must be linked first. */
    device: null as string | null,
    isClosed: false,
    options,
    sendEvent,
    qr: (qr: string) => update({ qr }),
    /** Simulates a scanned QR code: the device is linked, and the network requests a restart. */
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
      return sendEvent('messages.upsert', { type: 'notify', messages: [message] })
    },
    status: (id: string, status: number) =>
      sendEvent('messages.update', [{ key: { id, fromMe: true }, update: { status } }]),
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
    setTyping: async (jid, isTyping) => network.onRead(`${jid} ${isTyping ? 'composing' : 'paused'}`),
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
