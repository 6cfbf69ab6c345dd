import type { CreatedWebhook } from '../../auth/members/change-members.ts'
import type { Clock } from '../../base/clock.ts'
import type { Db, Tx } from '../../base/db.ts'
import type { KeyStore } from '../../base/encryption/key-store.ts'
import { invalid, type RequestPart } from '../../base/errors.ts'
import { parseIsoTime } from '../../base/time.ts'
import type { PresentPayload } from '../../events/feed.ts'
import type { Sequencer } from '../../events/sequence.ts'
import type { Member } from '../../team/member.ts'
import { disableEndpoint } from '../endpoint/disable.ts'
import {
  decryptEndpoint,
  type Endpoint,
  requireEndpoint,
  type StateReason,
  selectEndpoints,
} from '../endpoint/endpoint.ts'
import { type EndpointStatus, nextAttemptAt, selectEndpointStatuses } from '../endpoint/queue-status.ts'
import { validSecrets } from '../endpoint/signing.ts'

export const webhooksPath = '/api/team/v1/workspaces/:workspaceId/webhooks'
export const endpointPath = `${webhooksPath}/:endpointId`

const countUpTo = 10_000

/** Returns an endpoint with its health, as routes answer it. */
export async function readEndpoint(deps: WebhookDeps, member: Member, id: string) {
  const row = await requireEndpoint(deps.db.sql, { workspaceId: member.workspaceId, id })
  const statuses = await selectEndpointStatuses(deps.db.sql, row.workspaceId, [id], countUpTo)
  return deps.keyStore.withKeyring(row.workspaceId, (keyring) => ({
    endpoint: presentEndpoint(decryptEndpoint(keyring, row), statuses.get(id), canSeeUrl(member), deps.clock.now()),
  }))
}

export const canSeeUrl = (member: Member): boolean => member.role !== 'member'

export function parseTime(field: string, text: string, part: RequestPart = 'body'): Date {
  const time = parseIsoTime(text)
  if (time === null) throw invalid(field, 'must be an ISO 8601 time', part)
  return time
}

const reasons: Record<StateReason, string> = {
  member: 'A member disabled it. Enable it to resume.',
  gone: 'It responded 410 (gone). Check the URL, then enable it.',
  failing:
    'All attempts failed for five days. Fix the receiver, then enable it with `sendSince` to send missed events.',
}

/** Presents an endpoint without header values and secrets; only admins see the full URL. */
export function presentEndpoint(endpoint: Endpoint, status: EndpointStatus | undefined, showUrl: boolean, now: Date) {
  const { id, settings, events, phoneVisibility, description, state, stateReason, createdBy } = endpoint
  const secrets = validSecrets(settings.secrets, now)
  return {
    id,
    url: showUrl ? settings.url : maskedUrl(settings.url),
    ...{ events, phoneVisibility, headerNames: Object.keys(settings.headers), description, state },
    stateReason: stateReason === null ? null : { code: stateReason, message: reasons[stateReason] },
    stateChangedAt: endpoint.stateChangedAt.toISOString(),
    health: presentHealth(status, now),
    secrets: {
      valid: secrets.length,
      oldUntil:
        secrets
          .flatMap(({ expiresAt }) => expiresAt ?? [])
          .sort()
          .at(-1) ?? null,
    },
    createdBy,
    createdAt: endpoint.createdAt.toISOString(),
    updatedAt: endpoint.updatedAt.toISOString(),
  }
}

/** Returns the origin only, because the rest can contain a token. */
const maskedUrl = (url: string): string => `${new URL(url).origin}/…`

function presentHealth(status: EndpointStatus | undefined, now: Date) {
  const { pausedUntil = null, oldestPendingAt = null, oldestBehindAt = null } = status ?? {}
  const waitingSince = [oldestPendingAt, oldestBehindAt].flatMap((time) => (time === null ? [] : [time.getTime()]))
  return {
    lastSuccessAt: status?.lastSuccessAt?.toISOString() ?? null,
    failingSince: status?.failingSince?.toISOString() ?? null,
    failuresInARow: status?.failuresInARow ?? 0,
    waiting: (status?.pending ?? 0) + (status?.behind ?? 0),
    oldestWaitingAt: waitingSince.length === 0 ? null : new Date(Math.min(...waitingSince)).toISOString(),
    nextAttemptAt: status === undefined ? null : (nextAttemptAt(status, now)?.toISOString() ?? null),
    pausedUntil: pausedUntil !== null && pausedUntil > now ? pausedUntil.toISOString() : null,
  }
}

export interface WebhookDeps {
  db: Db
  keyStore: KeyStore
  clock: Clock
  sequencer: Sequencer
  /** Returns why a URL is not allowed; null if it is. */
  outgoing: { refusal(url: string): string | null }
  present: PresentPayload
}

/** Returns summaries of the endpoints that a person has created, newest first. */
export async function webhooksCreatedBy(
  { db, keyStore }: Pick<WebhookDeps, 'db' | 'keyStore'>,
  workspaceId: string,
  userId: string,
): Promise<CreatedWebhook[]> {
  const rows = await selectEndpoints(db.sql, workspaceId, userId)
  return keyStore.withKeyring(workspaceId, (keyring) =>
    rows.map((row) => {
      const { id, description, state, createdAt, settings } = decryptEndpoint(keyring, row)
      return { id, url: maskedUrl(settings.url), description, state, createdAt, lastUsedAt: row.lastSuccessAt }
    }),
  )
}

/** Disables the endpoints that a person has created; returns how many were active. */
export async function disableWebhooksCreatedBy(
  tx: Tx,
  { workspaceId, actor }: Pick<Member, 'workspaceId' | 'actor'>,
  userId: string,
  now: Date,
): Promise<number> {
  let disabled = 0
  for (const endpoint of await selectEndpoints(tx, workspaceId, userId)) {
    if (await disableEndpoint(tx, endpoint, 'member', actor, now)) disabled++
  }
  return disabled
}
