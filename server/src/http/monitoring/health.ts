import { randomUUID } from 'node:crypto'
import { Type } from 'typebox'
import { withTimeout } from '../../base/async/loop.ts'
import type { Db } from '../../base/db.ts'
import { unavailable } from '../../base/errors.ts'
import { type App, errors } from '../../base/route.ts'
import { runAsService } from '../../base/scheduling/work-context.ts'

export const paths = { alive: '/healthz', ready: '/readyz' } as const

const healthy = Type.Object({ status: Type.Literal('ok') }, { additionalProperties: false })

/**
 * Serves `/healthz`, 200 while the process runs, and `/readyz`, 200 while `checkDatabase` resolves and the server is not
 * stopping; else 503 with `data.code` `DATABASE_UNAVAILABLE` or `DRAINING`.
 */
export function serveHealth(app: App, checkDatabase: () => Promise<unknown>): void {
  app.get(
    paths.alive,
    {
      exposeHeadRoute: true,
      schema: {
        tags: ['Service'],
        operationId: 'getLiveness',
        summary: 'Check liveness',
        description: 'Always 200 while the process runs, regardless of the database.',
        security: [],
        response: { 200: { ...healthy, description: 'The process is running.' }, ...errors(400) },
      },
    },
    async () => ({ status: 'ok' as const }),
  )
  app.get(
    paths.ready,
    {
      exposeHeadRoute: true,
      schema: {
        tags: ['Service'],
        operationId: 'getReadiness',
        summary: 'Check readiness',
        description:
          'For load balancers: 503 if the database cannot read or write within 3 s, or the server is stopping.',
        security: [],
        response: { 200: { ...healthy, description: 'The process can serve.' }, ...errors(400, 503) },
      },
    },
    async () => {
      try {
        await checkDatabase()
        return { status: 'ok' as const }
      } catch {
        throw unavailable('The database is not responding', { code: 'DATABASE_UNAVAILABLE' }, 1)
      }
    },
  )
}

/** `leaving`: serves all requests and closes their connections. `closing`: finishes running requests only. */
type Stage = 'open' | 'leaving' | 'closing'

const stages = new WeakMap<App, Stage>()

/**
 * Makes `/readyz` report that the server is stopping, and closes the connection after every response, so that the load
 * balancer routes the next request elsewhere. All other routes work until the app closes.
 */
export function startDraining(app: App): void {
  stages.set(app, 'leaving')
}

/** Finishes running requests while the app closes, and answers 503 to new ones on kept-alive connections. */
export function rejectWhileClosing(app: App): void {
  stages.set(app, 'open')
  app.addHook('preClose', async () => {
    stages.set(app, 'closing')
  })
  app.addHook('onRequest', (request, reply, done) => {
    const stage = stages.get(app)
    if (stage === 'open') return done()
    // Set on the raw response, for streams that bypass the reply.
    reply.raw.setHeader('connection', 'close')
    const isReadiness = request.routeOptions.url === paths.ready
    if (request.routeOptions.url === paths.alive || (stage === 'leaving' && !isReadiness)) return done()
    done(unavailable('The server is stopping. Retry the request.', isReadiness ? { code: 'DRAINING' } : undefined))
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (stages.get(app) !== 'open') reply.header('connection', 'close')
    done(null, payload)
  })
}

/** Minimum milliseconds between test writes: a write waits for the disk, and for synchronous standbys. */
const writeIntervalMs = 5_000
/** Milliseconds after which the database counts as unavailable. */
const defaultMaxWaitMs = 3_000

interface ReadinessOptions {
  nowMs?: () => number
  maxWaitMs?: number
}

/**
 * Returns a check that resolves if the database reads and writes, and rejects if it does not within 3 s. Frequent
 * checks share one write per 5 s, and a write that hangs is abandoned.
 */
export function createReadinessCheck(db: Pick<Db, 'sql' | 'tx'>, options: ReadinessOptions = {}): () => Promise<void> {
  const { nowMs = () => performance.now(), maxWaitMs = defaultMaxWaitMs } = options
  const processId = randomUUID()
  let wroteAtMs = Number.NEGATIVE_INFINITY
  let writing: Promise<void> | null = null

  const write = async () => {
    const startedAtMs = nowMs()
    const attempt = writeRow(db, processId)
    let isFinished = false
    const finish = () => {
      isFinished = true
      writing = null
    }
    attempt.written.then(finish, finish)
    try {
      await withTimeout(maxWaitMs, () => attempt.written)
      wroteAtMs = startedAtMs
    } catch (error) {
      // Not awaited: a server that hangs does not respond to this either.
      if (!isFinished) attempt.end().catch(() => undefined)
      throw error
    }
  }

  return () =>
    runAsService(async () => {
      if (nowMs() - wroteAtMs >= writeIntervalMs) writing ??= write()
      await Promise.all([withTimeout(maxWaitMs, async () => db.sql`select 1`), writing])
    })
}

interface WriteAttempt {
  written: Promise<void>
  /** Ends the session of a hanging write: the server keeps each of them for as long as it has no standby. */
  end(): Promise<void>
}

function writeRow({ sql, tx: transaction }: Pick<Db, 'sql' | 'tx'>, processId: string): WriteAttempt {
  let session: { pid: number; since: string } | undefined
  let isAbandoned = false
  const written = transaction(async (tx) => {
    const [row] = await tx<{ pid: number; since: string }[]>`select pg_backend_pid() as pid, now()::text as since`
    if (isAbandoned) throw new Error('Request cancelled')
    session = row
    await tx`
      with gone as (
        delete from process_writes
        where written_at < now() - interval '1 hour'
          and process_id <> ${processId}
      )
      insert into process_writes (process_id, written_at)
      values (${processId}, now())
      on conflict (process_id) do update
      set written_at = excluded.written_at`
  })
  return {
    written,
    end: async () => {
      isAbandoned = true
      if (session === undefined) return
      // Terminates instead of cancels: a commit that is cancelled while it waits for a standby is reported as done.
      await sql`
        select pg_terminate_backend(pid)
        from pg_stat_activity
        where pid = ${session.pid}
          and xact_start = ${session.since}::timestamptz`
    },
  }
}
