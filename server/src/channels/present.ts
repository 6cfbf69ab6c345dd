import type { Static } from 'typebox'
import { acknowledgedUntil } from './acknowledgement.ts'
import type { StoredConnection, StoredWaba } from './connection.ts'
import type { connectionSchema, templateSchema, webhookSchema } from './schema.ts'
import type { Template } from './template.ts'

/** A connection without its secrets. */
export function presentConnection(publicUrl: string, one: StoredConnection): Static<typeof connectionSchema> {
  return {
    id: one.id,
    channel: one.channel,
    name: one.name,
    numberId: one.numberId,
    accountId: one.accountId,
    state: one.state,
    stateReason: one.stateReason,
    stateChangedAt: one.stateChangedAt.toISOString(),
    ...reachOf(one),
    webhookUrl: webhookUrl(publicUrl, one),
    acknowledgement: acknowledgementOf(one),
    lastEventInAt: one.lastEventInAt?.toISOString() ?? null,
    lastEventOutAt: one.lastEventOutAt?.toISOString() ?? null,
    templatesSyncedAt: one.templatesSyncedAt?.toISOString() ?? null,
    createdAt: one.createdAt.toISOString(),
    updatedAt: one.updatedAt.toISOString(),
  }
}

/** What is pasted into the platform, with the token that is shown this once. */
export function presentWebhook(publicUrl: string, one: StoredWaba): Static<typeof webhookSchema> {
  return { url: webhookUrl(publicUrl, one), verifyToken: one.settings.verifyToken }
}

export function presentTemplate(one: Template): Static<typeof templateSchema> {
  const { id, name, language, category, status, body, parameterCount } = one
  const sendable = status === 'APPROVED' && one.bodyOnly
  return { id, name, language, category, status, body, parameterCount, sendable }
}

const webhookUrl = (publicUrl: string, { id }: StoredConnection) => `${publicUrl}/channels/waba/${id}/webhook`

function reachOf({ channel, settings }: StoredConnection) {
  if (channel !== 'waba')
    return { baseUrl: settings.baseUrl ?? '', version: '', accessTokenLast4: '', appSecretLast4: '' }
  const { baseUrl, version, accessToken, appSecret } = settings
  return { baseUrl, version, accessTokenLast4: last4(accessToken), appSecretLast4: last4(appSecret) }
}

// Four of a few characters would be most of the secret.
const last4 = (secret: string): string => (secret.length >= 16 ? secret.slice(-4) : '')

function acknowledgementOf(one: StoredConnection) {
  const until = acknowledgedUntil(one)
  if (until === null || one.acknowledgedAt === null) return null
  return { by: one.acknowledgedBy, at: one.acknowledgedAt.toISOString(), until: until.toISOString() }
}
