import { expiringTopic } from '../../access/keys/queries.ts'
import type { Clock } from '../../base/clock.ts'
import type { Db, Fragment, Sql, Tx } from '../../base/db.ts'
import { type DueWatch, watchDue } from '../../base/news.ts'
import type { Vault } from '../../base/sealing/vault.ts'
import { recordEvents } from '../../events/record.ts'
import { announcesWorkspace, teamTopic } from '../../team/team-news.ts'
import { type Actor, systemActor } from '../../workspace/actor.ts'
import { ownerChanged } from '../conversation/change.ts'
import { type Cause, recordActivities } from '../conversation/commit-change.ts'
import { type ChangeTx, tellTeam } from '../conversation/conversation.ts'
import { refuseWhileStarting } from '../conversation/dispatches.ts'
import { asItIs, asPlaced, movingConversations, type Reading, standsStill, touchedNow } from '../conversation/moving.ts'
import { agent, human, writeOwner } from '../conversation/owner.ts'
import { anyWorkspace } from '../conversation/queries.ts'

/** Gives people what a key owns: it was revoked, or must not go on. Returns how many conversations changed hands. */
export function handBackConversationsOf(work: ChangeTx, keyId: string, actor: Actor): Promise<number> {
  const { tx } = work
  return handBack(work, tx`and c.owner_key_id = ${keyId}`, { actor, reason: 'key_ended' })
}

/** Gives people what a key owns of connections that it no longer sees. */
export function handBackUnseenBy(
  work: ChangeTx,
  { keyId, connectionIds }: { keyId: string; connectionIds: readonly string[] },
  actor: Actor,
): Promise<number> {
  const { tx } = work
  const isUnseen = tx`and c.owner_key_id = ${keyId} and c.connection_id <> all (${[...connectionIds]}::uuid[])`
  return handBack(work, isUnseen, { actor, reason: 'key_ended' })
}

/** Gives people whatever agents own: the workspace's stop switch. */
export function handBackAll(work: ChangeTx, actor: Actor): Promise<number> {
  const { tx } = work
  const cause = { actor, reason: 'agents_stopped' } as const
  return handBack(work, tx`and c.owner_key_id is not null`, cause)
}

/** For so long after a key has expired it is looked for often. */
const latelyMs = 600_000
const askForExpiredEveryMs = 15_000

/** Whether there is a key that has expired lately and has conversations. */
export function watchExpired({ db, clock }: { db: Db; clock: Clock }): DueWatch {
  const nextAt = async (now: Date) => {
    const [row] = await db.sql<{ at: Date | null }[]>`
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
        where k.expires_at > ${new Date(now.getTime() - latelyMs)}
          and k.expires_at <= ${now}
      ) as moments`
    return row?.at ?? null
  }
  return watchDue({ db, clock }, { nextAt, askEveryMs: askForExpiredEveryMs, news: [{ topic: expiringTopic }] })
}

/** Gives people what belongs to keys that have expired lately. For a timer that comes often; any node may. */
export function handBackExpired(db: Db, vault: Vault, clock: Clock): Promise<number> {
  const now = clock.now()
  const since = new Date(now.getTime() - latelyMs)
  return handBackOf(db, vault, clock, db.sql`k.expires_at > ${since} and k.expires_at <= ${now}`)
}

/**
 * Gives people what belongs to any key that has ended, revoked without our knowing or expired while nobody looked. It
 * looks through all keys: for a timer that comes seldom.
 */
export function handBackLapsed(db: Db, vault: Vault, clock: Clock): Promise<number> {
  return handBackOf(db, vault, clock, db.sql`(k.revoked_at is not null or k.expires_at <= ${clock.now()})`)
}

async function handBackOf(db: Db, vault: Vault, clock: Clock, hasEnded: Fragment): Promise<number> {
  const lapsed = await db.sql<{ workspace_id: string; id: string }[]>`
    select distinct c.workspace_id, c.owner_key_id as id
    from api_keys k
    join conversations c
      on c.workspace_id = k.workspace_id
      and c.owner_key_id = k.id
    where ${hasEnded}`
  let count = 0
  for (const { workspace_id: workspaceId, id } of lapsed) {
    const keyring = await vault.keyring(workspaceId)
    count += await db.tx((tx) =>
      handBackConversationsOf({ tx, keyring, workspaceId, now: clock.now() }, id, systemActor),
    )
  }
  return count
}

/** Within the minute that agents have at least: of who waits no news need tell. */
const askForOverdueEveryMs = 30_000

