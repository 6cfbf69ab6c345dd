import { Type } from 'typebox'
import { type App, nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { count, visiblePattern } from '../../base/schema-types.ts'
import { withIsoTimes } from '../../base/time.ts'
import type { TeamGuard } from '../../team/member.ts'
import { type TeamApi, teamApi } from '../../team/team-api.ts'
import { closed, idSchema, workspaceParams } from '../../team/team-schema.ts'
import type { WorkspaceDeps } from '../change.ts'
import { discardDraft, publishDraft, restoreVersion, saveDraft } from './change-instructions.ts'
import {
  type InstructionVersion,
  listScopes,
  listVersions,
  maxScopes,
  maxVersions,
  type PublishedVersion,
} from './versions.ts'

const path = '/api/team/v1/workspaces/:workspaceId/instructions'

const scope = {
  keyId: nullable(idSchema('The API key that they are for. Null: any.')),
  connectionId: nullable(idSchema('The connection whose conversations they are for. Null: any.')),
}
const instructionText = nullable(
  Type.String({
    minLength: 1,
    maxLength: 4000,
    pattern: visiblePattern,
    description: 'Facts and tone of voice, as plain text. Null: none.',
    example: 'You speak for a shoe shop. Be brief and warm. Never promise a discount.',
  }),
)
const note = nullable(
  Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: visiblePattern,
    description: 'For the team: why it changed.',
    example: 'No discounts before Christmas',
  }),
)
const basedOn = count('The version in force that you know; 0: none. Another one is refused with 409.', { example: 3 })
const revision = count('The revision of the draft that you know. Another one is refused with 409.', {
  minimum: 1,
  example: 2,
})

const versionFields = {
  id: idSchema('The version. A draft keeps it when it is published.'),
  ...scope,
  text: instructionText,
  note,
  actor: nullable(
    Type.Object({
      type: oneOf(['user', 'token'] as const, { title: 'InstructionsActorType', example: 'user' }),
      id: idSchema('The user or team token.'),
    }),
  ),
  createdAt: timestamp('When it was begun.'),
  updatedAt: timestamp('When it was last saved.'),
}
const draftSchema = titled('InstructionsDraft', {
  ...versionFields,
  revision: count('Counts its changes.', { minimum: 1, example: 2 }),
  basedOn: count('The version that was in force when it was last saved; 0: none.', { example: 3 }),
})
const versionSchema = titled('InstructionsVersion', {
  ...versionFields,
  version: count('Counts up in its scope.', { minimum: 1, example: 4 }),
  restores: nullable(count('The earlier version that it restores.', { minimum: 1, example: null })),
  publishedAt: timestamp('Since when it is in force.'),
})
const oneVersion = Type.Object({ version: versionSchema })
const versionParams = Type.Object({ ...workspaceParams, versionId: idSchema('The version.') })

/** Adds the routes for the instructions of agents, which members read and admins write. */
export function instructionTeamRoutes(app: App, deps: WorkspaceDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Agent instructions')
  const { db } = deps
  api.get(path, 'member', {
    operationId: 'listInstructions',
    summary: 'List who has instructions',
    description:
      'Instructions are for all agents, for one key, or for the conversations of one connection. An agent gets all that concern it.',
    answers: { 200: Type.Object({ scopes: Type.Array(scopeSchema, { maxItems: maxScopes }) }) },
    allErrors: [400, 401, 404],
    run: async ({ member }) => ({ scopes: await listScopes(db.sql, member.workspaceId) }),
  })
  api.get(`${path}/versions`, 'member', {
    operationId: 'listInstructionVersions',
    summary: 'List the versions of instructions',
    description: `The draft, and the last ${maxVersions} published versions, newest first: the first is in force. Without a key and a connection, those for all agents.`,
    query: scopeQuery,
    answers: {
      200: Type.Object({
        draft: nullable(draftSchema),
        versions: Type.Array(versionSchema, { maxItems: maxVersions }),
      }),
    },
    allErrors: [400, 401, 404],
    run: async ({ member, query }) => {
      const { draft, versions } = await listVersions(db.sql, member.workspaceId, scopeOf(query))
      return { draft: draft && presentDraft(draft), versions: versions.map(presentVersion) }
    },
  })
  changeRoutes(api, deps)
}

