import { expiringTopic } from '../../auth/api-keys/queries.ts'
import type { Clock } from '../../base/clock.ts'
import type { Db, Fragment, Sql, Tx } from '../../base/db.ts'
import type { KeyStore } from '../../base/encryption/key-store.ts'
import { type DueWatch, watchDueWork } from '../../base/pubsub.ts'
import { recordEvents } from '../../events/record.ts'
import { liveUpdatesTopic, workspaceUpdates } from '../../team/live-updates.ts'
import { type Actor, systemActor } from '../../workspaces/actor.ts'
import {
  type ColumnSource,
  currentColumns,
  indexedColumns,
  isIdle,
  setUpdatedNow,
  touchedConversations,
} from '../conversation/activity-columns.ts'
import { ownerChanged } from '../conversation/change.ts'
import { type ChangeCause, recordActivities } from '../conversation/commit-change.ts'
import { type ChangeTx, firstTime, inTransaction, publishConversations } from '../conversation/conversation.ts'
import { retryWhileCallsStart } from '../conversation/dispatches.ts'
import { agent, human, writeOwner } from '../conversation/owner.ts'
import { opaqueWorkspaceId } from '../conversation/queries.ts'
import { hasOpenDraft } from '../drafts/draft.ts'
import { queueInTeams } from '../routing/assign.ts'

/** Assigns a revoked or restricted key's conversations to people. Returns how many were reassigned. */
export function reassignFromKey(work: ChangeTx, keyId: string, actor: Actor): Promise<number> {
  const { tx } = work
  return reassign(work, tx`and c.owner_key_id = ${keyId}`, { actor, reason: 'key_ended' })
}

/** Assigns to people the key's conversations on connections that it can no longer see. */
export function reassignUnseen(
  work: ChangeTx,
  { keyId, connectionIds }: { keyId: string; connectionIds: readonly string[] },
  actor: Actor,
): Promise<number> {
  const { tx } = work
  const isUnseen = tx`and c.owner_key_id = ${keyId} and c.connection_id <> all (${[...connectionIds]}::uuid[])`
  return reassign(work, isUnseen, { actor, reason: 'key_ended' })
}

/** Assigns all conversations of agents to people, for the workspace's stop switch. */
export function reassignAll(work: ChangeTx, actor: Actor): Promise<number> {
  const { tx } = work
  const cause = { actor, reason: 'agents_stopped' } as const
  return reassign(work, tx`and c.owner_key_id is not null`, cause)
}

/** How long after its expiry a key is polled often. */
const recentMs = 600_000
const pollExpiredEveryMs = 15_000

/** Watches for keys that expired recently and own conversations. */
export function watchExpiredKeys({ db, clock }: { db: Db; clock: Clock }): DueWatch {
  const nextAt = (now: Date) =>
    firstTime(db.sql<{ at: Date | null }[]>`
      select min(at) as at
      from (
        select min(expires_at) as at
        from api_keys
        where expires_at > ${now}
        union all
        select min(k.expires_at)
        from api_keys k
        join conversations c
          on c.workspace_id = k.workspace_id
          and c.owner_key_id = k.id
        where k.expires_at > ${new Date(now.getTime() - recentMs)}
          and k.expires_at <= ${now}
      ) as moments`)
  const watchedTopics = [{ topic: expiringTopic }]
  return watchDueWork({ db, clock }, { nextAt, pollEveryMs: pollExpiredEveryMs, watchedTopics })
}

/** Assigns to people the conversations of keys that expired recently. Called by a frequent timer on any node. */
export function reassignFromExpiredKeys(db: Db, keyStore: KeyStore, clock: Clock): Promise<number> {
  const now = clock.now()
  const since = new Date(now.getTime() - recentMs)
  return reassignFromKeys(db, keyStore, clock, db.sql`k.expires_at > ${since} and k.expires_at <= ${now}`)
}

/**
 * Assigns to people the conversations of every ended key, including keys revoked unnoticed or expired during downtime.
 * Scans all keys, so its timer runs rarely.
 */
