import { buffer } from 'node:stream/consumers'
import type {
  BaileysOptions,
  BaileysPackage,
  BaileysSocket,
  Stanza,
} from '../../../src/channels/unofficial/transport/baileys-package.ts'

export type FakeSocket = ReturnType<typeof fakeSocket>
type Happened = Record<string, unknown>

/** A scripted fake of the package; `onOpen` receives each socket that it creates. */
export function fakeBaileys(onOpen: (wa: FakeSocket) => void = () => {}) {
  /** Files that were uploaded. */
  const prepared: { type: string; told: Happened; bytes: string; upload: unknown }[] = []
  const isBytes = (value: unknown): value is Uint8Array => value instanceof Uint8Array
  const baileys: BaileysPackage = {
    makeWASocket: (options) => {
      const socket = fakeSocket(options)
      onOpen(socket)
      return socket
    },
    makeCacheableSignalKeyStore: (store) => store,
    initAuthCreds: () => ({ noiseKey: new Uint8Array([1, 2, 3]) }) as object,
    BufferJSON: {
      replacer: (_, value) => (isBytes(value) ? { bytes: [...value] } : value),
      reviver: (_, value) => {
        const { bytes } = (value ?? {}) as { bytes?: number[] }
        return bytes === undefined ? value : new Uint8Array(bytes)
      },
    },
    proto: {
      Message: { AppStateSyncKeyData: { fromObject: (value) => ({ revived: value }) }, fromObject: (value) => value },
    },
    prepareWAMessageMedia: async (content, { upload }) => {
      const [type, media] = Object.entries(content)[0] as [string, { stream: AsyncIterable<Uint8Array> }]
      const { [type]: _, ...told } = content as Happened
      prepared.push({ type, told, bytes: (await buffer(media.stream)).toString(), upload })
      return { [`${type}Message`]: { directPath: '/v/1', mediaKey: Buffer.from('key'), mimetype: told.mimetype } }
    },
  }
  return { ...baileys, prepared }
}

function fakeSocket(options: BaileysOptions) {
  const handlers: ((happened: Happened) => void)[] = []
  const listeners = new Map<string, (node: Stanza) => void>()
  /** Calls, in order. */
  const calls: unknown[][] = []
  const closes = (lastDisconnect: object) =>
    socket.happen({ 'connection.update': { connection: 'close', lastDisconnect } })
  const wa: BaileysSocket = {
    ev: {
      process: (handler) => void handlers.push(handler),
      flush: () => {
        for (const happened of socket.keptBack.splice(0)) socket.happen(happened)
      },
    },
    ws: { on: (name, listener) => listeners.set(name, listener) },
    sendMessage: async (...call) => {
      calls.push(['sendMessage', ...call])
      if (socket.fault !== null) throw socket.fault
    },
    relayMessage: async (...call) => void calls.push(['relayMessage', ...call]),
    waUploadToServer: 'the way up',
    readMessages: async (...call) => void calls.push(['readMessages', ...call]),
    sendPresenceUpdate: async (...call) => void calls.push(['sendPresenceUpdate', ...call]),
    requestPairingCode: async (digits) => {
      calls.push(['requestPairingCode', digits])
      return 'ABCD1234'
    },
    logout: async () => closes({ error: boom(401) }),
    end: async () => {
      calls.push(['end'])
      closes({})
    },
  }
  const socket = {
    ...wa,
    options,
    calls,
    /** Error of `sendMessage`. */
    fault: null as unknown,
    /** Events emitted only after `flush` or the end of the burst. */
    keptBack: [] as Happened[],
    /** Emits events of the network, all at once. */
    happen: (happened: Happened) => {
      for (const handle of handlers) handle(happened)
    },
    acks: (attrs: Stanza['attrs']) => listeners.get('CB:ack,class:message')?.({ attrs }),
  }
  return socket
}

export const boom = (statusCode: number) => Object.assign(new Error('as scripted'), { output: { statusCode } })
