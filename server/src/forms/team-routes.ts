import { type App, errors } from '../base/route.ts'
import type { Vault } from '../base/sealing/vault.ts'
import { html } from '../base/text/html.ts'
import { memberOf, type TeamGuard } from '../team/member.ts'
import { changeForm, createForm, draftForm, type FormDeps, removeForm } from './form/change.ts'
import { formNotFound } from './form/errors.ts'
import { decoyField, type Form } from './form/form.ts'
import { findForm, listForms } from './form/queries.ts'
import type { NewForm } from './form/schema.ts'
import * as schema from './form/schema.ts'
import { fieldHtml, untouched } from './page/field-html.ts'
import { formPage, thanksPage } from './page/page.ts'
import { countSubmissions, type SubmissionCount } from './submit/submissions.ts'
import { about, always, formsPath as path } from './team-request.ts'
import { submissionTeamRoutes } from './team-routes-submissions.ts'

export interface TeamFormDeps extends FormDeps {
  vault: Vault
  /** The address that people use, without a trailing slash. */
  publicUrl: string
}

/** The team's side of forms: members read them, admins write them. */
export function formTeamRoutes(app: App, deps: TeamFormDeps, guard: Pick<TeamGuard, 'member'>): void {
  readRoutes(app, deps, guard)
  submissionTeamRoutes(app, deps, guard)
  previewRoute(app, deps, guard)
  writeRoutes(app, deps, guard)
}

function readRoutes(app: App, deps: TeamFormDeps, guard: Pick<TeamGuard, 'member'>): void {
  const onRequest = guard.member('member')

  app.get(
    path,
    {
      onRequest,
      schema: {
        ...about,
        operationId: 'listForms',
        summary: 'List lead forms',
        description: 'Newest first, inactive ones included, with how often each was sent.',
        params: schema.Workspace,
        querystring: schema.NoQuery,
        response: { 200: schema.FormList, ...errors(...always) },
      },
    },
    async (request) => {
      const { workspaceId } = memberOf(request)
      const [forms, counts] = await Promise.all([
        listForms(deps.db.sql, workspaceId),
        countSubmissions(deps.db.sql, workspaceId),
      ])
      return { forms: forms.map((form) => presentListed(deps.publicUrl, form, counts.get(form.id))) }
    },
  )

  app.get(
    `${path}/:formId`,
    {
      onRequest,
      schema: {
        ...about,
        operationId: 'getForm',
        summary: 'Read one lead form',
        description: 'Its definition, its public address, and what to paste into another site.',
        params: schema.WorkspaceForm,
        querystring: schema.NoQuery,
        response: { 200: schema.OneForm, ...errors(...always) },
      },
    },
    async (request) => {
      const form = await findForm(deps.db.sql, memberOf(request).workspaceId, request.params.formId)
      if (form === undefined) throw formNotFound()
      return { form: presentForm(deps.publicUrl, form) }
    },
  )
}

function previewRoute(app: App, deps: TeamFormDeps, guard: Pick<TeamGuard, 'member'>): void {
  app.post(
    `${path}/preview`,
    {
      onRequest: guard.member('member'),
      schema: {
        ...about,
        operationId: 'previewForm',
        summary: 'See the pages that a lead form would have',
        description: 'Nothing is kept. The pages hold no script; their style comes from this service.',
        params: schema.Workspace,
        querystring: schema.NoQuery,
        body: schema.NewForm,
        response: { 200: schema.FormPreview, ...errors(...always, 413, 415) },
      },
    },
    async (request) => previewForm(memberOf(request).workspaceId, request.body, deps.clock.now()),
  )
}

function writeRoutes(app: App, deps: TeamFormDeps, guard: Pick<TeamGuard, 'member'>): void {
  const onRequest = guard.member('admin')

  app.post(
    path,
    {
      onRequest,
      schema: {
        ...about,
        operationId: 'createForm',
        summary: 'Make a lead form',
        description: 'Role admin. Without a `slug` one is made of the title. At most 200 forms a workspace.',
        params: schema.Workspace,
        querystring: schema.NoQuery,
        body: schema.NewForm,
        response: { 201: schema.OneForm, ...errors(...always, 409, 413, 415) },
      },
    },
    async (request, reply) => {
      const form = await createForm(deps, memberOf(request), request.body)
      reply.code(201)
      return { form: presentForm(deps.publicUrl, form) }
    },
  )

  app.patch(
    `${path}/:formId`,
    {
      onRequest,
      schema: {
        ...about,
        operationId: 'updateForm',
        summary: 'Change a lead form',
        description: 'Role admin. Send only what changes; `fields` is replaced as a whole. Leads made before stay.',
        params: schema.WorkspaceForm,
        querystring: schema.NoQuery,
        body: schema.FormChanges,
        response: { 200: schema.OneForm, ...errors(...always, 409, 413, 415) },
      },
    },
    async (request) => {
      const form = await changeForm(deps, memberOf(request), request.params.formId, request.body)
      return { form: presentForm(deps.publicUrl, form) }
    },
  )

  app.delete(
    `${path}/:formId`,
    {
      onRequest,
      schema: {
        ...about,
        operationId: 'deleteForm',
        summary: 'Delete a lead form',
        description: 'Role admin. The form and the record of its submissions go, its leads stay.',
        params: schema.WorkspaceForm,
        querystring: schema.NoQuery,
        response: { 200: schema.Deleted, ...errors(...always) },
      },
    },
    async (request) => {
      await removeForm(deps, memberOf(request), request.params.formId)
      return { success: true, message: 'Form deleted successfully' }
    },
  )
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
