import { newId } from '../../base/id.ts'
import type { Log } from '../../base/log.ts'
import { adapterOf, type FetchedTemplates } from '../adapter.ts'
import type { ConnectionKey, StoredConnection } from '../connection/connection.ts'
import { findConnection } from '../connection/queries.ts'
import { type RegistrationDeps, retryConnection } from '../connection/registration.ts'
import { updateColumns } from '../connection/update-columns.ts'
import { holdConnection, holdsOf, liftHold, notifyMembers, restrictConnection } from '../health/availability.ts'
import { isActive } from '../health/holds.ts'
import { refreshNumberStatus } from '../health/refresh-number-status.ts'
import { claimDueSyncs, claimSync, endSyncClaim, type SyncClaim } from './template-schedule.ts'
import { categoryReason, listTemplates, type PlatformTemplate, replaceTemplates } from './templates.ts'

export interface SyncDeps extends RegistrationDeps {
  log: Log
}

const maxConcurrentSyncs = 5

/** Runs one round of the periodic sync: claims the connections that are due and returns how many there were. */
export async function syncDueTemplates(deps: SyncDeps): Promise<number> {
  const claims = await deps.db.tx((tx) => claimDueSyncs(tx, maxConcurrentSyncs, deps.clock.now()))
  await Promise.all(claims.map((claim) => syncClaimed(deps, claim)))
  return claims.length
}

/** Syncs a connection's templates now. Returns null on success, otherwise the error code. */
export async function syncTemplates(deps: SyncDeps, one: ConnectionKey): Promise<string | null> {
  return syncClaimed(deps, await deps.db.tx((tx) => claimSync(tx, one, deps.clock.now())))
}

async function syncClaimed(deps: SyncDeps, claim: SyncClaim): Promise<string | null> {
  const { workspaceId, id } = claim
  const keyring = await deps.keyStore.keyring(workspaceId)
  const connection = await findConnection(deps.db.sql, keyring, workspaceId, id)
  if (connection === undefined) return 'removed'
  const adapter = adapterOf(deps.adapters, connection)
  if (adapter.fetchTemplates === undefined) return null
  // An outage of the platform ends without action by a member; other reasons remain until a member acts.
  await retryConnection(deps, connection)
  const fetched = await adapter.fetchTemplates(connection)
  if (!fetched.ok) {
    deps.log.warn('failed to sync templates; retrying at the next sync', {
      workspaceId,
      connectionId: id,
      code: fetched.errorCode,
    })
  }
  await storeFetched(deps, claim, fetched)
  await refreshNumberStatus(deps, connection)
  await warnOfVersionEnd(deps, connection, adapter.presentAccess(connection).versionEndsOn)
  return fetched.ok ? null : fetched.errorCode
}

async function storeFetched(deps: SyncDeps, claim: SyncClaim, fetched: FetchedTemplates): Promise<void> {
  const now = deps.clock.now()
  await deps.db.tx(async (tx) => {
    await endSyncClaim(tx, claim, fetched.ok ? now : null, now)
    if (fetched.ok) {
      const templates = fetched.templates.map((template) => ({ id: newId(now), ...template }))
      const before = await listTemplates(tx, claim)
      await replaceTemplates(tx, claim, templates, now)
      await notifyMembers(tx, claim, findCategoryChanges(before, templates), now)
      const { sendsMarketing } = fetched
      if (sendsMarketing !== undefined) {
        const isOther = tx`sends_marketing <> ${sendsMarketing}`
        await updateColumns(tx, claim, tx`sends_marketing = ${sendsMarketing}`, isOther)
      }
    } else if (fetched.isDown) {
      await holdConnection(tx, claim, fetched.errorCode, now, 'all')
    }
  })
}

/** Maximum per sync; the template list shows the others. */
const maxReasons = 5

/** Returns a notification reason for each template whose category changed: name and new category. */
function findCategoryChanges(before: readonly PlatformTemplate[], after: readonly PlatformTemplate[]): string[] {
  const keyOf = ({ name, language }: PlatformTemplate) => `${name} ${language}`
  const categories = new Map(before.map((one) => [keyOf(one), one.category]))
  const changed = after.filter((one) => (categories.get(keyOf(one)) ?? one.category) !== one.category)
  return [...new Set(changed.map(categoryReason))].slice(0, maxReasons)
}

const warningPeriodMs = 60 * 86_400_000
const reason = 'version_ending'

/** Warns once, 60 days before the API version ends; removes the warning once another version is used. */
async function warnOfVersionEnd(deps: SyncDeps, one: StoredConnection, endsOn: string | null): Promise<void> {
  const now = deps.clock.now()
  const isEnding = endsOn !== null && new Date(endsOn).getTime() - now.getTime() <= warningPeriodMs
  const hasWarning = holdsOf(one).some((hold) => hold.reason === reason && isActive(hold, now))
  if (isEnding === hasWarning) return
  await deps.db.tx((tx) =>
    isEnding
      ? restrictConnection(tx, one, { added: [{ stops: 'nothing', reason, until: null }] }, now)
      : liftHold(tx, one, reason, now),
  )
}
