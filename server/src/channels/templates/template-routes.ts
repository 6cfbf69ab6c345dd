import { Type } from 'typebox'
import { acceptRawBodies, discardBody, readUpload } from '../../base/bytes/raw-body.ts'
import { ApiError, invalid } from '../../base/errors.ts'
import { type App, errorResponse, errors, oneOf } from '../../base/route.ts'
import { fileText, text, unpaged } from '../../base/schema-types.ts'
import { memberOf, type TeamGuard } from '../../team/member.ts'
import { type TeamApi, teamApi } from '../../team/team-api.ts'
import { idSchema, teamRoute, workspaceParams } from '../../team/team-schema.ts'
import { type ConnectionKey, isInSetup, stillInSetup } from '../connection/connection.ts'
import { connectionParams, connectionsPath } from '../connection/fields.ts'
import { requireConnection } from '../connection/queries.ts'
import { deleteTemplate, submitDraft } from './submit-template.ts'
import { type SyncDeps, syncTemplates } from './sync-templates.ts'
import { draftList, listDrafts, type TemplateDraft } from './template-drafts.ts'
import { templateLimits } from './template-rules.ts'
import {
  draftChangeSchema,
  draftSchema,
  draftStartSchema,
  limitsSchema,
  presentDraft,
  presentTemplate,
  templateSchema,
} from './template-schema.ts'
import { listTemplates } from './templates.ts'
import {
  createDraft,
  maxSampleBytes,
  readDraft,
  removeDraft,
  sampleTypes,
  saveDraft,
  uploadSampleFile,
} from './write-draft.ts'

const onePath = `${connectionsPath}/:connectionId`
const draftsPath = '/api/team/v1/workspaces/:workspaceId/template-drafts'
const draftParams = Type.Object({ ...workspaceParams, draftId: idSchema('The draft.') })
const templateList = Type.Object({ templates: Type.Array(templateSchema, unpaged) })
const oneDraft = Type.Object({ draft: draftSchema })

const platformFailed = errorResponse(
  'PlatformFailed',
  502,
  'The platform could not be reached (`PLATFORM_UNREACHABLE`: nothing was changed) or did not answer in time (`OUTCOME_UNKNOWN`: try again).',
  'The platform did not answer in time. Try again: what it has already done is not repeated.',
  { code: 'OUTCOME_UNKNOWN', platform_code: 'ETIMEDOUT' },
)

const templateRefused = errorResponse(
  'TemplateRefused',
  422,
  'The platform refused it: `data.platform_message` is its explanation.',
  'The platform refused it (error 2388299: Variables can’t be at the start or end of the template.)',
  { code: 'TEMPLATE_REFUSED', platform_code: '2388299' },
)

/** Registers the routes for templates and their drafts. Members can read templates, admins can write them. */
export function templateRoutes(app: App, deps: SyncDeps, guard: TeamGuard): void {
  listRoutes(teamApi(app, guard, 'Connections'), deps)
  const api = teamApi(app, guard, 'Templates')
  draftRoutes(api, deps)
  writeRoutes(api, deps)
  acceptRawBodies(app, (scope) => sampleRoute(scope, deps, guard))
}

/** Registers the routes for a connection's templates, in every status. */
function listRoutes(api: TeamApi, deps: SyncDeps): void {
  const list = async (one: ConnectionKey) => ({
    templates: (await listTemplates(deps.db.sql, one)).map((each) => presentTemplate(each, deps.clock.now())),
  })
  api.get(`${onePath}/templates`, 'member', {
    operationId: 'listConnectionTemplates',
    summary: 'List the templates of a connection',
    description: 'Ordered by name and language; includes templates that cannot be sent.',
    params: connectionParams,
    answers: { 200: templateList },
    run: async ({ member, params }) => list(await requireConnection(deps, member.workspaceId, params.connectionId)),
  })
  api.post(`${onePath}/templates/sync`, 'admin', {
    operationId: 'syncConnectionTemplates',
    summary: 'Sync the templates',
    description:
      'Admins only. Templates are also synced every ten minutes, and soon after the platform reports a change.',
    params: connectionParams,
    answers: { 200: templateList, 502: refusedSync },
    errors: [409],
    run: async ({ member, params }) => {
      const one = await requireConnection(deps, member.workspaceId, params.connectionId)
      if (isInSetup(one)) throw stillInSetup()
      const code = await syncTemplates(deps, one)
      if (code !== null) throw new ApiError(502, 'The platform did not return its templates', { data: { code } })
      return list(one)
    },
  })
}

const refusedSync = errorResponse(
  'TemplatesNotListed',
  502,
  "The platform returned an error or did not respond. `data.code` is the platform's error code, or a code of Parley.",
  'The platform did not return its templates',
  { code: '190' },
)

const present = async (draft: Promise<TemplateDraft>) => ({ draft: presentDraft(await draft) })

