import type { Sql, Tx } from '../base/db.ts'
import { firstIdAt, timeOfId } from '../base/id.ts'
import { type ChangedIds, collectChangedIds } from '../base/pubsub.ts'
import { sequencedTopic } from '../events/sequence.ts'
import { conversationsTopic } from '../inbox/conversation/conversation.ts'
import { type CollectDeps, type Collected, collectConversations, collectLeads } from './collect-facts.ts'
import {
  listPending,
  moveQueue,
  type QueueChange,
  QueueMoved,
  type Rebuilding,
  type ReportQueue,
  readQueue,
  reportsTopic,
} from './queue.ts'
import { rebuildDay, storeFacts } from './store-facts.ts'
import { sumCosts } from './sum-costs.ts'

const maxRunMs = 2_000
/** Changes missed by pub/sub may wait this long. */
const checkAllEveryMs = 60_000
/** Positions and events of the feed that are read at once, and conversations and leads that are counted at once. */
const stretch = 5000
const maxEvents = 500
const batchSize = 100
const maxActivities = 1000
/** A change may commit this long after its time: longer than any transaction may take. */
const commitDelayMs = 120_000
/** The ledger of a large workspace takes seconds to sum. */
const costDelayMs = 15 * 60_000
const firstId = firstIdAt(new Date(0))

/** Recorded changes that a process has counted, by workspace: those of the last minutes are read again. */
export type SeenChanges = Map<string, Set<string>>

/** Counts what has changed in the background, in all workspaces. Any number of processes can do it. */
export function createReportCounter(
  deps: CollectDeps,
  forMs = maxRunMs,
): { isDue(): boolean; work(): Promise<number> } {
  const topics = [sequencedTopic, conversationsTopic, reportsTopic]
  const changed = collectChangedIds(deps, { topics, allEveryMs: checkAllEveryMs })
  const seen: SeenChanges = new Map()
  return { isDue: changed.hasAny, work: () => countChanged(deps, changed, seen, forMs) }
}

