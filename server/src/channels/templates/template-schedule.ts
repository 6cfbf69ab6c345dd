import type { Clock } from '../../base/clock.ts'
import { type Db, publish, type Tx } from '../../base/db.ts'
import { type DueWatch, watchDueWork } from '../../base/pubsub.ts'
import { connectionUpdates, liveUpdatesTopic } from '../../team/live-updates.ts'
import type { ConnectionKey } from '../connection/connection.ts'
import { updateColumns } from '../connection/update-columns.ts'

/** Interval between syncs of a connection's templates. */
const syncIntervalMs = 10 * 60_000
const debounceMs = 5_000
// The platform allows 200 calls per hour and account, and one sync may read several pages.
const minGapMs = 60_000
/** After this time other nodes may take over the sync of a node that died. */
const leaseMs = 120_000
const pollEveryMs = 15_000
/** Published when the platform hints at a template change; the id is the workspace's. */
const templatesHintedTopic = 'templates_hinted'

/** Watches for connections whose templates are due for a sync. */
export function watchTemplates({ db, clock }: { db: Db; clock: Clock }): DueWatch {
  const nextAt = async () => {
    const [row] = await db.sql<{ at: Date | null }[]>`
      select min(templates_due_at) as at
      from connections`
    return row?.at ?? null
  }
  return watchDueWork(
    { db, clock },
    {
      nextAt,
      pollEveryMs,
      watchedTopics: [{ topic: templatesHintedTopic }, { topic: liveUpdatesTopic, isRelevant: connectionUpdates }],
    },
  )
}

/**
 * Schedules a sync soon after the platform hints at a template change; further hints until then have no effect. Does
 * nothing for channels without templates.
 */
export async function scheduleTemplateSync(tx: Tx, one: ConnectionKey, now: Date): Promise<void> {
  const soon = new Date(now.getTime() + debounceMs)
  const dueAt = tx`
      templates_due_at = least(
        templates_due_at,
        -- In UTC, so that the sum does not depend on the session's time zone.
        greatest(
          ${soon}::timestamptz,
          (templates_synced_at at time zone 'UTC' + make_interval(secs => ${minGapMs / 1000})) at time zone 'UTC'
        )
      )`
  await updateColumns(tx, one, dueAt, tx`templates_due_at is not null`)
  publish(tx, templatesHintedTopic, one.workspaceId)
}

/** Starts the syncs of a connection whose setup has ended, if its channel has templates. */
export async function startTemplateSync(tx: Tx, one: ConnectionKey, now: Date): Promise<void> {
  await updateColumns(tx, one, tx`templates_due_at = ${now}`)
  publish(tx, templatesHintedTopic, one.workspaceId)
}

export interface SyncClaim extends ConnectionKey {
  /** Shows at the end whether a hint arrived in the meantime. */
  until: Date
}

/** Claims up to `limit` connections whose templates are due; other nodes skip them until the claim expires. */
export async function claimDueSyncs(tx: Tx, limit: number, now: Date): Promise<SyncClaim[]> {
  const until = new Date(now.getTime() + leaseMs)
  const claimed = await tx<Omit<SyncClaim, 'until'>[]>`
    with due as (
      select workspace_id, id
      from connections
      where templates_due_at <= ${now}
      order by templates_due_at
      limit ${limit}
      for no key update skip locked
    )
    update connections c
    set templates_due_at = ${until}
    from due
    where c.workspace_id = due.workspace_id
      and c.id = due.id
    returning c.workspace_id as "workspaceId", c.id`
  return claimed.map((claim) => ({ ...claim, until }))
}

/** Ends a claim; keeps the due time set by a hint in the meantime. `syncedAt` is null when the sync failed. */
export function endSyncClaim(tx: Tx, claim: SyncClaim, syncedAt: Date | null, now: Date): Promise<boolean> {
  const columns = tx`
      templates_synced_at = coalesce(${syncedAt}::timestamptz, templates_synced_at),
      templates_due_at = case
        when templates_due_at < ${claim.until}::timestamptz then templates_due_at
        else ${new Date(now.getTime() + syncIntervalMs)}::timestamptz
      end`
  return updateColumns(tx, claim, columns)
}

/** Claims one connection now, even if it is not due. */
export async function claimSync(tx: Tx, one: ConnectionKey, now: Date): Promise<SyncClaim> {
  const until = new Date(now.getTime() + leaseMs)
  await updateColumns(tx, one, tx`templates_due_at = ${until}`, tx`templates_due_at is not null`)
  return { workspaceId: one.workspaceId, id: one.id, until }
}
