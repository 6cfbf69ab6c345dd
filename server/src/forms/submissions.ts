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
