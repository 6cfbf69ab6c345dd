import type { Clock } from './clock.ts'
import type { Db } from './db.ts'
import type { Log } from './log.ts'
import { inSpan } from './scheduling/work-context.ts'
import type { Tracer } from './tracing/span.ts'

/** Work that is done again and again, by one process of several each time. It must bear being cut short and repeated. */
export interface ScheduledJob {
  name: string
  /** Between two runs, at least: of one that is asked whether it is due, nobody runs it meanwhile. */
  everyMs: number
  /** Whether this process knows of something to do, when its turn has come; always unless given. */
  isDue?: () => boolean | Promise<boolean>
  /** Returns how much there was to do, for the log; `undefined` when it does not count. */
  work(): Promise<number | undefined>
  /** Leaves no log line when there was nothing to do. */
  isQuiet?: boolean
  /** Leaves a log line only when it fails: it has something to do whenever somebody writes. */
  isSilent?: boolean
}

export interface ScheduledJobDeps {
  db: Db
  clock: Clock
  log: Log
  /** Begins a trace with each run of those that are neither quiet nor silent: the others look every few seconds. */
  tracer?: Tracer | undefined
  /** Told after each run. */
  ran?: (name: string, result: 'done' | 'failed', ms: number) => void
}

export interface ScheduledJobs {
  /** Begins the scheduled jobs whose turn has come, unless another process has taken it. */
  begin(): Promise<void>
  /** Resolves once none is running here. */
  idle(): Promise<void>
}

/** A clock that was set back leaves turns in a far future; two workers' clocks are never this far apart. */
const clockSlackMs = 300_000

/**
 * Whoever moves a job's next turn on does it, so that each period sees one run, however many processes look. A run
 * that dies with its process is not made up for: the next period's does what was left.
 */
export function createScheduledJobs(deps: ScheduledJobDeps, jobs: readonly ScheduledJob[]): ScheduledJobs {
  const running = new Map<string, Promise<void>>()
  /** The next turns, as far as they are known here: nobody asks for them before. */
  const turns = new Map<string, number>()
  const start = (job: ScheduledJob) => {
    const run = runJob(deps, job).finally(() => running.delete(job.name))
    running.set(job.name, run)
  }
  const mayBegin = ({ name, everyMs }: ScheduledJob, nowMs: number): boolean => {
    const waitMs = (turns.get(name) ?? nowMs) - nowMs
    return !running.has(name) && (waitMs <= 0 || waitMs > everyMs + clockSlackMs)
  }
  return {
    begin: async () => {
      const now = deps.clock.now()
      const { due, failures } = await findDueJobs(jobs.filter((job) => mayBegin(job, now.getTime())))
      if (due.length > 0) {
        for (const { name, nextAt, isTaken } of await claimRuns(deps.db, due, now)) {
          turns.set(name, nextAt.getTime())
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

/** One that cannot be asked holds up no other. */
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

async function runJob({ log, ran, tracer }: ScheduledJobDeps, job: ScheduledJob): Promise<void> {
  const { name, work, isQuiet, isSilent } = job
  const startedMs = performance.now()
  const span = isQuiet || isSilent ? undefined : tracer?.begin('internal', `job ${name}`, { 'parley.job': name }, null)
  try {
    const count = await (span === undefined ? work() : inSpan(span, work))
    if (!isSilent && (!isQuiet || count !== 0)) log.info('scheduled job finished', { job: name, count })
    ran?.(name, 'done', performance.now() - startedMs)
  } catch (error) {
    log.warn('scheduled job failed; running again at its next time', { job: name }, error)
    ran?.(name, 'failed', performance.now() - startedMs)
  }
}

interface ClaimedRun {
  name: string
  nextAt: Date
  isTaken: boolean
}

// While no turn has come this only reads. A turn that was never taken, and is by somebody else at this moment, is missing.
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
