import type { Db, Tx } from '../base/db.ts'
import type { WorkspaceSql } from '../inbox/conversation/conversation.ts'
import type { AutomationDeps } from './execute.ts'
import { ownFacts, readSituations, type Situation } from './facts.ts'
import { findWaits } from './find-overdue.ts'
import { type CompiledRule, decide, indexRules, mayConcern, type RuleIndex } from './judge.ts'
import { commitDelayMs, type Occurrence, readActivitiesSince, readFeedAfter } from './occurrences.ts'
import { listRules } from './rules.ts'
import { depthKey, insertRuns, type NewRun, readDepths } from './runs.ts'

/** What a process remembers of a workspace between two times that it reads it. */
export interface WorkspaceMemory {
  version: number
  index: RuleIndex
  /** Recorded changes that were judged, with their times in ms: those of the last minutes are read again. */
  judged: Map<string, number>
  /** When a rule that left an event alone was last noted, in ms. */
  notedAt: Map<string, number>
}

interface Queue {
  version: number
  position: number
  activitiesAt: Date
  timersAt: Date
}

/** Longer than a batch takes. Another process that reads the same events decides the same, and stores it once. */
const leaseMs = 30_000
const timersEveryMs = 30_000
/** Three rules in a row at most follow each other. */
const maxDepth = 3
const noteEveryMs = 900_000
const maxRemembered = 20_000

/** Another process has read these events. */
class QueueMoved extends Error {}

/** Judges the next events of a workspace and stores what is to be done. Returns whether there are more. */
export async function consume(
  deps: AutomationDeps,
  workspaceId: string,
  memories: Map<string, WorkspaceMemory>,
): Promise<boolean> {
  const { db, keyStore, clock } = deps.sends
  const queue = await claimQueue(db, workspaceId, clock.now())
  if (queue === undefined) return false
  try {
    const memory = await remember(db, workspaceId, queue, memories)
    return await keyStore.withKeyring(workspaceId, (keyring) =>
      consumeQueue(deps, { sql: db.sql, keyring, workspaceId }, queue, memory),
    )
  } catch (error) {
    if (error instanceof QueueMoved) return false
    throw error
  } finally {
    await releaseQueue(db, workspaceId)
  }
}

async function claimQueue(db: Db, workspaceId: string, now: Date): Promise<Queue | undefined> {
  const [queue] = await db.statement(
    (tx) => tx<Queue[]>`
      update automation_queues
      set lease_until = ${new Date(now.getTime() + leaseMs)}
      where workspace_id = ${workspaceId}
        and active
        and (lease_until is null or lease_until <= ${now})
      returning rules_version as version, position, activities_at as "activitiesAt", timers_at as "timersAt"`,
  )
  return queue
}

const releaseQueue = (db: Db, workspaceId: string) =>
  db.statement(
    (tx) => tx`
      update automation_queues
      set lease_until = null
      where workspace_id = ${workspaceId}`,
  )

async function remember(
  db: Db,
  workspaceId: string,
  { version }: Queue,
  memories: Map<string, WorkspaceMemory>,
): Promise<WorkspaceMemory> {
  const known = memories.get(workspaceId)
  if (known?.version === version) return known
  const index = indexRules(await listRules(db.sql, workspaceId))
  const memory = { version, index, judged: known?.judged ?? new Map(), notedAt: new Map<string, number>() }
  memories.set(workspaceId, memory)
  return memory
}

async function consumeQueue(deps: AutomationDeps, reader: WorkspaceSql, queue: Queue, memory: WorkspaceMemory) {
  const { triggers } = memory.index
  const feed = await readFeedAfter(reader, queue.position, triggers)
  if (feed.position !== queue.position) {
    await judgeAndStore(deps, reader, memory, feed.found, (tx) =>
      movePosition(tx, reader, queue.position, feed.position),
    )
  }
  await consumeActivities(deps, reader, queue, memory)
  const now = deps.sends.clock.now()
  const isDue = now.getTime() - queue.timersAt.getTime() >= timersEveryMs
  if (isDue) await consumeWaits(deps, reader, queue, memory, now)
  return feed.hasMore
}

async function movePosition(tx: Tx, { workspaceId }: WorkspaceSql, from: number, to: number): Promise<void> {
  const moved = await tx`
    update automation_queues
    set position = ${to}
    where workspace_id = ${workspaceId}
      and position = ${from}`
  if (moved.count === 0) throw new QueueMoved()
}

