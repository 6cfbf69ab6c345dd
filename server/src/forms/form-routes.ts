import type { App } from '../base/route.ts'
import type { Vault } from '../base/sealing/vault.ts'
import { html } from '../base/text/html.ts'
import type { TeamGuard } from '../team/member.ts'
import { type TeamApi, teamApi } from '../team/team-api.ts'
import { changeForm, createForm, draftForm, type FormDeps, removeForm } from './form/change.ts'
import { formNotFound } from './form/errors.ts'
import { decoyField, type Form } from './form/form.ts'
import { findForm, listForms } from './form/queries.ts'
import type { NewForm } from './form/schema.ts'
import * as schema from './form/schema.ts'
import { fieldHtml, untouched } from './page/field-html.ts'
import { formPage, thanksPage } from './page/page.ts'
import { submissionTeamRoutes } from './submission-routes.ts'
import { countSubmissions, type SubmissionCount } from './submit/submissions.ts'

const path = '/api/team/v1/workspaces/:workspaceId/forms'

export interface TeamFormDeps extends FormDeps {
  vault: Vault
  /** The address that people use, without a trailing slash. */
  publicUrl: string
}

/** The team's side of forms: members read them, admins write them. */
export function formTeamRoutes(app: App, deps: TeamFormDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Forms')
  api.get(path, 'member', {
    operationId: 'listForms',
    summary: 'List lead forms',
    description: 'Newest first, inactive ones included, with how often each was sent.',
    params: schema.Workspace,
    query: schema.NoQuery,
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
    summary: 'Read one lead form',
    description: 'Its definition, its public address, and what to paste into another site.',
    params: schema.WorkspaceForm,
    query: schema.NoQuery,
    answers: { 200: schema.OneForm },
    run: async ({ member, params }) => {
      const form = await findForm(deps.db.sql, member.workspaceId, params.formId)
      if (form === undefined) throw formNotFound()
      return { form: presentForm(deps.publicUrl, form) }
    },
  })
  submissionTeamRoutes(app, deps, guard)
  api.post(`${path}/preview`, 'member', {
    operationId: 'previewForm',
    summary: 'See the pages that a lead form would have',
    description: 'Nothing is kept. The pages hold no script; their style comes from this service.',
    params: schema.Workspace,
    query: schema.NoQuery,
    body: schema.NewForm,
    answers: { 200: schema.FormPreview },
    run: ({ member, body }) => previewForm(member.workspaceId, body, deps.clock.now()),
  })
  changeRoutes(api, deps)
}

/** What admins do with them. */
function changeRoutes(api: TeamApi, deps: TeamFormDeps): void {
  api.post(path, 'admin', {
    operationId: 'createForm',
    summary: 'Make a lead form',
    description: 'Role admin. Without a `slug` one is made of the title. At most 200 forms a workspace.',
    params: schema.Workspace,
    query: schema.NoQuery,
    body: schema.NewForm,
    answers: { 201: schema.OneForm },
    errors: [409],
    run: async ({ member, body }) => {
      const form = await createForm(deps, member, body)
      return { form: presentForm(deps.publicUrl, form) }
    },
  })
  api.patch(`${path}/:formId`, 'admin', {
    operationId: 'updateForm',
    summary: 'Change a lead form',
    description: 'Role admin. Send only what changes; `fields` is replaced as a whole. Leads made before stay.',
    params: schema.WorkspaceForm,
    query: schema.NoQuery,
    body: schema.FormChanges,
    answers: { 200: schema.OneForm },
    errors: [409],
    run: async ({ member, params, body }) => {
      const form = await changeForm(deps, member, params.formId, body)
      return { form: presentForm(deps.publicUrl, form) }
    },
  })
  api.delete(`${path}/:formId`, 'admin', {
    operationId: 'deleteForm',
    summary: 'Delete a lead form',
    description: 'Role admin. The form and the record of its submissions go, its leads stay.',
    params: schema.WorkspaceForm,
    query: schema.NoQuery,
    answers: { 200: schema.Deleted },
    run: async ({ member, params }) => {
      await removeForm(deps, member, params.formId)
      return { success: true, message: 'Form deleted successfully' }
    },
  })
}

/** The pages of a form that is only thought of, as the public would meet them. Refuses a bad definition with 400. */
function previewForm(workspaceId: string, input: NewForm, now: Date): { page: string; thanks: string } {
  const form = draftForm(workspaceId, input, now)
  const page = formPage({ form, token: '', carried: [], values: {}, refusal: null })
  return { page: page.toString(), thanks: thanksPage(form).toString() }
}

/** A form as the team sees it, with what it needs to publish it. */
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

/** A plain form for a page of another site, whose own styles it takes on. That site's origin must be allowed. */
function embedHtml(publicUrl: string, form: Form): string {
  // A class of ours means nothing there, so the decoy is moved away by a style of its own.
  return html`<form method="post" action="${formUrl(publicUrl, form)}" accept-charset="utf-8">
${form.fields.map((field) => html`${fieldHtml(field, untouched)}\n`)}<div aria-hidden="true" style="position:absolute;left:-10000px"><label>Homepage <input name="${decoyField}" tabindex="-1" autocomplete="off"></label></div>
<button type="submit">${form.submitLabel}</button>
</form>`.toString()
}

function formUrl(publicUrl: string, form: Pick<Form, 'slug'>): string {
  return `${publicUrl}/f/${form.slug}`
}
