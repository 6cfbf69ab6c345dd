import pLimit from 'p-limit'
import { type Repeat, repeatAfterPause } from '../base/async/loop.ts'
import type { Sql } from '../base/db.ts'
import { collectChangedIds, watchDueWork } from '../base/pubsub.ts'
import { type Sequencer, sequencedTopic } from '../events/sequence.ts'
import { conversationsTopic } from '../inbox/conversation/conversation.ts'
import { consume, type WorkspaceMemory } from './consume.ts'
import { type AutomationDeps, executeDue } from './execute.ts'
import { automationTopic } from './rules.ts'
import { listDueWorkspaces } from './runs.ts'

const pauseMs = 500
/** Waits are judged at this interval, and messages between processes can be lost. */
const checkAllEveryMs = 15_000
const pollDueEveryMs = 15_000
const maxWorkspaces = 4

export interface AutomationWorker {
  /** Judges and does all that is due now. For tests, which control the clock. */
  drain(): Promise<void>
  start(): void
  /** Lets running actions finish. */
  stop(): Promise<void>
}

interface WorkerDeps extends AutomationDeps {
  sequencer: Sequencer
  repeat?: Repeat | undefined
}

/** Creates a worker that runs the rules of all workspaces. Any number of workers can run together. */
export function createAutomationWorker(deps: WorkerDeps): AutomationWorker {
  const { db, clock, log } = deps.sends
  const memories = new Map<string, WorkspaceMemory>()
  const unreachable = new Map<string, number>()
  const limit = pLimit(maxWorkspaces)
  let isStopping = false
  const failed = (workspaceId: string) => (error: unknown) =>
    log.warn('failed to run automation rules; retrying', { workspaceId }, error)

  const consumeAll = async (workspaceId: string): Promise<void> => {
    while (!isStopping && (await consume(deps, workspaceId, memories)));
  }
  const executeAll = async (): Promise<number> => {
    let count = 0
    const workspaceIds = await listDueWorkspaces(db.sql, clock.now())
    const work = async (workspaceId: string) => {
      for (let done = 1; done > 0 && !isStopping; count += done) done = await executeDue(deps, workspaceId, unreachable)
    }
    await Promise.all(workspaceIds.map((id) => limit(() => work(id).catch(failed(id)))))
    return count
  }
  let stopLoops = async () => {}

  return {
    drain: async () => {
      do {
        await deps.sequencer.sequenceAll()
        for (const id of await listActive(db.sql, null)) await consumeAll(id)
      } while ((await executeAll()) > 0)
    },
    start: () => {
      const { repeat = repeatAfterPause } = deps
      const topics = [sequencedTopic, conversationsTopic, automationTopic]
      const changed = collectChangedIds({ db, clock }, { topics, allEveryMs: checkAllEveryMs })
      const due = watchDueWork(
        { db, clock },
        { nextAt: () => nextDueAt(db.sql), pollEveryMs: pollDueEveryMs, watchedTopics: [{ topic: automationTopic }] },
      )
      const onError = (error: unknown) => log.warn('failed to poll for automation; retrying', {}, error)
      const consuming = repeat(
        pauseMs,
        async () => {
          const ids = changed.take()
          // The ids of conversations come after those of their workspaces.
          const workspaceIds = ids === null ? null : [...new Set(ids.map((id) => id.split(' ', 1)[0] ?? ''))]
          if (workspaceIds?.length === 0) return
          const active = await listActive(db.sql, workspaceIds)
          await Promise.all(active.map((id) => limit(() => consumeAll(id).catch(failed(id)))))
        },
        onError,
      )
      const executing = repeat(pauseMs, async () => ((await due.isDue()) ? executeAll() : 0), onError)
      stopLoops = async () => {
        await Promise.all([consuming.stop(), executing.stop()])
      }
    },
    stop: async () => {
      isStopping = true
      await stopLoops()
    },
  }
}

/** Returns which of these workspaces, or of all, have a rule that is on. */
async function listActive(sql: Sql, workspaceIds: readonly string[] | null): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select workspace_id as id
    from automation_queues
    where active
      ${workspaceIds === null ? sql`` : sql`and workspace_id = any (${[...workspaceIds]}::uuid[])`}
    order by workspace_id`
  return rows.map(({ id }) => id)
}

async function nextDueAt(sql: Sql): Promise<Date | null> {
  const [row] = await sql<{ at: Date | null }[]>`
    select min(due_at) as at
    from automation_runs
    where due_at is not null
      and claimed_until is null`
  return row?.at ?? null
}
