import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Channel, Connection } from '../../../src/channels/connection/connection.ts'
import type { Connector, Order, SendResult } from '../../../src/channels/connector.ts'
import type { FileToUpload, MediaWay, Uploaded } from '../../../src/channels/media-way.ts'
import { cloudLimits } from '../../../src/channels/waba/cloud-media.ts'

/** What the platform does with one call. `lose` accepts the message and then loses its own answer. */
export type Behaviour =
  | 'accept'
  | 'lose'
  | 'unreachable'
  | { refuse: string; effect?: 'connection_unavailable' | 'templates_stale'; isFileGone?: boolean }

/** A platform in memory, of every channel. It accepts what it is sent unless the test says otherwise. */
export interface FakePlatform {
  connector: Connector
  connectors: Record<Channel, Connector>
  way: MediaWay
  /** Every file that it took, in order: what it called it, and its bytes. */
  uploads: { id: string; bytes: string }[]
  /** What it says of an upload in place of taking it. */
  refusesUpload: Exclude<Uploaded, { outcome: 'taken' }> | null
  /** Called when an upload arrives; it is not taken until this resolves. */
  onUpload: () => void | Promise<void>
  /** Every message that the platform took, in order: what the customer gets. */
  accepted: { correlator: string; externalId: string; text: string; to: string | null; at: number }[]
  /** Every call, taken or not. */
  sends: { connectionId: string; order: Order }[]
  /** The same, by themselves. */
  calls: Order[]
  reads: { connectionId: string; externalId: string }[]
  /** Makes `markRead` fail, which a connector should not. */
  readsFail: boolean
  /** What the next calls are answered with, whatever else it does. */
  answers: SendResult[]
  /** How it behaves: for every call, unless the answer is undefined. */
  behave: (order: Order) => Behaviour | undefined
  delayMs: number
  /** Called when a call arrives; nothing is done with it until this resolves. */
  onCall: (order: Order) => void | Promise<void>
  /** The same platform over HTTP, for other processes. */
  listen(): Promise<{ url: string; close(): void }>
}

export function fakePlatform(): FakePlatform {
  const connector: Connector = {
    maxTextLength: 4096,
    takesChoices: true,
    send: ({ id }: Connection, order: Order) => take(platform, id, order),
    markRead: async ({ id: connectionId }, externalId) => {
      platform.reads.push({ connectionId, externalId })
      if (platform.readsFail) throw new Error('The platform does not answer')
    },
  }
  const platform: FakePlatform = {
    connector,
    connectors: { waba: connector, unofficial: { ...connector, takesChoices: false }, partner: connector },
    accepted: [],
    sends: [],
    calls: [],
    reads: [],
    readsFail: false,
    answers: [],
    uploads: [],
    refusesUpload: null,
    onUpload: () => {},
    way: wayOf(async (file) => takeUpload(platform, await bytesOf(file))),
    behave: () => undefined,
    delayMs: 0,
    onCall: () => {},
    listen: () => listen(platform),
  }
  return platform
}

const wayOf = (upload: (file: FileToUpload) => Promise<Uploaded>): MediaWay => ({
  limits: cloudLimits,
  maxCaptionLength: 1024,
  fetchBytes: 0,
  open: async () => ({ outcome: 'refused', errorCode: 'unused' }),
  upload: (_connection, file) => upload(file),
})

async function bytesOf({ bytes }: FileToUpload): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of bytes()) pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces).toString()
}

const day = 86_400_000

async function takeUpload(platform: FakePlatform, bytes: string): Promise<Uploaded> {
  await platform.onUpload()
  if (platform.refusesUpload !== null) return platform.refusesUpload
  const id = `file-${platform.uploads.length + 1}`
  platform.uploads.push({ id, bytes })
  return { outcome: 'taken', platformId: id, livesUntil: new Date(Date.parse('2026-03-10T12:00:00.000Z') + 29 * day) }
}

async function take(platform: FakePlatform, connectionId: string, order: Order): Promise<SendResult> {
  platform.sends.push({ connectionId, order })
  platform.calls.push(order)
  await platform.onCall(order)
  const result = platform.answers.shift() ?? resultOf(platform, order, platform.behave(order) ?? 'accept')
  if (platform.delayMs > 0) await sleep(platform.delayMs)
  return result
}

function resultOf(platform: FakePlatform, order: Order, behaviour: Behaviour): SendResult {
  if (behaviour === 'unreachable') return { outcome: 'unreachable', errorCode: 'econnrefused' }
  if (typeof behaviour === 'object') {
    const { refuse: errorCode, effect = 'none', isFileGone = false } = behaviour
    return { outcome: 'refused', errorCode, effect, ...(isFileGone && { isFileGone }) }
  }
  const { message, correlator, recipient } = order
  const externalId = `wamid.${correlator}`
  const text = wordsOf(message)
  platform.accepted.push({ correlator, externalId, text, to: recipient.phone, at: performance.now() })
  if (behaviour === 'lose') return { outcome: 'unknown', errorCode: 'timeout' }
  return { outcome: 'accepted', externalId, platformUserPhone: recipient.phone }
}

function wordsOf(message: Order['message']): string {
  switch (message.kind) {
    case 'text':
      return message.text
    case 'template':
      return message.parameters.join('|')
    case 'media':
      return `${message.file.kind} ${message.file.platformId}`
    case 'choices':
      return message.text
    case 'reaction':
      return message.emoji ?? ''
    default:
      return message satisfies never
  }
}

async function listen(platform: FakePlatform): Promise<{ url: string; close(): void }> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    const isUpload = request.url === '/upload'
    response.end(JSON.stringify(await (isUpload ? takeUpload(platform, body) : take(platform, '', JSON.parse(body)))))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** How files go to a fake platform that another process serves. */
export const remoteWay = (url: string): MediaWay =>
  wayOf(async (file) => {
    const response = await fetch(`${url}upload`, { method: 'POST', body: await bytesOf(file) })
    const taken = (await response.json()) as { platformId: string; livesUntil: string }
    return { outcome: 'taken', platformId: taken.platformId, livesUntil: new Date(taken.livesUntil) }
  })

/** A way to a fake platform that another process serves. */
export function remoteConnector(url: string): Connector {
  return {
    maxTextLength: 4096,
    send: async (_connection, order) => {
      const response = await fetch(url, { method: 'POST', body: JSON.stringify(order) })
      return (await response.json()) as SendResult
    },
    markRead: async () => {},
  }
}
