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
 * `/healthz`: the process runs. `/readyz`: it can serve, that is, `askDatabase` resolves and the server is not stopping;
 * else 503 with `data.code` `DATABASE_UNAVAILABLE` or `DRAINING`.
 */
export function serveHealth(app: App, askDatabase: () => Promise<unknown>): void {
  app.get(
    paths.alive,
    {
      exposeHeadRoute: true,
      schema: {
        tags: ['Service'],
        operationId: 'getLiveness',
        summary: 'Is the process alive',
        description: 'Always 200 while the process runs, whatever the state of the database.',
        security: [],
        response: { 200: { ...healthy, description: 'Alive.' }, ...errors(400) },
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
        summary: 'Can the process serve',
        description:
          'For load balancers: 503 when the database does not read, or not write, within 3 s, or the server is stopping.',
        security: [],
        response: { 200: { ...healthy, description: 'Ready.' }, ...errors(400, 503) },
      },
    },
    async () => {
      try {
        await askDatabase()
        return { status: 'ok' as const }
      } catch {
        throw unavailable('The database does not answer', { code: 'DATABASE_UNAVAILABLE' }, 1)
      }
    },
  )
}

/** `leaving`: it serves as ever, and sends callers elsewhere. `closing`: it only ends what it has begun. */
type Stage = 'open' | 'leaving' | 'closing'

const stages = new WeakMap<App, Stage>()

/**
 * From now on `/readyz` says that the server is leaving, and every answer ends its connection, so that the next request
 * comes by another, to wherever a balancer sends it. Until the app is closed all else is served as before.
 */
export function startDraining(app: App): void {
  stages.set(app, 'leaving')
}

/** Once the app is closing, running requests end, and whatever else comes by a connection that was kept gets 503. */
export function refuseWhileClosing(app: App): void {
  stages.set(app, 'open')
  app.addHook('preClose', async () => {
    stages.set(app, 'closing')
  })
  app.addHook('onRequest', (request, reply, done) => {
    const stage = stages.get(app)
    if (stage === 'open') return done()
    // Also where the answer is written past the server, as streams are.
    reply.raw.setHeader('connection', 'close')
    const isReadiness = request.routeOptions.url === paths.ready
    if (request.routeOptions.url === paths.alive || (stage === 'leaving' && !isReadiness)) return done()
    done(unavailable('The server is stopping. Send this again.', isReadiness ? { code: 'DRAINING' } : undefined))
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (stages.get(app) !== 'open') reply.header('connection', 'close')
    done(null, payload)
  })
}

/** A write waits for the disk, and for a standby where the server has to: so often is enough. */
const writeEveryMs = 5_000
/** What takes longer no caller of the service would wait for. */
const longestWaitMs = 3_000

interface ReadinessOptions {
  nowMs?: () => number
  maxWaitMs?: number
}

/**
 * Resolves when the database reads and writes, and rejects when it does not within 3 s. Who asks often shares a write in
 * 5 s, and while one does not come to its end nobody waits for it any more.
 */
export function createReadiness(db: Pick<Db, 'sql' | 'tx'>, options: ReadinessOptions = {}): () => Promise<void> {
  const { nowMs = () => performance.now(), maxWaitMs = longestWaitMs } = options
  const processId = randomUUID()
  let wroteAtMs = Number.NEGATIVE_INFINITY
  let writing: Promise<void> | null = null

  const write = async () => {
    const begunAtMs = nowMs()
    const attempt = writeRow(db, processId)
    let isOver = false
    const over = () => {
      isOver = true
      writing = null
    }
    attempt.written.then(over, over)
    try {
      await withTimeout(maxWaitMs, () => attempt.written)
      wroteAtMs = begunAtMs
    } catch (error) {
      // Not waited for: a server that says nothing does not answer this either.
      if (!isOver) attempt.end().catch(() => undefined)
      throw error
    }
  }

  return () =>
    runAsService(async () => {
      if (nowMs() - wroteAtMs >= writeEveryMs) writing ??= write()
      await Promise.all([withTimeout(maxWaitMs, async () => db.sql`select 1`), writing])
    })
}

interface Attempt {
  written: Promise<void>
  /** Ends the session that is at it: the server would keep each of them for as long as it has no standby. */
  end(): Promise<void>
}

function writeRow({ sql, tx: transaction }: Pick<Db, 'sql' | 'tx'>, processId: string): Attempt {
  let session: { pid: number; since: string } | undefined
  let isGivenUp = false
  const written = transaction(async (tx) => {
    const [row] = await tx<{ pid: number; since: string }[]>`select pg_backend_pid() as pid, now()::text as since`
    if (isGivenUp) throw new Error('Nobody waits for this write any more')
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
      isGivenUp = true
      if (session === undefined) return
      // Ended and not cancelled: of a commit that is cancelled while it waits for a standby the server says that it is done.
      await sql`
        select pg_terminate_backend(pid)
        from pg_stat_activity
        where pid = ${session.pid}
          and xact_start = ${session.since}::timestamptz`
    },
  }
}
