import type { MadeWebhook } from '../../auth/members/change-members.ts'
import type { Clock } from '../../base/clock.ts'
import type { Db, Tx } from '../../base/db.ts'
import type { KeyStore } from '../../base/encryption/key-store.ts'
import { invalid, type RequestPart } from '../../base/errors.ts'
import { readIsoTime } from '../../base/time.ts'
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

/** What the routes of this room share. */

export const webhooksPath = '/api/team/v1/workspaces/:workspaceId/webhooks'
export const endpointPath = `${webhooksPath}/:endpointId`

const countUpTo = 10_000

/** Returns one endpoint as the member sees it. */
export async function readEndpoint(deps: WebhookDeps, member: Member, id: string) {
  const row = await requireEndpoint(deps.db.sql, { workspaceId: member.workspaceId, id })
  const statuses = await selectEndpointStatuses(deps.db.sql, row.workspaceId, [id], countUpTo)
  return deps.keyStore.withKeyring(row.workspaceId, (keyring) =>
    presentEndpoint(decryptEndpoint(keyring, row), statuses.get(id), canSeeUrl(member), deps.clock.now()),
  )
}

export const canSeeUrl = (member: Member): boolean => member.role !== 'member'

export function parseTime(field: string, text: string, part: RequestPart = 'body'): Date {
  const time = readIsoTime(text)
  if (time === null) throw invalid(field, 'must be an ISO 8601 time', part)
  return time
}

const reasons: Record<StateReason, string> = {
  member: 'A member disabled it. Enable it to go on.',
  gone: 'It answered 410, which asks us to stop. Check the address, then enable it.',
  failing:
    'Every attempt failed for five days. Mend the receiver, then enable it with `sendSince` to send what it missed.',
}

/** An endpoint as the team sees it: never a header's value or a secret, and the address for admins alone. */
export function presentEndpoint(endpoint: Endpoint, status: EndpointStatus | undefined, showUrl: boolean, now: Date) {
  const { id, settings, events, phoneVisibility, description, state, stateReason, createdBy } = endpoint
  const secrets = validSecrets(settings.secrets, now)
  return {
    id,
    url: showUrl ? settings.url : maskedUrl(settings.url),
    events,
    phoneVisibility,
    headerNames: Object.keys(settings.headers),
    description,
    state,
    stateReason: stateReason === null ? null : { code: stateReason, message: reasons[stateReason] },
    stateChangedAt: endpoint.stateChangedAt.toISOString(),
    health: presentHealth(status, now),
    secrets: {
      valid: secrets.length,
      oldUntil: secrets.reduce<string | null>((latest, { expiresAt }) => later(latest, expiresAt), null),
    },
    createdBy,
    createdAt: endpoint.createdAt.toISOString(),
    updatedAt: endpoint.updatedAt.toISOString(),
  }
}

/** The host alone: the rest may hold a token. */
export const maskedUrl = (url: string): string => `${new URL(url).origin}/…`

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

function later(a: string | null, b: string | null): string | null {
  return a === null || (b !== null && b > a) ? b : a
}

/** What the team's verbs in this room act on. */
export interface WebhookDeps {
  db: Db
  keyStore: KeyStore
  clock: Clock
  sequencer: Sequencer
  /** Why an address may not be called; null when it may. */
  outgoing: { refusal(url: string): string | null }
  present: PresentPayload
}

/** Outlines of the endpoints that this person answers for, the newest first. */
export async function webhooksCreatedBy(
  { db, keyStore }: Pick<WebhookDeps, 'db' | 'keyStore'>,
  workspaceId: string,
  userId: string,
): Promise<MadeWebhook[]> {
  const rows = await selectEndpoints(db.sql, workspaceId, userId)
  return keyStore.withKeyring(workspaceId, (keyring) =>
    rows.map((row) => {
      const { id, description, state, createdAt, settings } = decryptEndpoint(keyring, row)
      return { id, url: maskedUrl(settings.url), description, state, createdAt, lastUsedAt: row.lastSuccessAt }
    }),
  )
}

/** Lets nothing more go to the endpoints that this person answers for; returns how many were active. */
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
