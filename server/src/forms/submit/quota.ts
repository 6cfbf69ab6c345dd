import type { Sql, Tx } from '../../base/db.ts'
import { isSpread } from '../../base/distribution/spread.ts'
import { tooManyRequests } from '../../base/errors.ts'
import { secondsToNextUtcDay, startOfUtcDay } from '../../base/time.ts'

// Anybody can post a form. Half of the day's leads stay for keys and people, and no form takes what others have.
const shares = { all: 2, each: 4 } as const

/** Counts a lead of the form against the forms' share of the daily lead quota; throws 429 when it is used up. */
export async function takeFormQuota(tx: Tx, workspaceId: string, formId: string, now: Date): Promise<void> {
  const day = startOfUtcDay(now)
  const first = await takeOne(tx, workspaceId, day, workspaceId, shares.all)
  const one = first === undefined ? undefined : await takeOne(tx, workspaceId, day, formId, shares.each)
  if (first === undefined || one === undefined) {
    throw tooManyRequests('Daily lead limit of forms reached', secondsToNextUtcDay(now))
  }
  if (first > 1) return
  await tx`
    delete from form_quota
    where workspace_id = ${workspaceId}
      and day < ${day}::date`
}

/** How many there are of the day with this one; undefined when there is no room for it. */
async function takeOne(
  tx: Tx,
  workspaceId: string,
  day: Date,
  ofId: string,
  share: number,
): Promise<number | undefined> {
  const [row] = await tx<{ taken: number }[]>`
    insert into form_quota as q (workspace_id, day, form_id, taken)
    values (${workspaceId}, ${day}::date, ${ofId}, 1)
    on conflict (workspace_id, day, form_id) do update
    set taken = q.taken + 1
    where q.taken < ${isSpread(tx) ? tx`${await readMost(tx, workspaceId, share)}` : tx`(${mostOf(tx, workspaceId, share)})`}
    returning taken`
  return row?.taken
}

const mostOf = (sql: Sql, workspaceId: string, share: number) => sql`
  select case when daily_lead_quota = 0 then 2147483647 else greatest(1, daily_lead_quota / ${share}::integer) end as most
  from workspaces
  where id = ${workspaceId}`

/** Where rows are spread no insert asks another table. */
async function readMost(sql: Sql, workspaceId: string, share: number): Promise<number> {
  const [row] = await sql<{ most: number }[]>`${mostOf(sql, workspaceId, share)}`
  return row?.most ?? 0
}
