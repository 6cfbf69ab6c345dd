import { Type } from 'typebox'
import { ApiError } from '../../base/errors.ts'
import { type App, errorResponse, nullable } from '../../base/route.ts'
import { unpaged } from '../../base/schema-types.ts'
import type { Member, TeamGuard } from '../../team/member.ts'
import { type TeamApi, teamApi } from '../../team/team-api.ts'
import { idSchema, workspaceParams } from '../../team/team-schema.ts'
import { checkRoutes } from '../check/check-routes.ts'
import { type SyncDeps, syncTemplates } from '../templates/sync-templates.ts'
import { listTemplates } from '../templates/templates.ts'
import {
  acknowledgeRisk,
  type ChangeAuthor,
  type ConnectionDeps,
  changeConnection,
  createConnection,
  pauseConnection,
  removeConnection,
  resumeConnection,
} from './change-connection.ts'
import { type ConnectionKey, connectionNotFound, isInSetup, type StoredConnection, stillInSetup } from './connection.ts'
import { type PresentDeps, presentConnection, presentTemplate, presentWebhook } from './present.ts'
import { findConnection, listConnections } from './queries.ts'
import {
  connectionChangesSchema,
  connectionSchema,
  newConnectionSchema,
  templateSchema,
  webhookSchema,
} from './schema.ts'

export interface ChannelTeamDeps extends ConnectionDeps, PresentDeps, SyncDeps {
  /** URL of the simulator that runs with the service, without a trailing slash; null if none runs. */
  simulatorUrl: string | null
}

export const connectionsPath = '/api/team/v1/workspaces/:workspaceId/connections'
export const connectionParams = Type.Object({ ...workspaceParams, connectionId: idSchema('The connection.') })

const onePath = `${connectionsPath}/:connectionId`
const oneConnection = Type.Object({ connection: connectionSchema })
const templateList = Type.Object({ templates: Type.Array(templateSchema, unpaged) })

const simulatorUrl = nullable(
  Type.String({
    maxLength: 300,
    description:
      'URL of the simulator that runs with the service, usable as `baseUrl` of connections; its phones are at `/phone` and `/phone/owner`. Null if none runs.',
    example: 'http://127.0.0.1:7008',
  }),
)

/** Registers the connection routes: members can read, admins can change. */
export function channelTeamRoutes(app: App, deps: ChannelTeamDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Connections')
  connectionRoutes(api, deps)
  actionRoutes(api, deps)
  checkRoutes(api, onePath, deps)
  for (const { teamRoutes } of Object.values(deps.adapters)) teamRoutes?.(app, guard)
  templateRoutes(api, deps)
}