async function countChanged(deps: CollectDeps, changed: ChangedIds, seen: SeenChanges, forMs: number): Promise<number> {
  const ids = changed.take()
  const workspaceIds = ids === null ? null : [...new Set(ids.map((id) => id.split(' ', 1)[0] ?? ''))]
  const endsAtMs = performance.now() + forMs
  const failures: unknown[] = []
  let steps = 0
  // One step of each in turn: a workspace that counts everything again keeps no other waiting.
  const waiting = await listPending(deps.db.sql, workspaceIds, deps.clock.now())
  for (const workspaceId of waiting) {
    if (steps > 0 && performance.now() >= endsAtMs) {
      changed.takeAllNext()
      break
    }
    steps++
    try {
      if (await countNext(deps, workspaceId, seen)) waiting.push(workspaceId)
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) changed.takeAllNext()
  // A workspace that fails does not block the others.
  if (failures.length > 0) throw failures[0]
  return steps
}

/** Counts everything of a workspace, or of all. For tests and commands. */
export async function countAll(deps: CollectDeps, workspaceId: string | null = null): Promise<void> {
  const pending = workspaceId === null ? null : [workspaceId]
  const seen: SeenChanges = new Map()
  for (const id of await listPending(deps.db.sql, pending, deps.clock.now())) {
    while (await countNext(deps, id, seen));
  }
}

/** Does the next step in a workspace. Returns whether there is more. */
async function countNext(deps: CollectDeps, workspaceId: string, seen: SeenChanges): Promise<boolean> {
  const { db, clock } = deps
  const queue = await readQueue(db, workspaceId, clock.now())
  if (queue === undefined) return false
  try {
    const { timeZone, wantedZone, position, lastPosition, rebuilding, costsDueAt } = queue
    if (timeZone !== wantedZone) {
      const again = { timeZone: wantedZone, rebuilding: 'conversations', rebuiltTo: null } as const
      await commit(deps, workspaceId, queue, null, again)
      return true
    }
    const hasChanged =
      (await countActivities(deps, workspaceId, queue, seen)) || (await countNoted(deps, workspaceId, queue))
    if (position < lastPosition) await countFeed(deps, workspaceId, queue)
    else if (hasChanged) return true
    else if (rebuilding !== null) await rebuildNext(deps, workspaceId, queue, rebuilding)
    else if (costsDueAt !== null && costsDueAt <= clock.now()) await sumCosts(db, workspaceId, queue, clock.now())
    else return false
    return true
  } catch (error) {
    // Another process counts this workspace.
    if (error instanceof QueueMoved) return false
    throw error
  }
}

/** Stores what was counted in the transaction that moves the queue, and keeps `queue` as it is then. */
async function commit(
  { db, clock }: CollectDeps,
  workspaceId: string,
  queue: ReportQueue,
  collected: Collected | null,
  change: QueueChange = {},
  also?: (tx: Tx) => PromiseLike<unknown>,
): Promise<void> {
  const now = clock.now()
  const costsDueAt = queue.costsDueAt ?? new Date(now.getTime() + costDelayMs)
  const next = { ...queue, ...(collected !== null && { costsDueAt }), ...change }
  await db.tx(async (tx) => {
    await moveQueue(tx, workspaceId, next, now)
    if (collected !== null) await storeFacts(tx, workspaceId, collected)
    await also?.(tx)
  })
  Object.assign(queue, next, { version: queue.version + 1 })
}

/** Counts the next events of the feed. */
async function countFeed(deps: CollectDeps, workspaceId: string, queue: ReportQueue): Promise<void> {
  const { position, lastPosition, timeZone } = queue
  const upTo = Math.min(position + stretch, lastPosition)
  const rows = await deps.db.sql<{ position: number; subjectId: string; isOfLead: boolean }[]>`
    select position, subject_id as "subjectId", name like 'lead.%' as "isOfLead"
    from events
    where workspace_id = ${workspaceId}
      and position > ${position}
      and position <= ${upTo}
      and test_endpoint_id is null
    order by position
    limit ${maxEvents}`
  const reached = rows.length === maxEvents ? (rows.at(-1)?.position ?? upTo) : upTo
  const idsOf = (isOfLead: boolean) => [
    ...new Set(rows.flatMap((row) => (row.isOfLead === isOfLead ? row.subjectId : []))),
  ]
  const leadIds = idsOf(true)
  if (leadIds.length > 0) {
    await commit(deps, workspaceId, queue, await collectLeads(deps, workspaceId, leadIds, timeZone))
  }
  await countConversations(deps, workspaceId, queue, idsOf(false), { position: reached })
}

/** Counts conversations some at a time; `last` is changed with the last of them. */
async function countConversations(
  deps: CollectDeps,
  workspaceId: string,
  queue: ReportQueue,
  ids: readonly string[],
  last: QueueChange,
): Promise<void> {
  for (let at = 0; at === 0 || at < ids.length; at += batchSize) {
    const batch = ids.slice(at, at + batchSize)
    const isLast = at + batchSize >= ids.length
    const collected = batch.length === 0 ? null : await collectConversations(deps, workspaceId, batch, queue.timeZone)
    await commit(deps, workspaceId, queue, collected, isLast ? last : {})
  }
}

/**
 * Counts recorded changes of conversations, of which some commit late: those of the last minutes are read again, and
 * left out if this process has counted them. Returns whether there were any.
 */
async function countActivities(
  deps: CollectDeps,
  workspaceId: string,
  queue: ReportQueue,
  seen: SeenChanges,
): Promise<boolean> {
  const since = firstIdAt(new Date(timeOfId(queue.activitiesTo).getTime() - commitDelayMs))
  const known = seen.get(workspaceId) ?? new Set()
  const read = new Set<string>()
  const conversationIds = new Set<string>()
  let last = since
  for (let isFull = true; isFull; ) {
    const rows = await selectActivities(deps.db.sql, workspaceId, last)
    for (const { id, conversationId } of rows) {
      if (!known.has(id)) conversationIds.add(conversationId)
      read.add(id)
    }
    isFull = rows.length === maxActivities
    last = rows.at(-1)?.id ?? last
  }
  if (conversationIds.size === 0) return false
  const activitiesTo = last > queue.activitiesTo ? last : queue.activitiesTo
  await countConversations(deps, workspaceId, queue, [...conversationIds], { activitiesTo })
  seen.set(workspaceId, read)
  return true
}

function selectActivities(sql: Sql, workspaceId: string, afterId: string) {
  return sql<{ id: string; conversationId: string }[]>`
    select id, conversation_id as "conversationId"
    from conversation_activities
    where workspace_id = ${workspaceId}
      and id > ${afterId}
    order by id
    limit ${maxActivities}`
}

/** Counts leads whose change was no event. Returns whether there were any. */
async function countNoted(deps: CollectDeps, workspaceId: string, queue: ReportQueue): Promise<boolean> {
  const rows = await deps.db.sql<{ id: string; leadId: string }[]>`
    select id, lead_id as "leadId"
    from report_leads
    where workspace_id = ${workspaceId}
    order by id
    limit ${maxEvents}`
  if (rows.length === 0) return false
  const leadIds = [...new Set(rows.map(({ leadId }) => leadId))]
  const collected = await collectLeads(deps, workspaceId, leadIds, queue.timeZone)
  const forget = (tx: Tx) => tx`
    delete from report_leads
    where workspace_id = ${workspaceId}
      and id = any (${rows.map(({ id }) => id)}::uuid[])`
  await commit(deps, workspaceId, queue, collected, {}, forget)
  return true
}

/** Makes the next conversations, leads or day again. */
async function rebuildNext(
  deps: CollectDeps,
  workspaceId: string,
  queue: ReportQueue,
  part: Rebuilding,
): Promise<void> {
  const { db, clock } = deps
  if (part === 'days') {
    await db.tx(async (tx) => {
      await moveQueue(tx, workspaceId, queue, clock.now())
      const day = await rebuildDay(tx, workspaceId, queue.rebuiltTo ?? '0001-01-01')
      const next = day === null ? { rebuilding: null, rebuiltTo: null } : { rebuiltTo: day }
      await moveQueue(tx, workspaceId, { ...queue, ...next, version: queue.version + 1 }, clock.now())
    })
    return
  }
  const [table, following] =
    part === 'conversations' ? (['conversations', 'leads'] as const) : (['leads', 'days'] as const)
  const rows = await db.sql<{ id: string }[]>`
    select id
    from ${table === 'leads' ? db.sql`leads` : db.sql`conversations`}
    where workspace_id = ${workspaceId}
      and id > ${queue.rebuiltTo ?? firstId}
    order by id
    limit ${batchSize}`
  const ids = rows.map(({ id }) => id)
  if (ids.length === 0) return commit(deps, workspaceId, queue, null, { rebuilding: following, rebuiltTo: null })
  const collect = table === 'leads' ? collectLeads : collectConversations
  const collected = await collect(deps, workspaceId, ids, queue.timeZone)
  await commit(deps, workspaceId, queue, collected, { rebuiltTo: ids.at(-1) ?? null })
}