export function reassignFromEndedKeys(db: Db, keyStore: KeyStore, clock: Clock): Promise<number> {
  return reassignFromKeys(db, keyStore, clock, db.sql`(k.revoked_at is not null or k.expires_at <= ${clock.now()})`)
}

async function reassignFromKeys(db: Db, keyStore: KeyStore, clock: Clock, hasEnded: Fragment): Promise<number> {
  const ended = await db.sql<{ workspace_id: string; id: string }[]>`
    select distinct c.workspace_id, c.owner_key_id as id
    from api_keys k
    join conversations c
      on c.workspace_id = k.workspace_id
      and c.owner_key_id = k.id
    where ${hasEnded}`
  let count = 0
  for (const { workspace_id: workspaceId, id } of ended) {
    count += await inTransaction({ db, keyStore, clock }, workspaceId, (work) => reassignFromKey(work, id, systemActor))
  }
  return count
}

/** Shorter than the minimum time to answer of one minute: no pub/sub message announces a waiting customer. */
const pollOverdueEveryMs = 30_000

/** Watches for customers who wait for an agent longer than the workspace allows. */
export function watchOverdueAnswers({ db, clock }: { db: Db; clock: Clock }): DueWatch {
  const nextAt = () =>
    firstTime(db.sql<{ at: Date | null }[]>`
      select min(a.at) as at
      from (
        select min(${overdueAt(db.sql, indexedColumns)}) as at
        from workspaces w
        join conversations c on c.workspace_id = w.id
        where ${isWatched(db.sql, indexedColumns)}
          and ${isIdle(db.sql)}
        union all
        select min(${overdueAt(db.sql, currentColumns)})
        from workspaces w
        join moving_conversations m on m.workspace_id = w.id
        join conversations c
          on c.workspace_id = m.workspace_id
          and c.id = m.conversation_id
        where ${isWatched(db.sql, currentColumns)}
      ) as a`)
  // A workspace update can shorten the time that agents have.
  const watchedTopics = [{ topic: liveUpdatesTopic, isRelevant: workspaceUpdates }]
  return watchDueWork({ db, clock }, { nextAt, pollEveryMs: pollOverdueEveryMs, watchedTopics })
}

/**
 * Assigns to people the conversations whose agent has not answered within the workspace's time limit, counted from the
 * customer's message or from when the agent became the owner, whichever is later. Called by a timer on any node.
 */
export async function reassignOverdue(db: Db, keyStore: KeyStore, clock: Clock): Promise<number> {
  const now = clock.now()
  const workspaces = await db.sql<{ id: string }[]>`
    select c.workspace_id as id
    from workspaces w
    join conversations c on c.workspace_id = w.id
    where ${isOverdue(db.sql, indexedColumns, now)}
      and ${isIdle(db.sql)}
    union
    select m.workspace_id
    from workspaces w
    join moving_conversations m on m.workspace_id = w.id
    join conversations c
      on c.workspace_id = m.workspace_id
      and c.id = m.conversation_id
    where ${isOverdue(db.sql, currentColumns, now)}`
  let count = 0
  for (const { id } of workspaces) {
    const keyring = await keyStore.keyring(id)
    count += await db.tx(async (tx) => {
      const [workspace] = await tx<{ minutes: number | null }[]>`
        select agent_watchdog_minutes as minutes
        from workspaces
        where id = ${id}`
      if (workspace?.minutes == null) return 0
      const before = new Date(now.getTime() - workspace.minutes * 60_000)
      // Checks the rows again once they are locked.
      const overdue = tx`
        and c.id = any (array(${waitingIn(tx, id, before)}))
        and ${hasWaitedSince(tx, currentColumns, before)}`
      return reassign({ tx, keyring, workspaceId: id, now }, overdue, { actor: systemActor, reason: 'watchdog' })
    })
  }
  return count
}

