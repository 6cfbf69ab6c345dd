import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from '../../../src/channels/connection/connection.ts'
import type { Connector, Order, SendResult } from '../../../src/channels/connector.ts'

/** What the platform does with one call. `lose` accepts the message and then loses its own answer. */
export type Behaviour =
  | 'accept'
  | 'lose'
  | 'unreachable'
  | { refuse: string; effect?: 'connection_unavailable' | 'templates_stale' }

export interface FakePlatform {
  connector: Connector
  /** Every message that the platform took, in order: what the customer gets. */
  accepted: { correlator: string; externalId: string; text: string; to: string | null; at: number }[]
  /** Every call, taken or not. */
  calls: Order[]
  /** How it behaves: for every call, unless the answer is undefined. */
  behave: (order: Order) => Behaviour | undefined
  delayMs: number
  /** Called when a call arrives; nothing is done with it until this resolves. */
  onCall: (order: Order) => void | Promise<void>
  /** The same platform over HTTP, for other processes. */
  listen(): Promise<{ url: string; close(): void }>
}

let ids = 0

export function fakePlatform(): FakePlatform {
  const platform: FakePlatform = {
    accepted: [],
    calls: [],
    behave: () => undefined,
    delayMs: 0,
    onCall: () => {},
    connector: {
      maxTextLength: 4096,
      send: (_connection: Connection, order: Order) => take(platform, order),
      markRead: async () => {},
    },
    listen: () => listen(platform),
  }
  return platform
}

async function take(platform: FakePlatform, order: Order): Promise<SendResult> {
  platform.calls.push(order)
  await platform.onCall(order)
  const behaviour = platform.behave(order) ?? 'accept'
  const result = resultOf(platform, order, behaviour)
  if (platform.delayMs > 0) await sleep(platform.delayMs)
  return result
}

function resultOf(platform: FakePlatform, order: Order, behaviour: Behaviour): SendResult {
  if (behaviour === 'unreachable') return { outcome: 'unreachable', errorCode: 'econnrefused' }
  if (typeof behaviour === 'object') {
    return { outcome: 'refused', errorCode: behaviour.refuse, effect: behaviour.effect ?? 'none' }
  }
  const externalId = `wamid.${++ids}`
  const { message, correlator, recipient } = order
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
    const order = JSON.parse(Buffer.concat(chunks).toString()) as Order
    response.end(JSON.stringify(await take(platform, order)))
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
