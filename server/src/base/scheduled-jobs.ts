import type { Clock } from './clock.ts'
import type { Db } from './db.ts'
import type { Log } from './log.ts'
import { inSpan } from './scheduling/work-context.ts'
import type { Tracer } from './tracing/span.ts'

/** Periodic work that one of several processes runs each time. It must tolerate interruption and repetition. */
export interface ScheduledJob {
  name: string
  /** Minimum time between two runs. While one process evaluates `isDue`, no other runs the job. */
  everyMs: number
  /** Whether this process has work when the time has come; always true unless set. */
  isDue?: () => boolean | Promise<boolean>
  /** Returns how much was done, for the log; `undefined` if it does not count. */
  work(): Promise<number | undefined>
  /** Logs only runs that did something. */
  isQuiet?: boolean
  /** Logs only failures, because every write causes a run. */
  isSilent?: boolean
}

export interface ScheduledJobDeps {
  db: Db
  clock: Clock
  log: Log
  /** Starts a trace for each run of jobs that are neither quiet nor silent: those run every few seconds. */
  tracer?: Tracer | undefined
  /** Called after each run. */
  onRun?: (name: string, result: 'done' | 'failed', ms: number) => void
}

export interface ScheduledJobs {
  /** Starts the jobs that are due, unless another process has claimed them. */
  startDue(): Promise<void>
  /** Resolves when no job is running in this process. */
  idle(): Promise<void>
}

/** A clock that was set back leaves times far in the future. Larger than the clock difference of any two workers. */
const clockSlackMs = 300_000

/**
 * The process that advances a job's next time runs it, so each period has one run, however many processes poll. A run
 * that dies with its process is not repeated: the run of the next period does the rest.
 */
export function createScheduledJobs(deps: ScheduledJobDeps, jobs: readonly ScheduledJob[]): ScheduledJobs {
  const running = new Map<string, Promise<void>>()
  /** Known next times; no query before them. */
  const nextTimes = new Map<string, number>()
  const start = (job: ScheduledJob) => {
    const run = runJob(deps, job).finally(() => running.delete(job.name))
    running.set(job.name, run)
  }
  const canStart = ({ name, everyMs }: ScheduledJob, nowMs: number): boolean => {
    const waitMs = (nextTimes.get(name) ?? nowMs) - nowMs
    return !running.has(name) && (waitMs <= 0 || waitMs > everyMs + clockSlackMs)
  }
  return {
    startDue: async () => {
      const now = deps.clock.now()
      const { due, failures } = await findDueJobs(jobs.filter((job) => canStart(job, now.getTime())))
      if (due.length > 0) {
        for (const { name, nextAt, isTaken } of await claimRuns(deps.db, due, now)) {
          nextTimes.set(name, nextAt.getTime())
          const job = due.find((one) => one.name === name)
          if (isTaken && job !== undefined) start(job)
        }
      }
      if (failures.length > 0) throw failures[0]
    },
    idle: async () => {
      await Promise.all(running.values())
    },
  }
}

/** Evaluates `isDue` of each job. A failure does not delay other jobs. */
async function findDueJobs(jobs: readonly ScheduledJob[]): Promise<{ due: ScheduledJob[]; failures: unknown[] }> {
  const failures: unknown[] = []
  const areDue = await Promise.all(
    jobs.map(async ({ isDue }) => {
      try {
        return isDue === undefined || (await isDue())
      } catch (error) {
        failures.push(error)
        return false
      }
    }),
  )
  return { due: jobs.filter((_, n) => areDue[n]), failures }
}

async function runJob({ log, onRun, tracer }: ScheduledJobDeps, job: ScheduledJob): Promise<void> {
  const { name, work, isQuiet, isSilent } = job
  const startedMs = performance.now()
  const span = isQuiet || isSilent ? undefined : tracer?.begin('internal', `job ${name}`, { 'parley.job': name }, null)
  try {
    const count = await (span === undefined ? work() : inSpan(span, work))
    if (!isSilent && (!isQuiet || count !== 0)) log.info('scheduled job finished', { job: name, count })
    onRun?.(name, 'done', performance.now() - startedMs)
  } catch (error) {
    log.warn('scheduled job failed; running again at its next time', { job: name }, error)
    onRun?.(name, 'failed', performance.now() - startedMs)
  }
}

interface ClaimedRun {
  name: string
  nextAt: Date
  isTaken: boolean
}

// Only reads while no job is due. A job that was never claimed, and that another process is claiming now, is missing.
async function claimRuns(db: Db, jobs: readonly ScheduledJob[], now: Date): Promise<ClaimedRun[]> {
  const names = jobs.map(({ name }) => name)
  const periodsMs = jobs.map(({ everyMs }) => everyMs)
  return db.statement(
    (tx) => tx<ClaimedRun[]>`
      with taken as (
        insert into chores as c (name, next_at)
        select due.name, ${now}::timestamptz + due.every_ms * interval '1 millisecond'
        from unnest(${names}::text[], ${periodsMs}::float8[]) as due (name, every_ms)
        where not exists (
          select 1
          from chores
          where name = due.name
            and next_at > ${now}
            and next_at <= ${now}::timestamptz + (due.every_ms + ${clockSlackMs}::float8) * interval '1 millisecond'
        )
        order by due.name
        on conflict (name) do update
        set next_at = excluded.next_at
        where c.next_at <= ${now}
          or c.next_at > excluded.next_at + ${clockSlackMs}::float8 * interval '1 millisecond'
        returning name, next_at
      )
      select name, next_at as "nextAt", true as "isTaken"
      from taken
      union all
      select name, next_at, false
      from chores
      where name = any (${names}::text[])
        and name not in (select name from taken)`,
  )
}
