import { decodeCursor, encodeCursor } from '../base/cursor.ts'
import { badRequest } from '../base/errors.ts'
import { isUuid } from '../base/id.ts'
import { memberOf, type TeamGuard } from '../base/member.ts'
import { type App, errors, postman } from '../base/route.ts'
import type { Vault } from '../base/vault.ts'
import { changeForm, createForm, type FormDeps, removeForm } from './change.ts'
import { formNotFound } from './errors.ts'
import type { Form } from './form.ts'
import { presentForm } from './present.ts'
import { previewForm } from './preview.ts'
import { findForm, listForms } from './queries.ts'
import { presentForms, readSubmissions } from './read.ts'
import * as schema from './schema.ts'

export interface TeamFormDeps extends FormDeps {
  /** The address that people use, without a trailing slash. */
  publicUrl: string
  /** Opens the names of leads. */
  vault: Vault
}

const security: Record<string, string[]>[] = [{ session: [] }, { teamToken: [] }]
const about = { tags: ['Forms'], security }
const always = [400, 401, 403, 404, 429, 500, 503] as const
const inWorkspace = { workspaceId: '{{workspace_id}}' }
const ofForm = { ...inWorkspace, formId: '{{form_id}}' }
const path = '/api/team/v1/workspaces/:workspaceId/forms'

/** The team's side of forms: members read them, admins write them. */
export function teamFormRoutes(app: App, deps: TeamFormDeps, guard: Pick<TeamGuard, 'member'>): void {
  readRoutes(app, deps, guard)
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
        ...postman({ path: inWorkspace }),
        operationId: 'listForms',
        summary: 'List lead forms',
        description: 'Newest first, inactive ones included.',
        params: schema.Workspace,
        querystring: schema.NoQuery,
        response: { 200: schema.FormList, ...errors(...always) },
      },
    },
    async (request) => {
      const { workspaceId } = memberOf(request)
      const forms = await listForms(deps.db.sql, workspaceId)
      return { forms: await presentForms(deps, workspaceId, forms) }
    },
  )

  app.get(
    `${path}/:formId`,
    {
      onRequest,
      schema: {
        ...about,
        ...postman({ path: ofForm }),
        operationId: 'getForm',
        summary: 'Read one lead form',
        params: schema.WorkspaceForm,
        querystring: schema.NoQuery,
        response: { 200: schema.OneForm, ...errors(...always) },
      },
    },
    async (request) => {
      const { workspaceId } = memberOf(request)
      const form = await findForm(deps.db.sql, workspaceId, request.params.formId)
      if (form === undefined) throw formNotFound()
      return { form: await presentOne(deps, workspaceId, form) }
    },
  )

  app.get(
    `${path}/:formId/submissions`,
    {
      onRequest,
      schema: {
        ...about,
        ...postman({ path: ofForm }),
        operationId: 'listSubmissions',
        summary: 'List what a form was sent',
        description: 'Newest first. What was typed stands in the lead.',
        params: schema.WorkspaceForm,
        querystring: schema.SubmissionsQuery,
        response: { 200: schema.SubmissionList, ...errors(...always) },
      },
    },
    async (request) => {
      const { workspaceId } = memberOf(request)
      const { formId } = request.params
      const { limit, cursor } = request.query
      const before = cursor === undefined ? null : readCursor(cursor, formId)
      if ((await findForm(deps.db.sql, workspaceId, formId)) === undefined) throw formNotFound()
      const { submissions, last } = await readSubmissions(deps, workspaceId, formId, { limit, before })
      return { submissions, nextCursor: last === null ? null : encodeCursor([formId, last]) }
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
        ...postman({ path: inWorkspace }),
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
        ...postman({ path: inWorkspace, saves: { form_id: 'form.id', form_slug: 'form.slug' } }),
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
      return { form: presentForm(deps.publicUrl, form, undefined) }
    },
  )

  app.patch(
    `${path}/:formId`,
    {
      onRequest,
      schema: {
        ...about,
        ...postman({ path: ofForm }),
        operationId: 'changeForm',
        summary: 'Change a lead form',
        description: 'Role admin. Send only what changes; `fields` is replaced as a whole. Leads made before stay.',
        params: schema.WorkspaceForm,
        querystring: schema.NoQuery,
        body: schema.FormChanges,
        response: { 200: schema.OneForm, ...errors(...always, 409, 413, 415) },
      },
    },
    async (request) => {
      const member = memberOf(request)
      const form = await changeForm(deps, member, request.params.formId, request.body)
      return { form: await presentOne(deps, member.workspaceId, form) }
    },
  )

  app.delete(
    `${path}/:formId`,
    {
      onRequest,
      schema: {
        ...about,
        ...postman({ path: ofForm }),
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

async function presentOne(deps: TeamFormDeps, workspaceId: string, form: Form) {
  const [shown] = await presentForms(deps, workspaceId, [form])
  return shown ?? presentForm(deps.publicUrl, form, undefined)
}

function readCursor(text: string, formId: string): string {
  const [form, id, extra] = decodeCursor(text) ?? []
  if (form !== formId || typeof id !== 'string' || !isUuid(id) || extra !== undefined) {
    throw badRequest('Invalid cursor format')
  }
  return id
}
