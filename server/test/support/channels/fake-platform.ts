import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connector, Order, RefusalEffect, SendResult } from '../../../src/channels/connector.ts'
import type { FileToUpload, MediaWay, Uploaded } from '../../../src/channels/media-transport.ts'
import { cloudLimits } from '../../../src/channels/waba/cloud-media.ts'

/** Behavior of the platform for one call. `lose` accepts the message and then loses the answer. */
export type Behaviour =
  | 'accept'
  | 'lose'
  | 'unreachable'
  | { refuse: string; effect?: RefusalEffect; isFileGone?: boolean }

export type FakePlatform = ReturnType<typeof fakePlatform>
type State = ReturnType<typeof newState>

const newState = () => ({
  /** Accepted files in order: id and bytes. */
  uploads: [] as { id: string; bytes: string }[],
  /** Answer to uploads when they are refused. */
  refusesUpload: null as Exclude<Uploaded, { outcome: 'taken' }> | null,
  /** Called when an upload arrives; the upload is accepted when this resolves. */
  onUpload: (): void | Promise<void> => {},
  /** Accepted messages in order, as the customer gets them. */
  accepted: [] as { correlator: string; externalId: string; text: string; to: string | null; at: number }[],
  /** All calls, accepted or not. */
  sends: [] as { connectionId: string; order: Order }[],
  /** Orders of all calls. */
  calls: [] as Order[],
  reads: [] as { connectionId: string; externalId: string }[],
  /** Makes `markRead` fail, which a connector should not. */
  readsFail: false,
  /** Answers to the next calls, whatever else is configured. */
  answers: [] as SendResult[],
  /** Behavior for every call; undefined means the default. */
  behave: (_order: Order): Behaviour | undefined => undefined,
  delayMs: 0,
  /** Called when a call arrives; the call is processed when this resolves. */
  onCall: (_order: Order): void | Promise<void> => {},
})

/** In-memory platform for every channel. It accepts all messages unless the test configures otherwise. */
export function fakePlatform() {
  const platform = newState()
  const connector: Connector = {
    maxTextLength: 4096,
    takesChoices: true,
    send: ({ id }, order) => take(platform, id, order),
    markRead: async ({ id: connectionId }, externalId) => {
      platform.reads.push({ connectionId, externalId })
      if (platform.readsFail) throw new Error('The platform does not answer')
    },
  }
  return Object.assign(platform, {
    connector,
    connectors: { waba: connector, unofficial: { ...connector, takesChoices: false }, partner: connector },
    way: wayOf(async ({ bytes }) => takeUpload(platform, await textOf(bytes()))),
    /** Serves the same platform over HTTP, for other processes. */
    listen: () => listen(platform),
  })
}

const wayOf = (upload: (file: FileToUpload) => Promise<Uploaded>): MediaWay => ({
  limits: cloudLimits,
  maxCaptionLength: 1024,
  fetchBytes: 0,
  open: async () => ({ outcome: 'refused', errorCode: 'unused' }),
  upload: (_connection, file) => upload(file),
})

/** Chunks may share the same memory. */
async function textOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  let read = ''
  for await (const piece of bytes) read += Buffer.from(piece).toString()
  return read
}

const livesUntil = new Date('2026-04-08T12:00:00.000Z')

async function takeUpload(platform: State, bytes: string): Promise<Uploaded> {
  await platform.onUpload()
  if (platform.refusesUpload !== null) return platform.refusesUpload
  const id = `file-${platform.uploads.length + 1}`
  platform.uploads.push({ id, bytes })
  return { outcome: 'taken', platformId: id, livesUntil }
}

async function take(platform: State, connectionId: string, order: Order): Promise<SendResult> {
  platform.sends.push({ connectionId, order })
  platform.calls.push(order)
  await platform.onCall(order)
  const result = platform.answers.shift() ?? resultOf(platform, order, platform.behave(order) ?? 'accept')
  if (platform.delayMs > 0) await sleep(platform.delayMs)
  return result
}

function resultOf(platform: State, order: Order, behaviour: Behaviour): SendResult {
  if (behaviour === 'unreachable') return { outcome: 'unreachable', errorCode: 'econnrefused' }
  if (typeof behaviour === 'object') {
    const { refuse: errorCode, effect = 'none', isFileGone = false } = behaviour
    return { outcome: 'refused', errorCode, effect, ...(isFileGone && { isFileGone }) }
  }
  const { message, correlator, recipient } = order
  const externalId = `wamid.${correlator}`
  platform.accepted.push({
    ...{ correlator, externalId, text: wordsOf(message), to: recipient.phone, at: performance.now() },
  })
  if (behaviour === 'lose') return { outcome: 'unknown', errorCode: 'timeout' }
  return { outcome: 'accepted', externalId, platformUserPhone: recipient.phone }
}

function wordsOf(message: Order['message']): string {
  if (message.kind === 'template') return message.parameters.join('|')
  if (message.kind === 'media') return `${message.file.kind} ${message.file.platformId}`
  return message.kind === 'reaction' ? (message.emoji ?? '') : message.text
}

async function listen(platform: State) {
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const isUpload = request.url === '/upload'
    response.end(JSON.stringify(await (isUpload ? takeUpload(platform, body) : take(platform, '', JSON.parse(body)))))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Uploads files to a fake platform in another process. */
export const remoteWay = (url: string): MediaWay =>
  wayOf(async (file) => {
    const response = await fetch(`${url}upload`, { method: 'POST', body: await textOf(file.bytes()) })
    const { platformId } = (await response.json()) as { platformId: string }
    return { outcome: 'taken', platformId, livesUntil }
  })

/** Connects to a fake platform in another process. */
export const remoteConnector = (url: string): Connector => ({
  maxTextLength: 4096,
  send: async (_connection, order) => {
    const response = await fetch(url, { method: 'POST', body: JSON.stringify(order) })
    return (await response.json()) as SendResult
  },
  markRead: async () => {},
})
