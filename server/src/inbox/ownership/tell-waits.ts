import type { Clock } from '../../base/clock.ts'
import type { Db, Fragment, Sql, Tx } from '../../base/db.ts'
import { andOnlyOf, byWorkspace, isSpread, type OneWorkspace } from '../../base/distribution/spread.ts'
import { newId } from '../../base/id.ts'
import { hearNews } from '../../base/news.ts'
import { timestampArray } from '../../base/postgres/values.ts'
import { markWaitsOver } from '../../notices/notices.ts'
import { type NewNotice, recordNotices } from '../../notices/record.ts'
import { type OpeningHours, openingAt } from '../../team/opening-hours.ts'
import { teamTopic } from '../../team/team-news.ts'
import { systemActor } from '../../workspace/actor.ts'
import { conversationsTopic } from '../conversation/conversation.ts'
import { asItIs, asPlaced, movingConversations, type Reading, standsStill } from '../conversation/moving.ts'

/** Of a workspace in one look; the next look goes on. */
const batch = 100
/** More that the same people are told of at once are one notice. */
const mostApart = 5
/** A wait that nobody could be told of for so long is in the list of those who wait. */
const longestMs = 3 * 86_400_000
/** Whoever waits for people counts in minutes, and news are lost seldom: to look at all workspaces is to look through them. */
const allEveryMs = 60_000

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

/** Tells of the waits of workspaces that it has heard of, when their time has come. */
export interface WaitTeller {
  isDue(): boolean
  /** Returns how many waits it told of. */
  work(): Promise<number>
}

export function createWaitTeller({ db, clock }: { db: Db; clock: Clock }): WaitTeller {
  // Who may wait, or not any more; and a goal that is another.
  const news = hearNews({ db, clock }, { topics: [conversationsTopic, teamTopic], allEveryMs })
  /** When a customer of the workspace has waited for long enough, as far as it is known; at once after news. */
  const dueAtMs = new Map<string, number>()
  let looksAtAll = true
  return {
    isDue: () => {
      const heard = news.take()
      if (heard === null) looksAtAll = true
      for (const id of heard ?? []) dueAtMs.set(id.slice(0, id.indexOf(' ')), Number.NEGATIVE_INFINITY)
      const nowMs = clock.now().getTime()
      return looksAtAll || dueAtMs.values().some((atMs) => atMs <= nowMs)
    },
    work: async () => {
      const nowMs = clock.now().getTime()
      const isAll = looksAtAll
      const wanted = [...dueAtMs].flatMap(([id, atMs]) => (atMs <= nowMs ? id : []))
      const next = await readNextWaits(db.sql, isAll ? null : wanted, clock.now())
      const due = next.filter(({ dueAt }) => dueAt.getTime() <= nowMs)
      const told = await tellWaits(
        db,
        clock,
        due.map(({ workspaceId }) => workspaceId),
      )
      if (isAll) dueAtMs.clear()
      else for (const id of wanted) dueAtMs.delete(id)
      for (const { workspaceId, dueAt } of next) dueAtMs.set(workspaceId, dueAt.getTime())
      looksAtAll = false
      return told
    },
  }
}

/**
 * Tells people of customers who have waited for longer than their workspace wants: who has the conversation, or everybody. Once
 * for each wait, and while somebody is there by the workspace's hours. What was told is read once the customer was answered. For
 * a timer; any node may. Returns how many waits were told of, of these workspaces or of all.
 */
