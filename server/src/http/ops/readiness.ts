import { randomUUID } from 'node:crypto'
import { withTimeout } from '../../base/async/timeout.ts'
import type { Db } from '../../base/db.ts'
import { asService } from '../../base/shares/work.ts'

/** A write waits for the disk, and for a standby where the server has to: so often is enough. */
const writeEveryMs = 5_000
/** What takes longer no caller of the service would wait for. */
const longestWaitMs = 3_000

export interface ReadinessOptions {
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
    asService(async () => {
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
