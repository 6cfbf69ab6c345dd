import { createHash, randomUUID } from 'node:crypto'
import type { Clock } from '../../../base/clock.ts'
import type { Db } from '../../../base/db.ts'
import type { KeyStore } from '../../../base/encryption/key-store.ts'
import type { SessionConnection } from '../../connection/connection.ts'
import type { Connector, Order, OutgoingMessage, Recipient, SendResult } from '../../connector.ts'
import type { SocketContent } from '../transport/transport.ts'
import { enqueueSend, type NewSessionSend, preventSend, type ReadReceipt, waitForSend } from './sends.ts'

export interface SessionConnectorDeps {
  db: Db
  keyStore: KeyStore
  clock: Clock
  /** Milliseconds to wait for an acknowledgement after sending. */
  ackMs?: number
  /** Poll interval, in case a notification is lost. */
  pollMs?: number
  /** Monotonic clock in milliseconds, to detect timeouts. */
  elapsedMs?: () => number
}

const defaultAckMs = 8_000
const defaultPollMs = 250
const readWithinMs = 30_000
/** Later, the answer has probably been sent. */
const typingWithinMs = 5_000

/** Connector for QR sessions. Enqueues sends for the process that holds the socket. */
export function sessionConnector(deps: SessionConnectorDeps): Connector<SessionConnection> {
  return {
    maxTextLength: null,
    send: async (connection, order) => {
      const send = messageOf(connection, order, deps.clock)
      if (send === null) return { outcome: 'refused', errorCode: 'no_address', effect: 'none' }
      if (send.leftMs() <= 0) return { outcome: 'unreachable', errorCode: 'not_sent' }
      if (!(await requestSend(deps, send))) return { outcome: 'unreachable', errorCode: 'session_not_held' }
      return waitForEnd(deps, send)
    },
    markRead: async (connection, externalId, customer, isTyping = false) => {
      const send = readReceiptOf(connection, customer, { read: externalId, ...(isTyping && { typing: 'composing' }) })
      if (send !== null) await requestSend(deps, send)
    },
    stopTyping: async (connection, externalId, customer) => {
      const send = readReceiptOf(connection, customer, { read: externalId, typing: 'paused' })
      if (send !== null) await requestSend(deps, send)
    },
    cancelOrder: (tx, keyring, { workspaceId, connectionId, correlator }) => {
      const id = ownMessageId(correlator, connectionId)
      return preventSend(tx, keyring, { workspaceId, connectionId, id, correlator }, deps.clock.now())
    },
  }
}

function messageOf(
  { workspaceId, id: connectionId }: SessionConnection,
  order: Order,
  clock: Clock,
): NewSessionSend | null {
  const { recipient, message, correlator, deadline } = order
  const jid = jidOf(recipient)
  const content = contentOf(message)
  if (jid === null || content === null) return null
  const send = {
    workspaceId,
    connectionId,
    id: ownMessageId(correlator, connectionId),
    kind: 'message',
    correlator,
  } as const
  return { ...send, content: { jid, ...content }, leftMs: () => deadline.getTime() - clock.now().getTime() }
}

/** Returns null for templates, choices and prompts, which exist only on the official platform and are never requested here. */
function contentOf(message: OutgoingMessage): SocketContent | null {
  if (message.kind === 'template' || message.kind === 'choices' || message.kind === 'prompt') return null
  if (message.kind === 'reaction') return { reaction: { about: message.about, emoji: message.emoji } }
  const quoted = message.quoted === undefined ? {} : { quoted: message.quoted }
  if (message.kind === 'text') return { text: message.text, previewUrl: message.previewUrl, ...quoted }
  const { platformId: fileId, ...file } = message.file
  return fileId === null ? null : { file: { ...file, fileId }, caption: message.caption, ...quoted }
}

function readReceiptOf(
  { workspaceId, id: connectionId }: SessionConnection,
  customer: Recipient,
  receipt: Omit<ReadReceipt, 'jid'>,
): NewSessionSend | null {
  const jid = chatJidOf(customer)
  if (jid === null) return null
  const send = { workspaceId, connectionId, id: randomUUID(), kind: 'read', correlator: null } as const
  const withinMs = receipt.typing === undefined ? readWithinMs : typingWithinMs
  return { ...send, content: { jid, ...receipt }, leftMs: () => withinMs }
}

export async function requestSend(
  { db, keyStore, clock }: Pick<SessionConnectorDeps, 'db' | 'keyStore' | 'clock'>,
  send: NewSessionSend,
): Promise<boolean> {
  const keyring = await keyStore.keyring(send.workspaceId)
  return db.tx((tx) => enqueueSend(tx, keyring, send, clock.now()))
}

async function waitForEnd(deps: SessionConnectorDeps, send: NewSessionSend): Promise<SendResult> {
  const { db, ackMs = defaultAckMs, pollMs = defaultPollMs, elapsedMs = () => performance.now() } = deps
  const giveUpAt = elapsedMs() + Math.max(0, send.leftMs()) + ackMs
  const end = await waitForSend(db, send, pollMs, () => elapsedMs() >= giveUpAt)
  switch (end.state) {
    case 'accepted':
      return { outcome: 'accepted', externalId: send.id, platformUserPhone: null }
    case 'refused':
      return { outcome: 'refused', errorCode: end.errorCode ?? 'unknown', effect: 'none' }
    case 'cancelled':
      return { outcome: 'unreachable', errorCode: end.errorCode ?? 'unknown' }
    case 'unclaimed':
      return { outcome: 'unreachable', errorCode: 'session_not_open' }
    case 'lost':
      return { outcome: 'unknown', errorCode: 'session_lost' }
    case 'late':
      return { outcome: 'unknown', errorCode: 'no_ack' }
  }
}

/** Derives the network id of a message, so that after a crash events with this id are recognized as ours. */
export function ownMessageId(correlator: string, connectionId: string): string {
  const digest = createHash('sha256').update(`${correlator} ${connectionId}`).digest('hex')
  return `${ownIdPrefix}${digest.slice(0, 18).toUpperCase()}`
}

/** Same prefix as the ids of a linked browser. */
const ownIdPrefix = '3EB0'
const ownIdShape = /^3EB0[0-9A-F]{18}$/

/** Returns whether an id may be ours; a browser linked to the same phone uses the same format. */
export const mayBeOwnMessageId = (id: string): boolean => ownIdShape.test(id)

/** Returns the address for a message to the customer; null if none is known. */
function jidOf({ phone, userId }: Recipient): string | null {
  return phone === null ? lidOf(userId) : phoneJid(phone)
}

/** Returns the chat address for read receipts: the hidden id if known, otherwise the phone. */
function chatJidOf({ phone, userId }: Recipient): string | null {
  return lidOf(userId) ?? (phone === null ? null : phoneJid(phone))
}

const phoneJid = (phone: string) => `${phone}@s.whatsapp.net`
const lidOf = (userId: string | null) => (userId?.endsWith('@lid') === true ? userId : null)
