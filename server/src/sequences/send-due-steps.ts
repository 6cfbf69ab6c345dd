import { forEach, forEachDue } from '../base/async/for-each.ts'
import { collectChangedIds, watchDueWork } from '../base/pubsub.ts'
import { conversationsTopic } from '../inbox/conversation/conversation.ts'
import { review, type SequenceSendDeps, workOn } from './do-step.ts'
import { claimRuns, listDueWorkspaces, noteLateFailures } from './run.ts'
import { sequencesTopic } from './sequence.ts'

const [workspacesAtOnce, runsAtOnce] = [8, 4]
/** Messages between processes can be lost; runs that are due later than this need none. */
const pollEveryMs = 60_000

/** The scheduled job that does what is due, and ends runs as soon as the customer or a person has written. */
export function createSequenceJob(deps: SequenceSendDeps): { isDue(): Promise<boolean>; work(): Promise<number> } {
  const { db, clock } = deps.sends
  // Without active runs, changes of conversations cost nothing.
  let hasRuns = true
  const nextAt = async () => {
    const [row] = await db.sql<{ at: Date | null }[]>`
      select min(next_at) as at
      from sequence_runs`
    hasRuns = row?.at != null
    return row?.at ?? null
  }
  const due = watchDueWork({ db, clock }, { nextAt, pollEveryMs, watchedTopics: [{ topic: sequencesTopic }] })
  const changed = collectChangedIds(
    { db, clock },
    { topics: [conversationsTopic], allEveryMs: Number.POSITIVE_INFINITY },
  )
  return {
    isDue: async () => {
      const isDue = await due.isDue()
      if (!hasRuns) changed.take()
      return isDue || (hasRuns && changed.hasAny())
    },
    work: async () => {
      const ids = changed.take() ?? []
      return (await reviewChanged(deps, ids)) + (await sendDueSteps(deps))
    },
  }
}

/** Does the steps that are due, of all workspaces. Returns how many runs it has worked on. */
export async function sendDueSteps(deps: SequenceSendDeps): Promise<number> {
  const { db, clock } = deps.sends
  return forEachDue(
    () => listDueWorkspaces(db.sql, clock.now()),
    workspacesAtOnce,
    async (workspaceId) => {
      const runs = await deps.step('claim', () => db.tx((tx) => claimRuns(tx, workspaceId, clock.now())))
      await forEach(runs, runsAtOnce, (run) => workOn(deps, workspaceId, run))
      return runs.length
    },
  )
}

/** Ends the runs of conversations that have changed, if they are over. Returns how many ended. */
async function reviewChanged(deps: SequenceSendDeps, changedIds: readonly string[]): Promise<number> {
  const pairs = changedIds.flatMap((id) => {
    const [workspaceId = '', conversationId = ''] = id.split(' ')
    return conversationId === '' ? [] : [{ workspaceId, conversationId }]
  })
  let count = 0
  for (const [workspaceId, some] of Map.groupBy(pairs, (pair) => pair.workspaceId)) {
    const ids = some.map(({ conversationId }) => conversationId)
    try {
      count += await reviewIn(deps, workspaceId, ids)
    } catch (error) {
      // Their next steps are judged anyway, and those of other workspaces are due.
      const { log } = deps.sends
      log.warn('failed to review runs of sequences; judging them at their next step', { workspaceId }, error)
    }
  }
  return count
}

async function reviewIn(deps: SequenceSendDeps, workspaceId: string, ids: readonly string[]): Promise<number> {
  const { db } = deps.sends
  const rows = await db.sql<{ id: string }[]>`
    select id
    from sequence_runs
    where workspace_id = ${workspaceId}
      and conversation_id = any (${[...ids]}::uuid[])`
  if (rows.length === 0) return 0
  const runIds = rows.map(({ id }) => id)
  await db.tx((tx) => noteLateFailures(tx, workspaceId, tx`r.id = any (${runIds}::uuid[])`))
  return review(deps, workspaceId, runIds)
}
