import type { Clock } from '../../base/clock.ts'
import type { Db, Sql, Tx } from '../../base/db.ts'
import { andOnlyOf, isSpread, type OneWorkspace } from '../../base/distribution/spread.ts'
import { newId } from '../../base/id.ts'
import { timestampArray } from '../../base/postgres/values.ts'
import { markWaitsOver } from '../../notices/notices.ts'
import { type NewNotice, recordNotices } from '../../notices/record.ts'
import { type OpeningHours, openingAt } from '../../team/opening-hours.ts'
import { systemActor } from '../../workspace/actor.ts'

/** Of a workspace in one look; the next look goes on. */
const batch = 100
/** More that the same people are told of at once are one notice. */
const mostApart = 5
/** A wait that nobody could be told of for so long is in the list of those who wait. */
const longestMs = 3 * 86_400_000

interface Wait {
  conversationId: string
  /** Null: nobody, or no member any more. */
  assignedTo: string | null
  since: Date
}

interface WaitOf extends Wait {
  workspaceId: string
  hours: OpeningHours | null
}

/**
 * Tells people of customers who have waited for longer than their workspace wants: who has the conversation, or everybody. Once
 * for each wait, and while somebody is there by the workspace's hours. What was told is read once the customer was answered. For
 * a timer; any node may. Returns how many waits were told of.
 */
export async function tellWaits(db: Db, clock: Clock): Promise<number> {
  const now = clock.now()
  await db.tx((tx) => endTold(tx, now))
  let told = 0
  for (const [workspaceId, waits = []] of Map.groupBy(await findWaits(db.sql, now), (wait) => wait.workspaceId)) {
    const hours = waits[0]?.hours ?? null
    if (hours !== null && !openingAt(hours, now).isOpen) continue
    told += await db.tx((tx) => tell(tx, workspaceId, waits, now))
  }
  return told
}

/** Who was answered waits no more, and what told of it is read. */
async function endTold(tx: Tx, now: Date): Promise<void> {
  const over = await tx<{ workspaceId: string; conversationId: string }[]>`
    delete from told_waits t
    using conversations c
    where c.workspace_id = t.workspace_id
      and c.id = t.conversation_id
      and (c.unanswered_since is null or c.unanswered_since > t.since)
    returning t.workspace_id as "workspaceId", t.conversation_id as "conversationId"`
  for (const [workspaceId, rows = []] of Map.groupBy(over, (row) => row.workspaceId)) {
    await markWaitsOver(
      tx,
      workspaceId,
      rows.map(({ conversationId }) => conversationId),
      now,
    )
  }
}

async function findWaits(sql: Sql, now: Date): Promise<WaitOf[]> {
  if (!isSpread(sql)) return findWaitsOf(sql, null, now)
  const waits: WaitOf[] = []
  for (const id of await listWaiting(sql, now)) waits.push(...(await findWaitsOf(sql, id, now)))
  return waits
}

/** The workspaces in which somebody waits for too long, told of or not. */
async function listWaiting(sql: Sql, now: Date): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select distinct c.workspace_id as id
    from conversations c
    join workspaces w on w.id = c.workspace_id
    where ${isTooLong(sql, now)}
      and w.answer_goal_minutes is not null
      and w.inbox_enabled`
  return rows.map(({ id }) => id)
}

const isTooLong = (sql: Sql, now: Date) => sql`
  c.unanswered_since > ${new Date(now.getTime() - longestMs)}
    and c.unanswered_since <= ${now}::timestamptz - w.answer_goal_minutes * interval '1 minute'
    and c.status in ('open', 'pending')`

async function findWaitsOf(sql: Sql, only: OneWorkspace, now: Date): Promise<WaitOf[]> {
  return sql<WaitOf[]>`
    select w.id as "workspaceId", w.hours, c.id as "conversationId", m.user_id as "assignedTo",
      c.unanswered_since as since
    from workspaces w
    cross join lateral (
      select id, assigned_to, unanswered_since
      from conversations c
      where c.workspace_id = w.id
        and ${isTooLong(sql, now)}
        ${andOnlyOf(sql, only, 'c')}
        and not exists (
          select
          from told_waits t
          where t.workspace_id = w.id
            and t.conversation_id = c.id
            and t.since >= c.unanswered_since
            ${andOnlyOf(sql, only, 't')}
        )
      order by c.unanswered_since, c.id
      limit ${batch}
    ) as c
    left join members m
      on m.workspace_id = w.id
      and m.user_id = c.assigned_to
    where w.answer_goal_minutes is not null
      and w.inbox_enabled
      ${only === null ? sql`` : sql`and w.id = ${only}`}
    order by w.id, c.unanswered_since, c.id`
}

async function tell(tx: Tx, workspaceId: string, waits: readonly Wait[], now: Date): Promise<number> {
  // Another worker may have looked at the same moment: whoever writes the wait tells of it.
  const ours = await tx<{ conversationId: string }[]>`
    insert into told_waits (workspace_id, conversation_id, since)
    select c.workspace_id, c.id, f.since
    from unnest(
      ${waits.map(({ conversationId }) => conversationId)}::uuid[],
      ${timestampArray(waits.map(({ since }) => since))}::timestamptz[]
    ) as f (id, since)
    join conversations c
      on c.workspace_id = ${workspaceId}
      and c.id = f.id
      and c.unanswered_since = f.since
    on conflict (workspace_id, conversation_id)
    do update set since = excluded.since
    where told_waits.since < excluded.since
    returning conversation_id as "conversationId"`
  const ids = new Set(ours.map(({ conversationId }) => conversationId))
  const found = waits.filter(({ conversationId }) => ids.has(conversationId))
  await recordNotices(tx, workspaceId, noticesOf(found, now), now)
  return found.length
}

function noticesOf(waits: readonly Wait[], now: Date): NewNotice[] {
  return [...Map.groupBy(waits, ({ assignedTo }) => assignedTo)].flatMap(([userId, theirs]): NewNotice[] => {
    const common = { kind: 'waiting', userId, actor: systemActor } as const
    if (theirs.length > mostApart) return [{ ...common, cause: newId(now), count: theirs.length }]
    return theirs.map(({ conversationId, since }) => ({
      ...common,
      cause: `${conversationId} ${since.toISOString()}`,
      conversationId,
    }))
  })
}