function connectionRoutes(api: TeamApi, deps: ChannelTeamDeps): void {
  api.get(connectionsPath, 'member', {
    operationId: 'listConnections',
    summary: 'List connections',
    description: 'Oldest first.',
    answers: { 200: Type.Object({ connections: Type.Array(connectionSchema, unpaged), simulatorUrl }) },
    run: async ({ member: { workspaceId } }) => {
      const all = await deps.keyStore.withKeyring(workspaceId, (keyring) =>
        listConnections(deps.db.sql, keyring, workspaceId),
      )
      return { connections: all.map((one) => presentConnection(deps, one)), simulatorUrl: deps.simulatorUrl }
    },
  })
  api.get(onePath, 'member', {
    operationId: 'getConnection',
    summary: 'Read a connection',
    description: 'Returns its settings and state, with only the last four characters of secrets.',
    params: connectionParams,
    answers: { 200: oneConnection },
    run: async ({ member, params }) => ({
      connection: presentConnection(deps, await requireConnection(deps, member, params.connectionId)),
    }),
  })
  api.post(connectionsPath, 'admin', {
    operationId: 'createConnection',
    summary: 'Connect a number',
    description:
      'Admins only. Checks the number at the platform. If the check fails, the connection is saved as `unavailable` with the reason; with `mustAnswer`, nothing is saved. `waba` without `numberId` starts a setup: list the numbers, choose one with a change, then perform the steps that `check` names. With `waba`, paste `webhook` into the settings of the platform: the token is returned only in this response. With `partner`, Parley registers the callback URL. An `unofficial` connection must be paired next.',
    body: newConnectionSchema,
    answers: { 201: Type.Object({ connection: connectionSchema, webhook: webhookSchema }) },
    errors: [409, 422],
    run: async ({ member, body }) => {
      const one = await createConnection(deps, member, body)
      return { connection: presentConnection(deps, one), webhook: presentWebhook(deps, one) }
    },
  })
  api.patch(onePath, 'admin', {
    operationId: 'updateConnection',
    summary: 'Change a connection',
    description:
      'Admins only. Send only the fields to change; the channel must have them. Changes that affect how the platform is reached check the number again. A `baseUrl` on another server requires the `accessToken` or `apiKey` again: the stored one belongs to the previous server.',
    params: connectionParams,
    body: connectionChangesSchema,
    answers: { 200: oneConnection },
    errors: [409],
    run: async ({ member, params, body }) => ({
      connection: presentConnection(deps, await changeConnection(deps, member, params.connectionId, body)),
    }),
  })
  api.delete(onePath, 'admin', {
    operationId: 'deleteConnection',
    summary: 'Disconnect a number',
    description: 'Admins only. Deletes its secrets and templates; its conversations remain readable.',
    params: connectionParams,
    run: ({ member, params }) => removeConnection(deps, member, params.connectionId),
  })
}

/** Registers the actions on a connection that take no body. */
function actionRoutes(api: TeamApi, deps: ChannelTeamDeps): void {
  const add = (
    name: string,
    role: 'member' | 'admin',
    documentation: { operationId: string; summary: string; description: string },
    operation: (deps: ConnectionDeps, by: ChangeAuthor, id: string) => Promise<StoredConnection>,
  ) =>
    api.post(`${onePath}/${name}`, role, {
      ...documentation,
      params: connectionParams,
      answers: { 200: oneConnection },
      errors: [409],
      run: async ({ member, params }) => ({
        connection: presentConnection(deps, await operation(deps, member, params.connectionId)),
      }),
    })
  const pause = {
    operationId: 'pauseConnection',
    summary: 'Pause a connection',
    description: 'Admins only. Stops sending until it is resumed; messages from customers still arrive.',
  }
  add('pause', 'admin', pause, pauseConnection)
  const resume = {
    operationId: 'resumeConnection',
    summary: 'Resume a connection',
    description:
      'Admins only. Resumes a paused or unavailable connection after checking its number and, if the channel supports it, registering the callback URL again.',
  }
  add('resume', 'admin', resume, resumeConnection)
  const acknowledge = {
    operationId: 'acknowledgeConnection',
    summary: 'Accept the risk of an unofficial connection',
    description:
      'Every member can accept it, but tokens cannot. Valid for 90 days, or until the number is paired again.',
  }
  add('acknowledge', 'member', acknowledge, acknowledgeRisk)
}

/** Registers the routes for a connection's templates, in every status. */
function templateRoutes(api: TeamApi, deps: SyncDeps): void {
  const list = async (one: ConnectionKey) => ({
    templates: (await listTemplates(deps.db.sql, one)).map(presentTemplate),
  })
  api.get(`${onePath}/templates`, 'member', {
    operationId: 'listConnectionTemplates',
    summary: 'List the templates of a connection',
    description: 'Ordered by name and language; includes templates that cannot be sent.',
    params: connectionParams,
    answers: { 200: templateList },
    run: async ({ member, params }) => list(await requireConnection(deps, member, params.connectionId)),
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
      const one = await requireConnection(deps, member, params.connectionId)
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

async function requireConnection({ db, keyStore }: SyncDeps, { workspaceId }: Member, id: string) {
  const one = await keyStore.withKeyring(workspaceId, (keyring) => findConnection(db.sql, keyring, workspaceId, id))
  if (one === undefined) throw connectionNotFound()
  return one
}
