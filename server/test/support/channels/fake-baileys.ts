import type {
  BaileysOptions,
  BaileysPackage,
  BaileysSocket,
  Stanza,
} from '../../../src/channels/unofficial/transport/baileys-package.ts'

export interface FakeSocket extends BaileysSocket {
  options: BaileysOptions
  /** What the network makes happen, all at one time. */
  happen(happened: Record<string, unknown>): void
  /** What is told only once somebody asks for it or the burst is over. */
  keptBack: Record<string, unknown>[]
  stanza(name: string, attrs: Stanza['attrs']): void
  /** What was asked of it, in order. */
  calls: unknown[][]
  /** What the next `sendMessage` fails with. */
  fault: unknown
}

/** A file as the package was given it. */
export interface Prepared {
  type: string
  told: Record<string, unknown>
  bytes: string
  upload: unknown
}

/** The package as far as it is used, on a script: `sockets` are those that were made. */
export function fakeBaileys(): BaileysPackage & { sockets: FakeSocket[]; prepared: Prepared[] } {
  const prepared: Prepared[] = []
  const sockets: FakeSocket[] = []
  const isBytes = (value: unknown): value is Uint8Array => value instanceof Uint8Array
  return {
    sockets,
    prepared,
    makeWASocket: (options) => {
      const socket = fakeSocket(options)
      sockets.push(socket)
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
    prepareWAMessageMedia: async (content, options) => {
      const [type, media] = Object.entries(content)[0] as [string, { stream: AsyncIterable<Uint8Array> }]
      const pieces: Uint8Array[] = []
      for await (const piece of media.stream) pieces.push(piece)
      const { [type]: _, ...told } = content as Record<string, unknown>
      prepared.push({ type, told, bytes: Buffer.concat(pieces).toString(), upload: options.upload })
      return { [`${type}Message`]: { directPath: '/v/1', mediaKey: Buffer.from('key'), mimetype: told.mimetype } }
    },
  }
}

function fakeSocket(options: BaileysOptions): FakeSocket {
  const handlers: ((happened: Record<string, unknown>) => void)[] = []
  const listeners: [name: string, listener: (node: Stanza) => void][] = []
  const calls: unknown[][] = []
  const socket: FakeSocket = {
    options,
    calls,
    fault: null,
    keptBack: [],
    happen: (happened) => {
      for (const handle of handlers) handle(happened)
    },
    stanza: (name, attrs) => {
      for (const [known, listener] of listeners) if (known === name) listener({ attrs })
    },
    ev: {
      process: (handler) => void handlers.push(handler),
      flush: () => {
        for (const happened of socket.keptBack.splice(0)) socket.happen(happened)
      },
    },
    ws: { on: (name, listener) => listeners.push([name, listener]) },
    sendMessage: async (...call) => {
      calls.push(['sendMessage', ...call])
      const { fault } = socket
      socket.fault = null
      if (fault !== null) throw fault
    },
    relayMessage: async (...call) => void calls.push(['relayMessage', ...call]),
    waUploadToServer: 'the way up',
    readMessages: async (...call) => void calls.push(['readMessages', ...call]),
    requestPairingCode: async (digits) => {
      calls.push(['requestPairingCode', digits])
      return 'ABCD1234'
    },
    logout: async () => {
      calls.push(['logout'])
      socket.happen({ 'connection.update': { connection: 'close', lastDisconnect: { error: boom(401) } } })
    },
    end: async () => {
      calls.push(['end'])
      socket.happen({ 'connection.update': { connection: 'close', lastDisconnect: {} } })
    },
  }
  return socket
}

export const boom = (statusCode: number) => Object.assign(new Error('as scripted'), { output: { statusCode } })
