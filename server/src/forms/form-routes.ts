import { decodeCursor, encodeCursor } from '../base/cursor.ts'
import type { Sql } from '../base/db.ts'
import type { KeyStore } from '../base/encryption/key-store.ts'
import type { Keyring } from '../base/encryption/keyring.ts'
import { badRequest, invalid } from '../base/errors.ts'
import { isUuid } from '../base/id.ts'
import type { App } from '../base/route.ts'
import { html } from '../base/text/html.ts'
import { isTimeZone, lastDays } from '../base/time.ts'
import { decryptLead } from '../leads/lead/encrypted-lead.ts'
import { findLeadsByIds } from '../leads/lead/queries.ts'
import type { TeamGuard } from '../team/member.ts'
import { type TeamApi, teamApi } from '../team/team-api.ts'
import { changeForm, createForm, draftForm, type FormDeps, removeForm } from './form/change.ts'
import { decoyField, type Form, findForm, formNotFound, listForms } from './form/form.ts'
import type { NewForm } from './form/schema.ts'
import * as schema from './form/schema.ts'
import { fieldHtml, formPage, thanksPage, untouched } from './page/page.ts'
import type { Answer } from './submit/submission.ts'
import type { SubmissionCount, SubmissionRow } from './submit/submissions.ts'
import { answersContext, countByDay, countSubmissions, listSubmissions } from './submit/submissions.ts'

const path = '/api/team/v1/workspaces/:workspaceId/forms'

const ofWorkspace = { params: schema.Workspace, query: schema.NoQuery }
const ofForm = { params: schema.WorkspaceForm, query: schema.NoQuery }

interface TeamFormDeps extends FormDeps {
  keyStore: KeyStore
  /** Public base URL, without a trailing slash. */
  publicUrl: string
}

/** Adds the team's routes for forms: members read them, admins edit them. */
export function formTeamRoutes(app: App, deps: TeamFormDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Forms')
  api.get(path, 'member', {
    operationId: 'listForms',
    summary: 'List lead forms',
    description: 'Newest first, including inactive ones, with the number of submissions.',
    ...ofWorkspace,
    answers: { 200: schema.FormList },
    run: async ({ member }) => {
      const { workspaceId } = member
      const [forms, counts] = await Promise.all([
        listForms(deps.db.sql, workspaceId),
        countSubmissions(deps.db.sql, workspaceId),
      ])
      return { forms: forms.map((form) => presentListed(deps.publicUrl, form, counts.get(form.id))) }
    },
  })
  api.get(`${path}/:formId`, 'member', {
    operationId: 'getForm',
    summary: 'Get a lead form',
    description: 'Returns its definition, public URL and the HTML to embed it in another site.',
    ...ofForm,
    answers: { 200: schema.OneForm },
    run: async ({ member, params }) => {
      const form = await findForm(deps.db.sql, member.workspaceId, params.formId)
      if (form === undefined) throw formNotFound()
      return { form: presentForm(deps.publicUrl, form) }
    },
  })
  submissionRoutes(api, deps)
  api.post(`${path}/preview`, 'member', {
    operationId: 'previewForm',
    summary: 'Preview a lead form',
    description:
      'Renders the pages without storing anything. They contain no script and load their style from this service.',
    ...ofWorkspace,
    body: schema.NewForm,
    answers: { 200: schema.FormPreview },
    run: ({ member, body }) => previewForm(member.workspaceId, body, deps.clock.now()),
  })
  changeRoutes(api, deps)
}

function changeRoutes(api: TeamApi, deps: TeamFormDeps): void {
  api.post(path, 'admin', {
    operationId: 'createForm',
    summary: 'Create a lead form',
    description: 'For admins. Without a `slug`, one is derived from the title. At most 200 forms per workspace.',
    ...ofWorkspace,
    body: schema.NewForm,
    answers: { 201: schema.OneForm },
    errors: [409],
    run: async ({ member, body }) => {
      return { form: presentForm(deps.publicUrl, await createForm(deps, member, body)) }
    },
  })
  api.patch(`${path}/:formId`, 'admin', {
    operationId: 'updateForm',
    summary: 'Change a lead form',
    description:
      'For admins. Send only the fields to change; `fields` is replaced as a whole. Existing leads do not change.',
    ...ofForm,
    body: schema.FormChanges,
    answers: { 200: schema.OneForm },
    errors: [409],
    run: async ({ member, params, body }) => {
      return { form: presentForm(deps.publicUrl, await changeForm(deps, member, params.formId, body)) }
    },
  })
  api.delete(`${path}/:formId`, 'admin', {
    operationId: 'deleteForm',
    summary: 'Delete a lead form',
    description: 'For admins. Deletes the form and the records of its submissions, but not its leads.',
    ...ofForm,
    answers: { 200: schema.Deleted },
    run: async ({ member, params }) => {
      await removeForm(deps, member, params.formId)
      return { success: true, message: 'Form deleted successfully' }
    },
  })
}