/** SQL: conversations of a workspace that may have waited for an agent since a time, both idle and touched ones. */
function waitingIn(tx: Tx, workspaceId: string, before: Date): Fragment {
  const workspace = opaqueWorkspaceId(tx, workspaceId)
  return tx`
    select c.id
    from conversations c
    where c.workspace_id = ${workspaceId}
      and ${isIdle(tx)}
      and ${mayWaitSince(tx, indexedColumns, before)}
    union all
    select c.id
    from ${touchedConversations(tx, workspace)}
    where m.workspace_id = ${workspaceId}
      and ${mayWaitSince(tx, currentColumns, before)}`
}

const isOverdue = (sql: Sql, columns: ColumnSource, now: Date) => sql`
  ${isWatched(sql, columns)}
    and ${waitingSince(sql, columns)} <= ${now}::timestamptz - make_interval(mins => w.agent_watchdog_minutes)`

const overdueAt = (sql: Sql, columns: ColumnSource) => sql`
  ${waitingSince(sql, columns)} + make_interval(mins => w.agent_watchdog_minutes)`

/** SQL: whether a customer waits for an agent, and the workspace `w` has a time limit. */
const isWatched = (sql: Sql, columns: ColumnSource) => sql`
  w.agent_watchdog_minutes is not null
    and ${isWaiting(sql, columns)}`

const hasWaitedSince = (sql: Sql, columns: ColumnSource, before: Date) => sql`
  ${isWaiting(sql, columns)}
    and ${waitingSince(sql, columns)} <= ${before}`

/** SQL: the same without a look at drafts, which Citus does not join with touched conversations. */
const mayWaitSince = (sql: Sql, columns: ColumnSource, before: Date) => sql`
  ${isUnanswered(sql, columns)}
    and ${waitingSince(sql, columns)} <= ${before}`

/** SQL: whether a customer waits for an agent, and not for people to approve its draft. */
const isWaiting = (sql: Sql, columns: ColumnSource) => sql`
  ${isUnanswered(sql, columns)}
    and not ${hasOpenDraft(sql)}`

const isUnanswered = (sql: Sql, { unansweredSince }: ColumnSource) => sql`
  c.owner_key_id is not null
    and ${unansweredSince(sql)} is not null`

const waitingSince = (sql: Sql, { unansweredSince }: ColumnSource) =>
  sql`greatest(${unansweredSince(sql)}, c.owner_since)`

async function reassign(work: ChangeTx, condition: Fragment, cause: ChangeCause): Promise<number> {
  const { tx, keyring, workspaceId, now } = work
  const rows = await tx<{ id: string; connectionId: string; keyId: string; teamId: string | null; isFree: boolean }[]>`
    select c.id, c.connection_id as "connectionId", c.owner_key_id as "keyId", c.team_id as "teamId",
      c.assigned_to is null as "isFree"
    from conversations c
    where c.workspace_id = ${workspaceId}
      ${condition}
    order by c.id
    for update of c`
  const ids = rows.map((row) => row.id)
  if (ids.length === 0) return 0
  await retryWhileCallsStart(tx, workspaceId, ids)
  await tx`
    update conversations c
    set owner_key_id = null,
      held = true,
      handover = null,
      owner_epoch = c.owner_epoch + 1,
      starts_held_until = null,
      owner_since = ${now},
      seen_inbound_id = null,
      ${setUpdatedNow(tx, now)}
    where workspace_id = ${workspaceId}
      and id = any (${ids}::uuid[])`
  const events = rows.map((row) => ownerChanged({ ...row, owner: human }, cause.actor, now))
  const items = rows.map((conversation) => ({
    conversation,
    detail: { kind: 'owner', from: writeOwner(agent(conversation.keyId)), to: writeOwner(human) } as const,
  }))
  await recordActivities(work, items, cause)
  await recordEvents(tx, keyring, workspaceId, events, now)
  const free = rows.filter(({ isFree }) => isFree)
  await queueInTeams(work, free)
  publishConversations(tx, workspaceId, ids)
  return ids.length
}
