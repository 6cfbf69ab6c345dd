import { Type } from 'typebox'
import { ApiError } from '../../base/errors.ts'
import { type App, errorAnswer, nullable } from '../../base/route.ts'
import { unpaged } from '../../base/schema-types.ts'
import type { Member, TeamGuard } from '../../team/member.ts'
import { type TeamApi, teamApi } from '../../team/team-api.ts'
import { idSchema, workspaceParams } from '../../team/team-schema.ts'
import { type SyncDeps, syncTemplates } from '../templates/sync-templates.ts'
import { listTemplates } from '../templates/templates.ts'
import {
  acknowledgeRisk,
  type Changer,
  type ConnectionDeps,
  changeConnection,
  createConnection,
  pauseConnection,
  removeConnection,
  resumeConnection,
} from './change-connection.ts'
import { type ConnectionKey, connectionNotFound, type StoredConnection } from './connection.ts'
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
  /** The simulator beside the service, without a trailing slash; null when none runs. */
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
      'The simulator that runs beside the service, as a base address for connections; its phones are at `/phone` and `/phone/owner`. Null where none runs.',
    example: 'http://127.0.0.1:7008',
  }),
)

/** The chat numbers of a workspace: members read and watch them, admins change them. */
export function channelTeamRoutes(app: App, deps: ChannelTeamDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Connections')
  connectionRoutes(api, deps)
  actionRoutes(api, deps)
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
    description: 'Its settings and its state; of secrets the last four characters.',
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
      'For admins. The platform is asked for the number; when it refuses, the connection is made and is `unavailable` with the reason, unless `mustAnswer`: then nothing is kept. With `waba`, paste `webhook` into the settings of the platform: the token is in this answer and nowhere else. A `partner` is told by us where to call; an `unofficial` one is to be paired.',
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
      'For admins. Send only what changes, of the fields that the channel has. With another way to reach the platform the number is checked. A `baseUrl` on another server needs the `accessToken` or `apiKey` again: what is stored is for the server that it was given for.',
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
    description: 'For admins. Its secrets and templates are forgotten; its conversations stay to be read.',
    params: connectionParams,
    run: ({ member, params }) => removeConnection(deps, member, params.connectionId),
  })
}

/** Changes of a connection that need no more than its name. */
function actionRoutes(api: TeamApi, deps: ChannelTeamDeps): void {
  const add = (
    name: string,
    role: 'member' | 'admin',
    words: { operationId: string; summary: string; description: string },
    act: (deps: ConnectionDeps, by: Changer, id: string) => Promise<StoredConnection>,
  ) =>
    api.post(`${onePath}/${name}`, role, {
      ...words,
      params: connectionParams,
      answers: { 200: oneConnection },
      errors: [409],
      run: async ({ member, params }) => ({
        connection: presentConnection(deps, await act(deps, member, params.connectionId)),
      }),
    })
  const pause = {
    operationId: 'pauseConnection',
    summary: 'Pause a connection',
    description: 'For admins. It sends nothing until it is resumed; what customers write still arrives.',
  }
  add('pause', 'admin', pause, pauseConnection)
  const resume = {
    operationId: 'resumeConnection',
    summary: 'Resume a connection',
    description:
      'For admins. For a paused or unavailable one: the platform is asked for the number first, and told again where to call.',
  }
  add('resume', 'admin', resume, resumeConnection)
  const acknowledge = {
    operationId: 'acknowledgeConnection',
    summary: 'Confirm the risk of an unofficial connection',
    description: 'For every member, in person. Counts for 90 days, or until the number is paired anew.',
  }
  add('acknowledge', 'member', acknowledge, acknowledgeRisk)
}

/** The templates of a connection, in every status. */
function templateRoutes(api: TeamApi, deps: SyncDeps): void {
  const list = async (one: ConnectionKey) => ({
    templates: (await listTemplates(deps.db.sql, one)).map(presentTemplate),
  })
  api.get(`${onePath}/templates`, 'member', {
    operationId: 'listConnectionTemplates',
    summary: 'List the templates of a connection',
    description: 'By name and language, with those that cannot be sent.',
    params: connectionParams,
    answers: { 200: templateList },
    run: async ({ member, params }) => list(await requireConnection(deps, member, params.connectionId)),
  })
  api.post(`${onePath}/templates/sync`, 'admin', {
    operationId: 'syncConnectionTemplates',
    summary: 'Read the templates now',
    description: 'For admins. They are read every ten minutes anyway, and soon after the platform hints at a change.',
    params: connectionParams,
    answers: { 200: templateList, 502: refusedSync },
    run: async ({ member, params }) => {
      const one = await requireConnection(deps, member, params.connectionId)
      const code = await syncTemplates(deps, one)
      if (code !== null) throw new ApiError(502, 'The platform did not list its templates', { data: { code } })
      return list(one)
    },
  })
}

const refusedSync = errorAnswer(
  'TemplatesNotListed',
  502,
  "The platform refused or did not answer. `data.code` is the platform's, or says what went wrong.",
  'The platform did not list its templates',
  { code: '190' },
)

async function requireConnection({ db, keyStore }: SyncDeps, { workspaceId }: Member, id: string) {
  const one = await keyStore.withKeyring(workspaceId, (keyring) => findConnection(db.sql, keyring, workspaceId, id))
  if (one === undefined) throw connectionNotFound()
  return one
}
