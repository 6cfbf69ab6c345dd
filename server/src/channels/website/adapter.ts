import { Readable } from 'node:stream'
import type { App } from '../../base/route.ts'
import { recordAudit } from '../../team/audit.ts'
import type { TeamGuard } from '../../team/member.ts'
import { teamApi } from '../../team/team-api.ts'
import { type ChannelAdapter, noAccessFields } from '../adapter.ts'
import { type CheckLine, checkLine } from '../check/report.ts'
import { auditEntry } from '../connection/change-connection.ts'
import { connectionNotFound, type WebsiteConnection } from '../connection/connection.ts'
import { connectionParams, connectionsPath } from '../connection/fields.ts'
import { lockConnection, updateConnection } from '../connection/queries.ts'
import type { Connector, Order, OutgoingMessage, ReferencedMessage, SendResult } from '../connector.ts'
import type { FileToUpload, MediaLimits, MediaTransport } from '../media-transport.ts'
import type { CallbackDeps } from '../store-callback.ts'
import { cloudLimits } from '../waba/cloud-media.ts'
import { addToChat, type ChatContent, chatIdOf, derivedId, externalIdOf, markTeamRead, openFile } from './chat-log.ts'
import { changeWidget, identitySecretSchema, newWidgetSettings, rotateSecret } from './settings.ts'
import { visitorIdOf } from './visitors.ts'

type WebsiteDeps = Pick<CallbackDeps, 'db' | 'keyStore' | 'clock'>

/** Path of the script that a page loads. */
export const scriptPath = '/widget.js'

const megabyte = 1024 * 1024

/** What the team can send: the types that a browser shows or saves, and no stickers. */
const websiteLimits: MediaLimits = {
  ...cloudLimits,
  image: { bytes: 5 * megabyte, types: ['image/jpeg', 'image/png', 'image/webp'] },
  document: { bytes: 16 * megabyte, types: cloudLimits.document?.types ?? [] },
  sticker: null,
}

/** Types of visitors' files, by their content. */
export const visitorFileTypes: ReadonlyMap<string, 'image' | 'document'> = new Map([
  ['image/jpeg', 'image'],
  ['image/png', 'image'],
  ['image/webp', 'image'],
  ['application/pdf', 'document'],
] as const)
export const maxVisitorFileBytes = 8 * megabyte

const uploadLifetimeMs = 30 * 86_400_000

/** Files: the inbox fetches those of visitors from the database; those of the team stay where they are. */
const websiteMedia = ({ db, keyStore, clock }: WebsiteDeps): MediaTransport<WebsiteConnection> => ({
  limits: websiteLimits,
  maxCaptionLength: 1024,
  maxDownloadBytes: maxVisitorFileBytes,
  open: async ({ workspaceId }, source, maxBytes) => {
    if (source.by !== 'id') return { outcome: 'refused', errorCode: 'invalid_source' }
    const { id } = source
    try {
      const bytes = await keyStore.withKeyring(workspaceId, (keyring) => openFile(db.sql, keyring, workspaceId, id))
      if (bytes === null) return { outcome: 'gone', errorCode: 'not_kept' }
      if (bytes.length > maxBytes) return { outcome: 'too_large', size: bytes.length }
      return { outcome: 'opened', bytes: Readable.from([bytes]), size: bytes.length, mimeType: null, sha256: null }
    } catch {
      return { outcome: 'failed', errorCode: 'not_read', isDown: false }
    }
  },
  // The visitor downloads it from here by this id.
  upload: async (_connection: WebsiteConnection, { id }: FileToUpload) => ({
    outcome: 'taken',
    platformId: id,
    livesUntil: new Date(clock.now().getTime() + uploadLifetimeMs),
  }),
})

/** Adapter of chat widgets on websites. `publicUrl`: URL at which pages load the widget. */
export const websiteAdapter = (deps: WebsiteDeps, publicUrl: string): ChannelAdapter<WebsiteConnection> => ({
  createAccess: (input, id) => ({ numberId: id, accountId: null, settings: newWidgetSettings(input) }),
  changeableFields: ['widget'],
  secretsSent: [],
  changeAccess: ({ numberId, accountId, settings }, { widget = {} }) => ({
    ...{ numberId, accountId, settings: changeWidget(settings, widget) },
  }),
  presentAccess: ({ settings }) => {
    const { identitySecret, previousSecret: _secret, baseUrl: _url, ...shown } = settings
    const widget = { ...shown, scriptUrl: publicUrl + scriptPath, hasIdentitySecret: identitySecret !== null }
    return { ...noAccessFields, widget }
  },
  webhookPath: () => null,
  verifyToken: () => null,
  // There is no platform that could refuse it.
  checkNumber: async () => ({ problem: null, number: null, isOnPhone: false }),
  examine: async ({ settings }): Promise<CheckLine[]> => [
    settings.origins.length === 0
      ? checkLine('sites', 'no_sites')
      : checkLine('sites', 'sites_allowed', { sites: settings.origins.join(', ') }),
  ],
  connector: websiteConnector(deps),
  media: websiteMedia(deps),
  effectOfCode: () => 'none',
  teamRoutes: (app, guard) => secretRoute(app, deps, guard),
})

function secretRoute(app: App, { db, keyStore, clock }: WebsiteDeps, guard: TeamGuard): void {
  teamApi(app, guard, 'Connections').post(`${connectionsPath}/:connectionId/identity-secret`, 'admin', {
    operationId: 'rotateIdentitySecret',
    summary: 'Create the identity secret of a website',
    description:
      'Admins only. Returns a new secret with which the site signs tokens of its signed-in visitors, only this once. The previous one is accepted for another 24 hours.',
    params: connectionParams,
    answers: { 201: identitySecretSchema },
    run: async ({ member, params: { connectionId } }) => {
      const { workspaceId } = member
      const keyring = await keyStore.keyring(workspaceId)
      return db.tx(async (tx) => {
        const now = clock.now()
        const current = await lockConnection(tx, keyring, workspaceId, connectionId)
        if (current?.channel !== 'website') throw connectionNotFound()
        const settings = rotateSecret(current.settings, now)
        await updateConnection(tx, keyring, { ...current, settings, updatedAt: now })
        await recordAudit(tx, auditEntry(member, 'connection.secret-changed', connectionId), now)
        return { secret: settings.identitySecret, previousUntil: settings.previousSecret?.until ?? null }
      })
    },
  })
}

const typingMs = 25_000

/** Connector of the website: a sent message is stored in the visitor's chat, from where the widget fetches it. */
function websiteConnector(deps: WebsiteDeps): Connector<WebsiteConnection> {
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
        const visitor = { workspaceId, connectionId, id: visitorId }
        return addToChat(tx, keyring, visitor, {
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