function changeRoutes(api: TeamApi, deps: WorkspaceDeps): void {
  api.put(`${path}/draft`, 'admin', {
    operationId: 'saveInstructionsDraft',
    summary: 'Save a draft of instructions',
    description:
      'For admins. Each scope has at most one draft, which agents do not see. `revision` is that of the draft that you read; null begins one.',
    body: draftChange,
    answers: { 200: Type.Object({ draft: draftSchema }) },
    errors: [409],
    run: async ({ member, body }) => ({
      draft: presentDraft(await saveDraft(deps, member, { ...body, ...scopeOf(body) })),
    }),
  })
  api.delete(`${path}/versions/:versionId`, 'admin', {
    operationId: 'discardInstructionsDraft',
    summary: 'Discard a draft of instructions',
    description: 'For admins. Published versions cannot be deleted.',
    params: versionParams,
    query: Type.Object({ revision }, closed),
    errors: [409],
    run: async ({ member, params, query }) => {
      await discardDraft(deps, member, params.versionId, query.revision)
      return { success: true }
    },
  })
  api.post(`${path}/versions/:versionId/publish`, 'admin', {
    operationId: 'publishInstructionsDraft',
    summary: 'Publish a draft of instructions',
    description: 'For admins. It is in force at once; wait_for_work tells agents to read it.',
    params: versionParams,
    body: Type.Object({ revision, basedOn }, closed),
    answers: { 200: oneVersion },
    errors: [409],
    run: async ({ member, params, body }) => ({
      version: presentVersion(await publishDraft(deps, member, params.versionId, body)),
    }),
  })
  api.post(`${path}/versions/:versionId/restore`, 'admin', {
    operationId: 'restoreInstructionsVersion',
    summary: 'Restore a version of instructions',
    description: 'For admins. Publishes its text as a new version. A draft stays as it is.',
    params: versionParams,
    body: Type.Object({ basedOn }, closed),
    answers: { 200: oneVersion },
    errors: [409],
    run: async ({ member, params, body }) => ({
      version: presentVersion(await restoreVersion(deps, member, params.versionId, body)),
    }),
  })
}

const scopeSchema = titled('InstructionsScope', {
  ...scope,
  version: count('The version in force; 0: none.', { example: 4 }),
  hasText: Type.Boolean({ description: 'Whether the version in force has a text.', example: true }),
  hasDraft: Type.Boolean({ description: 'Whether there is a draft.', example: false }),
})

const scopeQuery = Type.Object(
  {
    keyId: Type.Optional(idSchema('Those for this API key.')),
    connectionId: Type.Optional(idSchema('Those for this connection.')),
  },
  closed,
)

const draftChange = Type.Object(
  { ...scope, text: instructionText, note, basedOn, revision: nullable(revision) },
  {
    ...closed,
    example: {
      keyId: null,
      connectionId: null,
      text: 'You speak for a shoe shop. Be brief and warm.',
      note: null,
      basedOn: 0,
      revision: null,
    },
  },
)

// Ids are compared as text.
const scopeOf = ({ keyId, connectionId }: { keyId?: string | null; connectionId?: string | null }) => ({
  keyId: keyId?.toLowerCase() ?? null,
  connectionId: connectionId?.toLowerCase() ?? null,
})

const presentFields = <R extends Pick<InstructionVersion, 'actorType' | 'actorId'>>({
  actorType,
  actorId,
  ...row
}: R) => ({
  ...withIsoTimes(row),
  actor: actorType === null || actorId === null ? null : { type: actorType, id: actorId },
})

const presentDraft = ({ version: _, restores: _restores, publishedAt: _time, ...row }: InstructionVersion) =>
  presentFields(row)

const presentVersion = ({ revision: _, basedOn: _basedOn, ...row }: PublishedVersion) => presentFields(row)
