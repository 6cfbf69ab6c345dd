import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/db.ts'
import type { KeyStore } from '../../base/encryption/key-store.ts'
import type { WebsiteConnection } from '../connection/connection.ts'
import type { Connector, Order, OutgoingMessage, ReferencedMessage, SendResult } from '../connector.ts'
import { addToChat, type ChatContent, chatIdOf, derivedId, externalIdOf, markTeamRead } from './chat-log.ts'
import { visitorIdOf } from './visitors.ts'

export interface WebsiteDeps {
  db: Db
  keyStore: KeyStore
  clock: Clock
}

const typingMs = 25_000

/** Connector of the website: a sent message is stored in the visitor's chat, from where the widget fetches it. */
export function websiteConnector(deps: WebsiteDeps): Connector<WebsiteConnection> {
  const showRead = async (
    { workspaceId }: WebsiteConnection,
    userId: string | null,
    read: Parameters<typeof markTeamRead>[3],
  ) => {
    const visitorId = visitorIdOf(userId)
    if (visitorId === null) return
    // Only a hint for the visitor: a failure must not fail what the team does.
    await deps.db.tx((tx) => markTeamRead(tx, workspaceId, visitorId, read)).catch(() => {})
  }
  return {
    maxTextLength: 4096,
    supportsChoices: true,
    send: (connection, order) => send(deps, connection, order),
    markRead: (connection, externalId, { userId }, isTyping = false) => {
      const typingUntil = isTyping ? new Date(deps.clock.now().getTime() + typingMs) : null
      return showRead(connection, userId, { readId: chatIdOf(externalId), typingUntil })
    },
    stopTyping: (connection, _externalId, { userId }) =>
      showRead(connection, userId, { readId: null, typingUntil: null }),
  }
}

async function send(
  { db, keyStore, clock }: WebsiteDeps,
  { workspaceId, id: connectionId }: WebsiteConnection,
  { recipient, message, correlator, deadline }: Order,
): Promise<SendResult> {
  const visitorId = visitorIdOf(recipient.userId)
  const content = contentOf(message)
  if (visitorId === null) return { outcome: 'refused', errorCode: 'no_address', effect: 'none' }
  if (content === null) return { outcome: 'refused', errorCode: 'unsupported', effect: 'none' }
  const now = clock.now()
  if (now >= deadline) return { outcome: 'unreachable', errorCode: 'not_sent' }
  // The same order has the same id, so that it is shown once however often it is placed.
  const id = derivedId(connectionId, correlator)
  try {
    const isAdded = await keyStore.withKeyring(workspaceId, (keyring) =>
      db.tx((tx) => {
        const scope = { workspaceId, connectionId, visitorId }
        return addToChat(tx, keyring, scope, {
          id,
          direction: 'outbound',
          content: { ...content, correlator },
          at: now,
        })
      }),
    )
    if (!isAdded) return { outcome: 'refused', errorCode: 'visitor_gone', effect: 'none' }
    return { outcome: 'accepted', externalId: externalIdOf(id), platformUserPhone: null }
  } catch {
    // It may have been committed; if so, its delivery says so.
    return { outcome: 'unknown', errorCode: 'not_stored' }
  }
}

/** Returns null for templates and prompts that only apps of the platform can show. */
function contentOf(message: OutgoingMessage): ChatContent | null {
  switch (message.kind) {
    case 'text':
      return { text: message.text, ...aboutOf(message.quoted) }
    case 'media': {
      const { kind, name, mimeType, platformId } = message.file
      if (platformId === null) return null
      return {
        text: message.caption,
        file: { id: platformId, kind, name, mimeType, size: null },
        ...aboutOf(message.quoted),
      }
    }
    case 'choices':
      return { text: message.text, choices: message.choices, ...aboutOf(message.quoted) }
    case 'prompt': {
      const { prompt, text, quoted } = message
      if (prompt.type !== 'link') return null
      return { text, link: { title: prompt.title, url: prompt.url }, ...aboutOf(quoted) }
    }
    case 'reaction':
      return { text: '', emoji: message.emoji, ...aboutOf(message.about) }
    case 'template':
      return null
    default:
      return message satisfies never
  }
}

const maxQuoteLength = 200

const aboutOf = (about: ReferencedMessage | undefined): Pick<ChatContent, 'about'> =>
  about === undefined ? {} : { about: { id: chatIdOf(about.externalId), text: about.text.slice(0, maxQuoteLength) } }