/** Recorded changes of the last minutes are read again, since some commit late; those that were judged are left out. */
async function consumeActivities(
  deps: AutomationDeps,
  reader: WorkspaceSql,
  { activitiesAt }: Queue,
  memory: WorkspaceMemory,
): Promise<void> {
  const startedAt = deps.sends.clock.now()
  const since = new Date(activitiesAt.getTime() - commitDelayMs)
  const { triggers } = memory.index
  let afterId: string | undefined
  do {
    const { found, nextId } = await readActivitiesSince(reader, since, triggers, afterId)
    const fresh = found.filter(({ key }) => !memory.judged.has(key))
    if (fresh.length > 0) await judgeAndStore(deps, reader, memory, fresh, async () => {})
    for (const { key, at } of fresh) memory.judged.set(key, at.getTime())
    afterId = nextId ?? undefined
  } while (afterId !== undefined)
  forgetOld(memory, since)
  // The horizon moves rarely: most times there is nothing to write.
  if (startedAt.getTime() - activitiesAt.getTime() < timersEveryMs) return
  await deps.sends.db.statement(
    (tx) => tx`
      update automation_queues
      set activities_at = greatest(activities_at, ${startedAt})
      where workspace_id = ${reader.workspaceId}`,
  )
}

function forgetOld({ judged }: WorkspaceMemory, since: Date): void {
  if (judged.size < maxRemembered / 10) return
  for (const [key, atMs] of judged) if (atMs < since.getTime() - commitDelayMs) judged.delete(key)
}

async function consumeWaits(
  deps: AutomationDeps,
  reader: WorkspaceSql,
  { timersAt }: Queue,
  memory: WorkspaceMemory,
  now: Date,
): Promise<void> {
  const found: Occurrence[] = []
  for (const trigger of ['no_team_answer', 'no_customer_answer', 'status_unchanged'] as const) {
    for (const { rule } of memory.index.all(trigger)) {
      found.push(...(await findWaits(reader, rule, { timersAt, now })))
    }
  }
  await judgeAndStore(deps, reader, memory, found, async (tx) => {
    await tx`
      update automation_queues
      set timers_at = greatest(timers_at, ${now})
      where workspace_id = ${reader.workspaceId}`
  })
}

/** Judges what has happened, and stores what is to be done in one transaction with how far was read. */
async function judgeAndStore(
  deps: AutomationDeps,
  reader: WorkspaceSql,
  memory: WorkspaceMemory,
  found: readonly Occurrence[],
  advance: (tx: Tx) => Promise<void>,
): Promise<void> {
  const { db, clock } = deps.sends
  const now = clock.now()
  const runs = found.length === 0 ? [] : await deps.step('judge', () => judge(reader, memory, found, now))
  await deps.step('record', () =>
    db.tx(async (tx) => {
      await advance(tx)
      await insertRuns(tx, reader.workspaceId, runs, now)
    }),
  )
}

async function judge(reader: WorkspaceSql, memory: WorkspaceMemory, found: readonly Occurrence[], now: Date) {
  const { index } = memory
  const concerning = found.filter((occurrence) => concernsAny(memory, occurrence, now))
  if (concerning.length === 0) return []
  const situations = await readSituations(reader, concerning, { readsLead: index.readsLead, now })
  const depths = await readDepths(reader.sql, reader.workspaceId, situations.flatMap(causeOf))
  return situations.flatMap((situation): NewRun[] => {
    const { occurrence, conversation, facts } = situation
    const [cause] = causeOf(situation)
    const depth = cause === undefined ? 1 : (depths.get(depthKey(cause)) ?? 0) + 1
    const rules = index
      .rulesFor(occurrence.trigger, conversation?.connectionId ?? null)
      .filter((one) => mayAct(one, situation, depth))
    const { acting, unmet } = decide(rules, facts)
    return [
      ...acting.map(({ rule }) => ({ rule, situation, depth, unmet: null })),
      ...unmet
        .filter(({ rule }) => isToBeNoted(memory, rule.id, now))
        .map(({ rule, condition }) => ({ rule, situation, depth, unmet: condition })),
    ]
  })
}

/** Most events concern no rule: nothing is read for them. */
function concernsAny(memory: WorkspaceMemory, occurrence: Occurrence, now: Date): boolean {
  const facts = ownFacts(occurrence)
  const rules = memory.index.all(occurrence.trigger)
  return rules.some((one) => mayConcern(one, facts) || isNoteDue(memory, one.rule.id, now))
}

function causeOf({ causedBy, conversation, lead }: Situation): { ruleId: string; subjectId: string }[] {
  const subjectId = conversation?.id ?? lead?.id
  return causedBy === null || subjectId === undefined ? [] : [{ ruleId: causedBy, subjectId }]
}

function mayAct({ rule }: CompiledRule, { occurrence, causedBy }: Situation, depth: number): boolean {
  if (rule.enabledAt === null || occurrence.at < rule.enabledAt) return false
  if (occurrence.onlyRuleId !== null && occurrence.onlyRuleId !== rule.id) return false
  return causedBy === null || (rule.followsRules && depth <= maxDepth)
}

/** The log shows some of the events that a rule left alone; a dry run shows all. */
const isNoteDue = ({ notedAt }: WorkspaceMemory, ruleId: string, now: Date): boolean =>
  now.getTime() - (notedAt.get(ruleId) ?? Number.NEGATIVE_INFINITY) >= noteEveryMs

function isToBeNoted(memory: WorkspaceMemory, ruleId: string, now: Date): boolean {
  const isDue = isNoteDue(memory, ruleId, now)
  if (isDue) memory.notedAt.set(ruleId, now.getTime())
  return isDue
}
