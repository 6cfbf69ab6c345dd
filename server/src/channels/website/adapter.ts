import { Readable } from 'node:stream'
import type { App } from '../../base/route.ts'
import { recordAudit } from '../../team/audit.ts'
import type { TeamGuard } from '../../team/member.ts'
import { teamApi } from '../../team/team-api.ts'
import { type ChannelAdapter, noAccessFields } from '../adapter.ts'
import { type CheckLine, checkLine } from '../check/report.ts'
import { connectionNotFound, type WebsiteConnection } from '../connection/connection.ts'
import { connectionParams, connectionsPath } from '../connection/fields.ts'
import { lockConnection, updateConnection } from '../connection/queries.ts'
import type { FileToUpload, MediaLimits, MediaTransport } from '../media-transport.ts'
import { cloudLimits } from '../waba/cloud-media.ts'
import { openFile } from './chat-log.ts'
import { type WebsiteDeps, websiteConnector } from './connector.ts'
import { changeWidget, identitySecretSchema, newWidgetSettings, rotateSecret } from './settings.ts'

/** Path of the script that a page loads. */
export const scriptPath = '/widget.js'

const megabyte = 1024 * 1024

/** What the team can send: the types that a browser shows or saves, and no stickers. */
export const websiteLimits: MediaLimits = {
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
    run: async ({ member: { workspaceId, actor }, params: { connectionId } }) => {
      const keyring = await keyStore.keyring(workspaceId)
      return db.tx(async (tx) => {
        const now = clock.now()
        const current = await lockConnection(tx, keyring, workspaceId, connectionId)
        if (current?.channel !== 'website') throw connectionNotFound()
        const settings = rotateSecret(current.settings, now)
        await updateConnection(tx, keyring, { ...current, settings, updatedAt: now })
        const target = `connection:${connectionId}`
        await recordAudit(tx, { scopeId: workspaceId, actor, action: 'connection.secret-changed', target }, now)
        return { secret: settings.identitySecret, previousUntil: settings.previousSecret?.until ?? null }
      })
    },
  })
}
