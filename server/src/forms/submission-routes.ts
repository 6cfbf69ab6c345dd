import type { Clock } from '../base/clock.ts'
import { decodeCursor, encodeCursor } from '../base/cursor.ts'
import type { Db, Sql } from '../base/db.ts'
import { badRequest, invalid } from '../base/errors.ts'
import { isUuid } from '../base/id.ts'
import type { App } from '../base/route.ts'
import type { Keyring } from '../base/sealing/keyring.ts'
import type { Vault } from '../base/sealing/vault.ts'
import { isTimeZone, lastDays } from '../base/time.ts'
import { findLeadsByIds } from '../leads/lead/queries.ts'
import { openLead } from '../leads/lead/sealed.ts'
import type { TeamGuard } from '../team/member.ts'
import { teamApi } from '../team/team-api.ts'
import { formNotFound } from './form/errors.ts'
import { findForm } from './form/queries.ts'
import * as schema from './form/schema.ts'
import type { Answer } from './submit/submission.ts'
import { answersOf, countByDay, listSubmissions, type SubmissionRow } from './submit/submissions.ts'

const path = '/api/team/v1/workspaces/:workspaceId/forms/:formId/submissions'

interface SubmissionDeps {
  db: Db
  vault: Vault
  clock: Clock
}

/** What a form was sent, one by one and by day. */
export function submissionTeamRoutes(app: App, deps: SubmissionDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Forms')
  const { db, clock, vault } = deps
  api.get(path, 'member', {
    operationId: 'listSubmissions',
    summary: 'List what a form was sent',
    description: 'Newest first, with what was filled in.',
    params: schema.WorkspaceForm,
    query: schema.SubmissionsQuery,
    answers: { 200: schema.SubmissionList },
    run: async ({ member, params, query }) => {
      const { workspaceId } = member
      const { formId } = params
      const { limit, cursor } = query
      const before = cursor === undefined ? null : readCursor(cursor, formId)
      if ((await findForm(db.sql, workspaceId, formId)) === undefined) throw formNotFound()
      const rows = await listSubmissions(db.sql, workspaceId, formId, limit + 1, before)
      const page = rows.slice(0, limit)
      const keyring = await vault.keyring(workspaceId)
      const leads = await leadsOf(db.sql, keyring, workspaceId, page)
      return {
        submissions: page.map((row) => {
          const lead = leads.get(row.lead_id) ?? null
          return {
            id: row.id,
            leadId: row.lead_id,
            submittedAt: row.submitted_at.toISOString(),
            lead,
            // What was deleted with the lead is not shown by another way.
            answers: lead === null ? null : openAnswers(keyring, row),
          }
        }),
        nextCursor: rows.length > limit ? encodeCursor([formId, page.at(-1)?.id]) : null,
      }
    },
  })
  api.get(`${path}/days`, 'member', {
    operationId: 'countSubmissions',
    summary: 'Count what a form was sent by day',
    description: 'Days without a submission are there too.',
    params: schema.WorkspaceForm,
    query: schema.SubmissionDaysQuery,
    answers: { 200: schema.SubmissionDays },
    run: async ({ member, params, query }) => {
      const { workspaceId } = member
      const { formId } = params
      const { tz } = query
      if (!isTimeZone(tz)) throw invalid('tz', 'must be the IANA name of a time zone', 'query')
      if ((await findForm(db.sql, workspaceId, formId)) === undefined) throw formNotFound()
      const days = lastDays(tz, query.days, clock.now())
      const starts = days.map(({ start }) => start)
      const counts = await countByDay(db.sql, workspaceId, formId, starts)
      const byDay = new Map(counts.map(({ day, count }) => [day, count]))
      return {
        total: counts.reduce((sum, { count }) => sum + count, 0),
        days: days.map(({ date }, n) => ({ date, submissions: byDay.get(n + 1) ?? 0 })),
      }
    },
  })
}

async function leadsOf(sql: Sql, keyring: Keyring, workspaceId: string, page: readonly SubmissionRow[]) {
  const ids = [...new Set(page.map(({ lead_id }) => lead_id))]
  const rows = await findLeadsByIds(sql, workspaceId, ids)
  return new Map(
    rows.map((row) => {
      const { id, firstName, lastName, status } = openLead(keyring, row)
      return [id, { name: [firstName, lastName].filter(Boolean).join(' '), status }]
    }),
  )
}

function openAnswers(keyring: Keyring, { id, answers }: SubmissionRow): Answer[] | null {
  return answers === null ? null : JSON.parse(keyring.openText(answersOf(id), answers))
}

function readCursor(text: string, formId: string): string {
  const [form, id, extra] = decodeCursor(text) ?? []
  if (form !== formId || typeof id !== 'string' || !isUuid(id) || extra !== undefined) {
    throw badRequest('Invalid cursor format')
  }
  return id
}