function draftRoutes(api: TeamApi, deps: SyncDeps): void {
  const { db, keyStore } = deps
  api.get(draftsPath, 'admin', {
    operationId: 'listTemplateDrafts',
    summary: 'List the drafts of templates',
    description: 'Admins only. Newest first, with the limits of the platform.',
    answers: {
      200: Type.Object({ drafts: Type.Array(draftSchema, { maxItems: draftList.maxItems }), limits: limitsSchema }),
    },
    run: async ({ member: { workspaceId } }) => {
      const drafts = await keyStore.withKeyring(workspaceId, (keyring) => listDrafts(db.sql, keyring, workspaceId))
      const { buttonsOfType: _, ...limits } = templateLimits
      return { drafts: drafts.map(presentDraft), limits: { ...limits, sampleBytes: maxSampleBytes } }
    },
  })
  api.post(draftsPath, 'admin', {
    operationId: 'createTemplateDraft',
    summary: 'Begin a template',
    description:
      'Admins only. Empty, a change of a template, or its copy; for these, the texts and sample values are read from the platform. A change of a template has one draft, which is returned if it exists. A workspace has at most 200.',
    body: draftStartSchema,
    answers: { 201: oneDraft, 502: platformFailed },
    errors: [409, 422],
    run: ({ member, body }) => present(createDraft(deps, member.workspaceId, body)),
  })
  api.get(`${draftsPath}/:draftId`, 'admin', {
    operationId: 'getTemplateDraft',
    summary: 'Read a draft of a template',
    description: 'Admins only. `problems` lists what the platform would refuse.',
    params: draftParams,
    answers: { 200: oneDraft },
    run: ({ member, params }) => present(readDraft(deps, member.workspaceId, params.draftId)),
  })
  api.put(`${draftsPath}/:draftId`, 'admin', {
    operationId: 'saveTemplateDraft',
    summary: 'Save a draft of a template',
    description: 'Admins only. Returns it with its problems. 409 `DRAFT_CHANGED` if it has another version.',
    params: draftParams,
    body: draftChangeSchema,
    answers: { 200: oneDraft },
    errors: [409],
    run: ({ member, params, body }) => present(saveDraft(deps, member.workspaceId, params.draftId, body)),
  })
  api.delete(`${draftsPath}/:draftId`, 'admin', {
    operationId: 'deleteTemplateDraft',
    summary: 'Delete a draft of a template',
    description: 'Admins only. The platform does not know of drafts.',
    params: draftParams,
    errors: [409],
    run: ({ member, params }) => removeDraft(deps, member.workspaceId, params.draftId),
  })
}

function writeRoutes(api: TeamApi, deps: SyncDeps): void {
  api.post(`${draftsPath}/:draftId/submit`, 'admin', {
    operationId: 'submitTemplateDraft',
    summary: 'Submit a template for review',
    description:
      'Admins only. 400 with an issue for each field that the platform would refuse. Deletes the draft and returns the template. After a 502, submit again: a template that has arrived is not created twice.',
    params: draftParams,
    answers: { 200: Type.Object({ template: templateSchema }), 422: templateRefused, 502: platformFailed },
    errors: [409],
    run: async ({ member, params }) => ({
      template: presentTemplate(await submitDraft(deps, member, params.draftId), deps.clock.now()),
    }),
  })
  api.delete(`${onePath}/templates/:templateId`, 'admin', {
    operationId: 'deleteTemplate',
    summary: 'Delete a template',
    description:
      'Admins only. Deletes one language of it at the platform. The name of an approved template cannot be used again for 30 days.',
    params: Type.Object({ ...connectionParams.properties, templateId: idSchema('The template.') }),
    answers: {
      200: Type.Object({ success: Type.Boolean({ example: true }) }),
      422: templateRefused,
      502: platformFailed,
    },
    errors: [409],
    run: async ({ member, params }) => {
      await deleteTemplate(deps, member, params.connectionId, params.templateId)
      return { success: true }
    },
  })
}

function sampleRoute(app: App, deps: SyncDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: `${draftsPath}/:draftId/sample`,
    bodyLimit: Number.MAX_SAFE_INTEGER,
    config: { takesFiles: true },
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('Templates'),
      operationId: 'uploadTemplateSample',
      summary: 'Upload the sample file of a header',
      description:
        'Admins only. The body is the raw file, with a `Content-Length`. It is passed on to the platform for the review, and not stored here. 422 `APP_ID_NEEDED` if the platform wants the id of the app.',
      params: draftParams,
      querystring: Type.Object({
        type: oneOf(Object.values(sampleTypes).flat(), { description: 'Type of the file.', example: 'image/jpeg' }),
        name: Type.Optional(text(240, 'Name of the file.', { example: 'menu.jpg' })),
      }),
      consumes: ['application/octet-stream'],
      body: Type.Unsafe<unknown>({ 'x-published': Type.String(fileText) }),
      response: {
        200: oneDraft,
        ...errors(400, 401, 403, 404, 409, 413, 429),
        422: templateRefused,
        502: platformFailed,
      },
    },
    handler: async (request, reply) => {
      const discard = discardBody(request, reply)
      const { workspaceId } = memberOf(request)
      const { type, name = null } = request.query as { type: string; name?: string }
      const { draftId } = request.params as { draftId: string }
      const upload = async () => {
        const { length, bytes } = readUpload(request)
        if (length === null || length === 0) throw invalid('Content-Length', 'is required', 'headers')
        if (length > maxSampleBytes) throw new ApiError(413, `A sample file has at most ${maxSampleBytes} bytes`)
        const file = { name, mimeType: type, size: length, bytes: () => bytes }
        return uploadSampleFile(deps, workspaceId, draftId, file)
      }
      return present(upload().catch(discard))
    },
  })
}
