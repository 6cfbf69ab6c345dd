import type { Sql, Tx } from '../../base/db.ts'
import { createStep, type ErasureScope, type ErasureStep } from '../../base/erasure.ts'
import { timestampArray } from '../../base/postgres/values.ts'
import type { LeadDeps } from '../../leads/lead/lead.ts'
import { hiddenWorkspaceId } from '../../leads/lead/queries.ts'
import { idBefore, positionOfId, type TimelineEntry, type TimelineSlice } from '../../leads/timeline/entries.ts'
import type { Answer } from './submission.ts'

export interface SubmissionRow {
  id: string
  lead_id: string
  submitted_at: Date
  /** Encrypted; null for submissions from before answers were stored. */
  answers: Buffer | null
}

export const answersContext = (id: string) => ({ table: 'form_submissions', row: id, column: 'answers' })

/** Claims the page's nonce for a lead. A second claim violates `form_submissions_nonce_key`. */
export async function insertSubmission(
  tx: Tx,
  workspaceId: string,
  submission: { id: string; formId: string; leadId: string; nonce: string; submittedAt: Date; answers: Buffer },
): Promise<void> {
  const { id, formId, leadId, nonce, submittedAt, answers } = submission
  await tx`
    insert into form_submissions (workspace_id, id, form_id, lead_id, nonce, submitted_at, answers)
    values (${workspaceId}, ${id}, ${formId}, ${leadId}, ${nonce}, ${submittedAt}, ${answers})`
}

/** Lists submissions, newest first. `before` is the last id already seen. */
export async function listSubmissions(
  sql: Sql,
  workspaceId: string,
  formId: string,
  limit: number,
  before: string | null,
): Promise<SubmissionRow[]> {
  return sql<SubmissionRow[]>`
    select id, lead_id, submitted_at, answers
    from form_submissions
    where workspace_id = ${workspaceId}
      and form_id = ${formId}
      and (${before}::uuid is null or id < ${before}::uuid)
    order by id desc
    limit ${limit}`
}

/** Returns the form submissions of a lead, newest first, for its timeline. */
export async function listLeadSubmissions(
  { db, keyStore }: Pick<LeadDeps, 'db' | 'keyStore'>,
  workspaceId: string,
  leadId: string,
  { before, limit }: TimelineSlice,
): Promise<TimelineEntry[]> {
  const keyring = await keyStore.keyring(workspaceId)
  const beforeId = idBefore(before)
  const rows = await db.sql<(Omit<SubmissionRow, 'lead_id'> & { form_id: string; name: string })[]>`
    select s.id, s.form_id, f.name, s.submitted_at, s.answers
    from (
      select id, form_id, submitted_at, answers
      from form_submissions
      where workspace_id = ${hiddenWorkspaceId(db.sql, workspaceId)}
        and lead_id = ${leadId}
        ${beforeId === null ? db.sql`` : db.sql`and id < ${beforeId}::uuid`}
      order by id desc
      limit ${limit}
    ) as s
    join forms f
      on f.workspace_id = ${workspaceId}
      and f.id = s.form_id
    order by s.id desc`
  return rows.map(({ id, form_id, name, answers }) => ({
    ...positionOfId(id),
    kind: 'submission',
    actor: { type: 'form', id: form_id },
    form: { id: form_id, name },
    answers:
      answers === null
        ? []
        : JSON.parse(keyring.decryptText(answersContext(id), answers)).map(({ label, value }: Answer) => ({
            label,
            value,
          })),
  }))
}

export interface SubmissionCount {
  count: number
  lastAt: Date
}

/** Returns the number of submissions of each form. Forms without submissions are not included. */
export async function countSubmissions(sql: Sql, workspaceId: string): Promise<Map<string, SubmissionCount>> {
  const rows = await sql<(SubmissionCount & { form_id: string })[]>`
    select form_id, count(*)::integer as count, max(submitted_at) as "lastAt"
    from form_submissions
    where workspace_id = ${workspaceId}
    group by form_id`
  return new Map(rows.map(({ form_id, count, lastAt }) => [form_id, { count, lastAt }]))
}

/** Returns the number of submissions of a form on each day, numbered from 1; the last day ends now. */
export async function countByDay(
  sql: Sql,
  workspaceId: string,
  formId: string,
  starts: readonly Date[],
): Promise<{ day: number; count: number }[]> {
  return sql<{ day: number; count: number }[]>`
    select width_bucket(submitted_at, ${timestampArray(starts)}::timestamptz[]) as day,
      count(*)::integer as count
    from form_submissions
    where workspace_id = ${workspaceId}
      and form_id = ${formId}
      and submitted_at >= ${starts[0] ?? null}::timestamptz
    group by 1`
}

/** Returns the number of submissions that created or changed a lead. */
export async function countLeadSubmissions(sql: Sql, workspaceId: string, leadId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count
    from form_submissions
    where workspace_id = ${workspaceId}
      and lead_id = ${leadId}`
  return row?.count ?? 0
}

/** Erases the customer's form submissions. Their answers are stored with the lead. */
export async function eraseSubmissions(tx: Tx, { workspaceId, customer }: ErasureScope): Promise<ErasureStep> {
  const erased = await tx`
    delete from form_submissions
    where workspace_id = ${workspaceId}
      and lead_id = any (${customer.leadIds}::uuid[])`
  return createStep({ submissions: erased.count }, false)
}