/** Whether an agent has left a customer waiting for longer than the workspace allows. */
export function watchAnswers({ db, clock }: { db: Db; clock: Clock }): DueWatch {
  const nextAt = async () => {
    const [row] = await db.sql<{ at: Date | null }[]>`
      select min(a.at) as at
      from (
        select min(${overdueAt(db.sql, asPlaced)}) as at
        from workspaces w
        join conversations c on c.workspace_id = w.id
        where ${isWatched(db.sql, asPlaced)}
          and ${standsStill(db.sql)}
        union all
        select min(${overdueAt(db.sql, asItIs)})
        from workspaces w
        join moving_conversations m on m.workspace_id = w.id
        join conversations c
          on c.workspace_id = m.workspace_id
          and c.id = m.conversation_id
        where ${isWatched(db.sql, asItIs)}
      ) as a`
    return row?.at ?? null
  }
  // An agent may have less time from now on.
  const news = [{ topic: teamTopic, concerns: announcesWorkspace }]
  return watchDue({ db, clock }, { nextAt, askEveryMs: askForOverdueEveryMs, news })
}

/**
 * Gives people the conversations whose agent has left a customer waiting for longer than the workspace allows, counted
 * from when it got the conversation if that was later. For a timer; any node may.
 */
export async function runWatchdog(db: Db, vault: Vault, clock: Clock): Promise<number> {
  const now = clock.now()
  const workspaces = await db.sql<{ id: string }[]>`
    select c.workspace_id as id
    from workspaces w
    join conversations c on c.workspace_id = w.id
    where ${isOverdue(db.sql, asPlaced, now)}
      and ${standsStill(db.sql)}
    union
    select m.workspace_id
    from workspaces w
    join moving_conversations m on m.workspace_id = w.id
    join conversations c
      on c.workspace_id = m.workspace_id
      and c.id = m.conversation_id
    where ${isOverdue(db.sql, asItIs, now)}`
  let count = 0
  for (const { id } of workspaces) {
    const keyring = await vault.keyring(id)
    count += await db.tx((tx) => {
      // Those that are found are looked at again once they are locked.
      const overdue = tx`
        and c.id = any (array(
          select o.id
          from workspaces w
          cross join lateral (${overdueIn(tx, id, now)}) as o
          where w.id = ${id}
        ))
        and exists (
          select from workspaces w
          where w.id = ${id}
            and ${isOverdue(tx, asItIs, now)}
        )`
      return handBack({ tx, keyring, workspaceId: id, now }, overdue, { actor: systemActor, reason: 'watchdog' })
    })
  }
  return count
}

/** SQL: those in a workspace, which is `w`; in their places or moving. */
function overdueIn(tx: Tx, workspaceId: string, now: Date): Fragment {
  const workspace = anyWorkspace(tx, workspaceId)
  return tx`
    select c.id
    from conversations c
    where c.workspace_id = ${workspaceId}
      and ${standsStill(tx)}
      and ${isOverdue(tx, asPlaced, now)}
    union all
    select c.id
    from ${movingConversations(tx, workspace)}
    where m.workspace_id = ${workspaceId}
      and ${isOverdue(tx, asItIs, now)}`
}

const isOverdue = (sql: Sql, reading: Reading, now: Date) => sql`
  ${isWatched(sql, reading)}
    and ${waitsSince(sql, reading)} <= ${now}::timestamptz - make_interval(mins => w.agent_watchdog_minutes)`

const overdueAt = (sql: Sql, reading: Reading) => sql`
  ${waitsSince(sql, reading)} + make_interval(mins => w.agent_watchdog_minutes)`

/** Whether a customer waits for an agent whom the workspace `w` leaves some minutes. */
const isWatched = (sql: Sql, { unansweredSince }: Reading) => sql`
  w.agent_watchdog_minutes is not null
    and c.owner_key_id is not null
    and ${unansweredSince(sql)} is not null`

const waitsSince = (sql: Sql, { unansweredSince }: Reading) => sql`greatest(${unansweredSince(sql)}, c.owner_since)`

async function handBack({ tx, keyring, workspaceId, now }: ChangeTx, which: Fragment, cause: Cause): Promise<number> {
  const rows = await tx<{ id: string; connectionId: string; keyId: string }[]>`
    select c.id, c.connection_id as "connectionId", c.owner_key_id as "keyId"
    from conversations c
    where c.workspace_id = ${workspaceId}
      ${which}
    order by c.id
    for update of c`
  const ids = rows.map((row) => row.id)
  if (ids.length === 0) return 0
  await refuseWhileStarting(tx, workspaceId, ids)
  await tx`
    update conversations c
    set owner_key_id = null,
      held = true,
      handover = null,
      owner_epoch = c.owner_epoch + 1,
      starts_held_until = null,
      owner_since = ${now},
      seen_inbound_id = null,
      ${touchedNow(tx, now)}
    where workspace_id = ${workspaceId}
      and id = any (${ids}::uuid[])`
  const events = rows.map((row) => ownerChanged({ ...row, owner: human }, cause.actor, now))
  const items = rows.map(({ id, keyId }) => ({
    conversationId: id,
    detail: { kind: 'owner', from: writeOwner(agent(keyId)), to: writeOwner(human) } as const,
  }))
  await recordActivities(tx, workspaceId, items, cause, now)
  await recordEvents(tx, keyring, workspaceId, events, now)
  tellTeam(tx, workspaceId, ids)
  return ids.length
}