export async function tellWaits(db: Db, clock: Clock, workspaceIds: readonly string[] | null = null): Promise<number> {
  const now = clock.now()
  await db.tx((tx) => endTold(tx, now))
  if (workspaceIds?.length === 0) return 0
  const found = await findWaits(db.sql, workspaceIds, now)
  let told = 0
  for (const [workspaceId, waits = []] of Map.groupBy(found, (wait) => wait.workspaceId)) {
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
      and (${asItIs.unansweredSince(tx)} is null or ${asItIs.unansweredSince(tx)} > t.since)
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

interface NextWait {
  workspaceId: string
  dueAt: Date
}

/** Of these workspaces, or of all: when the first who waits there, and was not told of, will have waited for long enough. */
function readNextWaits(sql: Sql, workspaceIds: readonly string[] | null, now: Date): Promise<readonly NextWait[]> {
  return ofWaiting(
    sql,
    workspaceIds,
    (ids, only) => sql<NextWait[]>`
    select w.id as "workspaceId", c.unanswered_since + w.answer_goal_minutes * interval '1 minute' as "dueAt"
    from workspaces w
    cross join lateral (
      ${longestWaits(sql, only, 1, (reading) => isUntold(sql, reading, only, now))}
    ) as c
    where ${isOneOf(sql, ids, only)}`,
  )
}

function findWaits(sql: Sql, workspaceIds: readonly string[] | null, now: Date): Promise<readonly WaitOf[]> {
  const isDue = ({ unansweredSince }: Reading) => sql`
    ${unansweredSince(sql)} <= ${now}::timestamptz - w.answer_goal_minutes * interval '1 minute'`
  return ofWaiting(
    sql,
    workspaceIds,
    (ids, only) => sql<WaitOf[]>`
    select w.id as "workspaceId", w.hours, c.id as "conversationId", m.user_id as "assignedTo",
      c.unanswered_since as since
    from workspaces w
    cross join lateral (
      ${longestWaits(sql, only, batch, (reading) => sql`${isDue(reading)} and ${isUntold(sql, reading, only, now)}`)}
    ) as c
    left join members m
      on m.workspace_id = w.id
      and m.user_id = c.assigned_to
    where ${isOneOf(sql, ids, only)}
    order by w.id, c.unanswered_since, c.id`,
  )
}

/** SQL: of a workspace `w` those who wait longest, of conversations in their places and of those that move. */
function longestWaits(sql: Sql, only: OneWorkspace, limit: number, which: (reading: Reading) => Fragment): Fragment {
  const workspace = only === null ? sql`w.id` : sql`${only}::uuid`
  return sql`
    (
      select c.id, c.assigned_to, c.unanswered_since
      from conversations c
      where c.workspace_id = ${workspace}
        and ${standsStill(sql)}
        and ${which(asPlaced)}
      order by c.unanswered_since, c.id
      limit ${limit}
    )
    union all
    select c.id, c.assigned_to, c.now_unanswered_since
    from ${movingConversations(sql, workspace)}
    where m.workspace_id = ${workspace}
      and ${which(asItIs)}
    order by unanswered_since, id
    limit ${limit}`
}

/** What `read` finds in these workspaces, or in all; where rows are spread one after the other, of those in which somebody waits. */
async function ofWaiting<R>(
  sql: Sql,
  workspaceIds: readonly string[] | null,
  read: (workspaceIds: readonly string[] | null, only: OneWorkspace) => Promise<readonly R[]>,
): Promise<readonly R[]> {
  if (!isSpread(sql)) return read(workspaceIds, null)
  const ids = workspaceIds ?? (await listWaiting(sql))
  return byWorkspace(
    sql,
    ids,
    (id) => id,
    (own, only) => read(own, only),
  )
}

/** The workspaces in which somebody may wait, told of or not. */
async function listWaiting(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select c.workspace_id as id
    from conversations c
    where c.unanswered_since is not null
    union
    select m.workspace_id
    from moving_conversations m`
  return rows.map(({ id }) => id)
}

/** Of a workspace `w`. */
const isOneOf = (sql: Sql, workspaceIds: readonly string[] | null, only: OneWorkspace) => sql`
  w.answer_goal_minutes is not null
    and w.inbox_enabled
    ${workspaceIds === null || only !== null ? sql`` : sql`and w.id = any (${[...workspaceIds]}::uuid[])`}
    ${only === null ? sql`` : sql`and w.id = ${only}`}`

/** Of a conversation `c` of the workspace `w`. */
const isUntold = (sql: Sql, { unansweredSince }: Reading, only: OneWorkspace, now: Date) => sql`
  ${unansweredSince(sql)} > ${new Date(now.getTime() - longestMs)}
    and c.status in ('open', 'pending')
    and not exists (
      select
      from told_waits t
      where t.workspace_id = w.id
        and t.conversation_id = c.id
        and t.since >= ${unansweredSince(sql)}
        ${andOnlyOf(sql, only, 't')}
    )`

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
      and ${asItIs.unansweredSince(tx)} = f.since
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