/** Renders the pages of a form that is not stored. Throws 400 for an invalid definition. */
function previewForm(workspaceId: string, input: NewForm, now: Date): { page: string; thanks: string } {
  const form = draftForm(workspaceId, input, now)
  const page = formPage({ form, token: '', carried: [], values: {}, refusal: null })
  return { page: page.toString(), thanks: thanksPage(form).toString() }
}

function presentForm(publicUrl: string, form: Form) {
  const { workspaceId: _, createdAt, updatedAt, ...shown } = form
  return {
    ...shown,
    url: formUrl(publicUrl, form),
    embedHtml: embedHtml(publicUrl, form),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  }
}

function presentListed(publicUrl: string, form: Form, counted: SubmissionCount | undefined) {
  return {
    ...presentForm(publicUrl, form),
    submissionCount: counted?.count ?? 0,
    lastSubmissionAt: counted?.lastAt.toISOString() ?? null,
  }
}

/** Returns a plain form for a page of another site, without styles. That site's origin must be allowed. */
function embedHtml(publicUrl: string, form: Form): string {
  // Our CSS class has no effect there, so the honeypot is hidden by an inline style.
  return html`<form method="post" action="${formUrl(publicUrl, form)}" accept-charset="utf-8">
${form.fields.map((field) => html`${fieldHtml(field, untouched)}\n`)}<div aria-hidden="true" style="position:absolute;left:-10000px"><label>Homepage <input name="${decoyField}" tabindex="-1" autocomplete="off"></label></div>
<button type="submit">${form.submitLabel}</button>
</form>`.toString()
}

function formUrl(publicUrl: string, form: Pick<Form, 'slug'>): string {
  return `${publicUrl}/f/${form.slug}`
}

const submissionsPath = `${path}/:formId/submissions`

function submissionRoutes(api: TeamApi, { db, clock, keyStore }: TeamFormDeps): void {
  api.get(submissionsPath, 'member', {
    operationId: 'listSubmissions',
    summary: 'List submissions of a form',
    description: 'Newest first, with answers.',
    params: schema.WorkspaceForm,
    query: schema.SubmissionsQuery,
    answers: { 200: schema.SubmissionList },
    run: async ({ member, params, query }) => {
      const { workspaceId } = member
      const { formId } = params
      const { limit, cursor } = query
      const before = cursor === undefined ? null : parseCursor(cursor, formId)
      if ((await findForm(db.sql, workspaceId, formId)) === undefined) throw formNotFound()
      const rows = await listSubmissions(db.sql, workspaceId, formId, limit + 1, before)
      const page = rows.slice(0, limit)
      const keyring = await keyStore.keyring(workspaceId)
      const leads = await leadsOf(db.sql, keyring, workspaceId, page)
      return {
        submissions: page.map((row) => {
          const lead = leads.get(row.lead_id) ?? null
          return {
            id: row.id,
            leadId: row.lead_id,
            submittedAt: row.submitted_at.toISOString(),
            lead,
            // Answers of a deleted lead must not be readable here.
            answers: lead === null ? null : decryptAnswers(keyring, row),
          }
        }),
        nextCursor: rows.length > limit ? encodeCursor([formId, page.at(-1)?.id]) : null,
      }
    },
  })
  api.get(`${submissionsPath}/days`, 'member', {
    operationId: 'countSubmissions',
    summary: 'Count submissions of a form by day',
    description: 'Includes days without submissions.',
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
      const { id, firstName, lastName, status } = decryptLead(keyring, row)
      return [id, { name: [firstName, lastName].filter(Boolean).join(' '), status }]
    }),
  )
}

function decryptAnswers(keyring: Keyring, { id, answers }: SubmissionRow): Answer[] | null {
  return answers === null ? null : JSON.parse(keyring.decryptText(answersContext(id), answers))
}

function parseCursor(text: string, formId: string): string {
  const [form, id, extra] = decodeCursor(text) ?? []
  if (form !== formId || typeof id !== 'string' || !isUuid(id) || extra !== undefined) {
    throw badRequest('Invalid cursor format')
  }
  return id
}
