import type { Clock } from '../base/clock.ts'
import type { Db, Sql, Tx } from '../base/db.ts'
import { type DueWatch, watchDue } from '../base/news/due-watch.ts'
import type { KeyedTables } from '../base/sealing/keyed-table.ts'
import type { Vault } from '../base/sealing/vault.ts'

/** A new secret on its way into every row of a scope; decision 013 tells why it takes these steps. */
export interface Rotation {
  id: string
  scope_id: string
  purpose: Purpose
  to_version: number
  phase: 'announced' | 'current' | 'rewriting'
  at_table: string | null
  at_key: string[] | null
}

export const purposes = ['data', 'index'] as const
export type Purpose = (typeof purposes)[number]

export interface RotationDeps {
  db: Db
  vault: Vault
  clock: Clock
  tables: KeyedTables
}

/** By then every request uses keys that know of a change: they are loaded every 10 s, and requests end within 15 s. */
export const noticeMs = 30_000

/** Within the time of notice, which a rotation begins with: no news need tell of one. */
const askEveryMs = 15_000

/** Whether there is a step to take. */
export function watchRotations({ db, clock }: Pick<RotationDeps, 'db' | 'clock'>): DueWatch {
  const nextAt = async () => {
    const [row] = await db.sql<{ at: Date | null }[]>`
      select min(due_at) as at
      from key_rotations
      where finished_at is null`
    return row?.at ?? null
  }
  return watchDue({ db, clock }, { nextAt, askEveryMs })
}

/** The next one that is due, locked; none while other workers have them all. */
export async function lockDueRotation(tx: Tx, now: Date): Promise<Rotation | undefined> {
  const [row] = await tx<Rotation[]>`
    select id, scope_id, purpose, to_version, phase, at_table, at_key
    from key_rotations
    where finished_at is null
      and due_at <= ${now}
    order by due_at
    limit 1
    for update skip locked`
  return row
}

export interface Progress {
  running: number
  finished: number
  rows_total: number
  rows_done: number
  rewriting_at: Date | null
}

/** How far the rotations are that began then or later. */
export async function readProgress(sql: Sql, since: Date): Promise<Progress> {
  const [row] = await sql<Progress[]>`
    select
      count(*) filter (where finished_at is null) as running,
      count(*) filter (where finished_at is not null) as finished,
      coalesce(sum(rows_total), 0)::bigint as rows_total,
      coalesce(sum(rows_done), 0)::bigint as rows_done,
      min(rewriting_at) as rewriting_at
    from key_rotations
    where started_at >= ${since}`
  return row ?? { running: 0, finished: 0, rows_total: 0, rows_done: 0, rewriting_at: null }
}

/** When the oldest of those began that are not finished. */
export async function findOldestStart(sql: Sql): Promise<Date | null> {
  const [row] = await sql<{ started_at: Date | null }[]>`
    select min(started_at) as started_at
    from key_rotations
    where finished_at is null`
  return row?.started_at ?? null
}
