import type { Sql, Tx } from '../base/db.ts'

export interface SubmissionRow {
  id: string
  lead_id: string
  submitted_at: Date
}

/** Claims the nonce of a page for a lead; the second claim violates `form_submissions_nonce_key`. */
export async function insertSubmission(
  tx: Tx,
  workspaceId: string,
  submission: { id: string; formId: string; leadId: string; nonce: string; submittedAt: Date },
): Promise<void> {
  const { id, formId, leadId, nonce, submittedAt } = submission
  await tx`
    insert into form_submissions (workspace_id, id, form_id, lead_id, nonce, submitted_at)
    values (${workspaceId}, ${id}, ${formId}, ${leadId}, ${nonce}, ${submittedAt})`
}

/** Newest first; `before` is the id of the last one already seen. */
export async function listSubmissions(
  sql: Sql,
  workspaceId: string,
  formId: string,
  limit: number,
  before: string | null,
): Promise<SubmissionRow[]> {
  return sql<SubmissionRow[]>`
    select id, lead_id, submitted_at
    from form_submissions
    where workspace_id = ${workspaceId}
      and form_id = ${formId}
      and (${before}::uuid is null or id < ${before}::uuid)
    order by id desc
    limit ${limit}`
}

export interface Received {
  count: number
  lastAt: Date | null
}

/** So many are counted of each form: further, the number says no more. */
export const countUpTo = 10_000

/** How much forms were sent, by the id of the form; those that were sent nothing are not in it. */
export async function countSubmissions(
  sql: Sql,
  workspaceId: string,
  formIds: readonly string[],
): Promise<ReadonlyMap<string, Received>> {
  const rows = await sql<(Received & { id: string })[]>`
    select f.id, s.count, last.submitted_at as "lastAt"
    from unnest(${formIds as string[]}::uuid[]) as f (id)
    cross join lateral (
      select count(*)::integer as count
      from (
        select 1
        from form_submissions
        where workspace_id = ${workspaceId}
          and form_id = f.id
        limit ${countUpTo}
      ) as sent
    ) as s
    cross join lateral (
      select submitted_at
      from form_submissions
      where workspace_id = ${workspaceId}
        and form_id = f.id
      order by id desc
      limit 1
    ) as last`
  return new Map(rows.map(({ id, ...received }) => [id, received]))
}
