import { andOnlyWorkspace, byWorkspace, type OnlyWorkspace } from '../base/citus/distributed-sql.ts'
import type { Db, Sql } from '../base/db.ts'
import { listWorkspacePages } from '../base/retention.ts'
import { eraseEvents, type OnEventsErased } from '../events/erase.ts'
import { eraseConversation } from './erase.ts'

/** Conversations erased per workspace and round, and maximum duration of a run. */
const batchSize = 10
const maxRunMs = 20_000

/**
 * Erases conversations older than their workspace's retention period, with all related data. Alternates between
 * workspaces. Returns the number erased.
 */
export async function eraseExpiredConversations(db: Db, now: Date, eventsErased: OnEventsErased): Promise<number> {
  const endsAt = performance.now() + maxRunMs
  let erased = 0
  for (;;) {
    let countOfRound = 0
    for await (const workspaceIds of listWorkspacePages(db)) {
      for (const expired of await listExpired(db, workspaceIds, now)) {
        if (performance.now() > endsAt) return erased + countOfRound
        if (await eraseExpired(db, expired, eventsErased)) countOfRound++
      }
    }
    if (countOfRound === 0) return erased
    erased += countOfRound
  }
}

interface ExpiredConversation {
  workspaceId: string
  id: string
  aliases: string[]
  since: Date
}

async function listExpired(db: Db, workspaceIds: readonly string[], now: Date): Promise<ExpiredConversation[]> {
  const read = (some: readonly string[], only: OnlyWorkspace) => listExpiredIn(db.sql, some, only, now)
  const expired = await byWorkspace(db.sql, workspaceIds, (id) => id, read)
  return [...expired]
}

async function listExpiredIn(sql: Sql, workspaceIds: readonly string[], only: OnlyWorkspace, now: Date) {
  return sql<ExpiredConversation[]>`
    select w.id as "workspaceId", c.id, k.since, array(
      select a.id
      from conversation_aliases a
      where a.workspace_id = w.id
        and a.conversation_id = c.id
        ${andOnlyWorkspace(sql, only, 'a')}
    ) as aliases
    from workspaces w
    cross join lateral (
      select ${now}::timestamptz - w.keep_conversations_days * interval '1 day' as since
    ) as k
    cross join lateral (
      select o.id
      from conversations o
      where o.workspace_id = w.id
        and o.last_message_at < k.since
        and (o.now_last_message_at is null or o.now_last_message_at < k.since)
        ${andOnlyWorkspace(sql, only, 'o')}
      order by o.last_message_at, o.id
      limit ${batchSize}
    ) as c
    where w.id = any (${[...workspaceIds]}::uuid[])
      and w.keep_conversations_days is not null`
}

/** Erases in batches; a conversation with a new message keeps what is left. */
async function eraseExpired(
  db: Db,
  { workspaceId, id, aliases, since }: ExpiredConversation,
  eventsErased: OnEventsErased,
): Promise<boolean> {
  let isErased = false
  for (let place: string | null = 'more'; place !== null; ) {
    const step = await db.tx((tx) => eraseConversation(tx, workspaceId, id, since))
    place = step.position
    isErased = step.removed.conversations === 1
  }
  // Events are deleted after 30 days anyway; any left were recorded after the last message.
  for (let hasMore = isErased; hasMore; ) {
    const step = await db.tx((tx) => eraseEvents(tx, workspaceId, [id, ...aliases], eventsErased))
    hasMore = step.hasMore
  }
  return isErased
}
