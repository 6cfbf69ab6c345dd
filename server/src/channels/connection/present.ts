import type { Static } from 'typebox'
import type { Clock } from '../../base/clock.ts'
import { adapterOf, type ChannelAdapters } from '../adapter.ts'
import { holdsOf } from '../health/availability.ts'
import { acknowledgedUntil } from '../health/health.ts'
import { activeHolds } from '../health/holds.ts'
import type { StoredConnection } from './connection.ts'
import type { connectionSchema, webhookSchema } from './schema.ts'

export interface PresentDeps {
  adapters: ChannelAdapters
  /** URL at which platforms reach this service, without a trailing slash. */
  publicUrl: string
}

/** Returns a connection without its secrets. */
export function presentConnection(
  { adapters, publicUrl, clock }: PresentDeps & { clock: Clock },
  one: StoredConnection,
): Static<typeof connectionSchema> {
  const adapter = adapterOf(adapters, one)
  const path = adapter.webhookPath(one)
  return {
    id: one.id,
    channel: one.channel,
    name: one.name,
    numberId: one.numberId,
    phone: phoneOf(one),
    accountId: one.accountId,
    state: one.state,
    stateReason: one.stateReason,
    stateChangedAt: one.stateChangedAt.toISOString(),
    holds: activeHolds(holdsOf(one), clock.now()).map(({ stops, reason, since, nextTryAt, probe, until }) => ({
      ...{ stops, reason, since, until },
      nextTryAt: probe === 'send' ? nextTryAt : null,
    })),
    ...adapter.presentAccess(one),
    webhookUrl: path === null ? null : publicUrl + path,
    acknowledgement: acknowledgementOf(one),
    numberStatus: one.numberStatus,
    lastEventInAt: one.lastEventInAt?.toISOString() ?? null,
    lastEventOutAt: one.lastEventOutAt?.toISOString() ?? null,
    templatesSyncedAt: one.templatesSyncedAt?.toISOString() ?? null,
    createdAt: one.createdAt.toISOString(),
    updatedAt: one.updatedAt.toISOString(),
  }
}

function phoneOf(one: StoredConnection): string | null {
  if (one.channel !== 'unofficial') return one.phone
  return one.numberId === one.id ? null : one.numberId
}

/** Returns the webhook URL and token to paste into the platform, the token only this once; null if not needed. */
export function presentWebhook(
  { adapters, publicUrl }: PresentDeps,
  one: StoredConnection,
): Static<typeof webhookSchema> {
  const adapter = adapterOf(adapters, one)
  const [path, verifyToken] = [adapter.webhookPath(one), adapter.verifyToken(one)]
  return path === null || verifyToken === null ? null : { url: publicUrl + path, verifyToken }
}

function acknowledgementOf(one: StoredConnection) {
  const until = acknowledgedUntil(one)
  if (until === null || one.acknowledgedAt === null) return null
  return { by: one.acknowledgedBy, at: one.acknowledgedAt.toISOString(), until: until.toISOString() }
}
