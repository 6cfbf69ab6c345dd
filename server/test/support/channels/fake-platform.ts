import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connector, Order, RefusalEffect, SendResult } from '../../../src/channels/connector.ts'
import type { FileToUpload, MediaTransport, UploadResult } from '../../../src/channels/media-transport.ts'
import { cloudLimits } from '../../../src/channels/waba/cloud-media.ts'

/** Behavior of the platform for one call. `lose` accepts the message and then loses the answer. */
export type Behavior =
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
  refusesUpload: null as Exclude<UploadResult, { outcome: 'taken' }> | null,
  /** Called when an upload arrives; the upload is accepted when this resolves. */
  onUpload: (): void | Promise<void> => {},
  /** Accepted messages in order, as the customer gets them. */
  accepted: [] as { correlator: string; externalId: string; text: string; to: string | null; at: number }[],
  /** All calls, accepted or not. */
  sends: [] as { connectionId: string; order: Order }[],
  /** Orders of all calls. */
  calls: [] as Order[],
  reads: [] as { connectionId: string; externalId: string; isTyping?: boolean }[],
  /** Makes `markRead` fail, which a connector should not. */
  readsFail: false,
  /** Answers to the next calls, whatever else is configured. */
  answers: [] as SendResult[],
  /** Behavior for every call; undefined means the default. */
  behave: (_order: Order): Behavior | undefined => undefined,
  delayMs: 0,
  /** Called when a call arrives; the call is processed when this resolves. */
  onCall: (_order: Order): void | Promise<void> => {},
})

/** In-memory platform for every channel. It accepts all messages unless the test configures otherwise. */
export function fakePlatform() {
  const platform = newState()
  const connector: Connector = {
    maxTextLength: 4096,
    supportsChoices: true,
    send: ({ id }, order) => acceptOrder(platform, id, order),
    markRead: async ({ id: connectionId }, externalId, _to, isTyping) => {
      platform.reads.push({ connectionId, externalId, ...(isTyping && { isTyping }) })
      if (platform.readsFail) throw new Error('The platform does not answer')
    },
  }
  return Object.assign(platform, {
    connector,
    connectors: { waba: connector, unofficial: connector, partner: connector, website: connector },
    way: transportOf(async ({ bytes }) => acceptUpload(platform, await textOf(bytes()))),
    /** Serves the same platform over HTTP, for other processes. */
    listen: () => listen(platform),
  })
}

const transportOf = (upload: (file: FileToUpload) => Promise<UploadResult>): MediaTransport => ({
  limits: cloudLimits,
  maxCaptionLength: 1024,
  maxDownloadBytes: 0,
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

async function acceptUpload(platform: State, bytes: string): Promise<UploadResult> {
  await platform.onUpload()
  if (platform.refusesUpload !== null) return platform.refusesUpload
  const id = `file-${platform.uploads.length + 1}`
  platform.uploads.push({ id, bytes })
  return { outcome: 'taken', platformId: id, livesUntil }
}

async function acceptOrder(platform: State, connectionId: string, order: Order): Promise<SendResult> {
  platform.sends.push({ connectionId, order })
  platform.calls.push(order)
  await platform.onCall(order)
  const result = platform.answers.shift() ?? resultOf(platform, order, platform.behave(order) ?? 'accept')
  if (platform.delayMs > 0) await sleep(platform.delayMs)
  return result
}

function resultOf(platform: State, order: Order, behaviour: Behavior): SendResult {
  if (behaviour === 'unreachable') return { outcome: 'unreachable', errorCode: 'econnrefused' }
  if (typeof behaviour === 'object') {
    const { refuse: errorCode, effect = 'none', isFileGone = false } = behaviour
    return { outcome: 'refused', errorCode, effect, ...(isFileGone && { isFileGone }) }
  }
  const { message, correlator, recipient } = order
  const externalId = `wamid.${correlator}`
  platform.accepted.push({
    ...{ correlator, externalId, text: textOfOrder(message), to: recipient.phone, at: performance.now() },
  })
  if (behaviour === 'lose') return { outcome: 'unknown', errorCode: 'timeout' }
  return { outcome: 'accepted', externalId, platformUserPhone: recipient.phone }
}

function textOfOrder(message: Order['message']): string {
  if (message.kind === 'template') return message.parameters.join('|')
  if (message.kind === 'media') return `${message.file.kind} ${message.file.platformId}`
  return message.kind === 'reaction' ? (message.emoji ?? '') : message.text
}

async function listen(platform: State) {
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const isUpload = request.url === '/upload'
    response.end(
      JSON.stringify(await (isUpload ? acceptUpload(platform, body) : acceptOrder(platform, '', JSON.parse(body)))),
    )
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
export const remoteTransport = (url: string): MediaTransport =>
  transportOf(async (file) => {
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
