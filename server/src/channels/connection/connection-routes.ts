import { Type } from 'typebox'
import { type App, nullable } from '../../base/route.ts'
import { unpaged } from '../../base/schema-types.ts'
import type { TeamGuard } from '../../team/member.ts'
import { type TeamApi, teamApi } from '../../team/team-api.ts'
import { idSchema, workspaceParams } from '../../team/team-schema.ts'
import {
  acknowledgeRisk,
  type Changer,
  type ConnectionDeps,
  changeConnection,
  createConnection,
  pauseConnection,
  removeConnection,
  resumeConnection,
} from './change.ts'
import type { StoredConnection } from './connection.ts'
import { connectionNotFound } from './errors.ts'
import { type PresentDeps, presentConnection, presentWebhook } from './present.ts'
import { findConnection, listConnections } from './queries.ts'
import { connectionChangesSchema, connectionSchema, newConnectionSchema, webhookSchema } from './schema.ts'

export interface TeamConnectionDeps extends ConnectionDeps, PresentDeps {
  /** The simulator beside the service, without a trailing slash; null when none runs. */
  simulatorUrl: string | null
}

export const connectionsPath = '/api/team/v1/workspaces/:workspaceId/connections'
export const connectionParams = Type.Object({ ...workspaceParams, connectionId: idSchema('The connection.') })
const oneConnection = Type.Object({ connection: connectionSchema })

const simulatorUrl = nullable(
  Type.String({
    maxLength: 300,
    description:
      'The simulator that runs beside the service, as a base address for connections; its phones are at `/phone` and `/phone/owner`. Null where none runs.',
    example: 'http://127.0.0.1:7008',
  }),
)

/** The chat numbers of a workspace: members read them, admins change them. */
export function connectionTeamRoutes(app: App, deps: TeamConnectionDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Connections')
  api.get(connectionsPath, 'member', {
    operationId: 'listConnections',
    summary: 'List connections',
    description: 'Oldest first.',
    answers: { 200: Type.Object({ connections: Type.Array(connectionSchema, unpaged), simulatorUrl }) },
    run: async ({ member }) => {
      const { workspaceId } = member
      const all = await deps.vault.withKeyring(workspaceId, (keyring) =>
        listConnections(deps.db.sql, keyring, workspaceId),
      )
      const { simulatorUrl } = deps
      return { connections: all.map((one) => presentConnection(deps, one)), simulatorUrl }
    },
  })
  api.get(`${connectionsPath}/:connectionId`, 'member', {
    operationId: 'getConnection',
    summary: 'Read a connection',
    description: 'Its settings and its state; of secrets the last four characters.',
    params: connectionParams,
    answers: { 200: oneConnection },
    run: async ({ member, params }) => {
      const { workspaceId } = member
      const one = await deps.vault.withKeyring(workspaceId, (keyring) =>
        findConnection(deps.db.sql, keyring, workspaceId, params.connectionId),
      )
      if (one === undefined) throw connectionNotFound()
      return { connection: presentConnection(deps, one) }
    },
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
  api.patch(`${connectionsPath}/:connectionId`, 'admin', {
    operationId: 'updateConnection',
    summary: 'Change a connection',
    description:
      'For admins. Send only what changes, of the fields that the channel has. With another way to reach the platform the number is checked. A `baseUrl` on another server needs the `accessToken` or `apiKey` again: what is stored is for the server that it was given for.',
    params: connectionParams,
    body: connectionChangesSchema,
    answers: { 200: oneConnection },
    errors: [409],
    run: async ({ member, params, body }) => {
      const one = await changeConnection(deps, member, params.connectionId, body)
      return { connection: presentConnection(deps, one) }
    },
  })
  api.delete(`${connectionsPath}/:connectionId`, 'admin', {
    operationId: 'deleteConnection',
    summary: 'Disconnect a number',
    description: 'For admins. Its secrets and templates are forgotten; its conversations stay to be read.',
    params: connectionParams,
    run: ({ member, params }) => removeConnection(deps, member, params.connectionId),
  })
  for (const action of actions) actionRoute(api, deps, action)
}

interface Action {
  name: string
  operationId: string
  summary: string
  description: string
  role: 'member' | 'admin'
  run(deps: ConnectionDeps, by: Changer, id: string): Promise<StoredConnection>
}

const actions: readonly Action[] = [
  {
    name: 'pause',
    operationId: 'pauseConnection',
    summary: 'Pause a connection',
    description: 'For admins. It sends nothing until it is resumed; what customers write still arrives.',
    role: 'admin',
    run: pauseConnection,
  },
  {
    name: 'resume',
    operationId: 'resumeConnection',
    summary: 'Resume a connection',
    description:
      'For admins. For a paused or unavailable one: the platform is asked for the number first, and told again where to call.',
    role: 'admin',
    run: resumeConnection,
  },
  {
    name: 'acknowledge',
    operationId: 'acknowledgeConnection',
    summary: 'Confirm the risk of an unofficial connection',
    description: 'For every member, in person. Counts for 90 days, or until the number is paired anew.',
    role: 'member',
    run: acknowledgeRisk,
  },
]

function actionRoute(api: TeamApi, deps: TeamConnectionDeps, action: Action): void {
  api.post(`${connectionsPath}/:connectionId/${action.name}`, action.role, {
    operationId: action.operationId,
    summary: action.summary,
    description: action.description,
    params: connectionParams,
    answers: { 200: oneConnection },
    errors: [409],
    run: async ({ member, params }) => {
      const one = await action.run(deps, member, params.connectionId)
      return { connection: presentConnection(deps, one) }
    },
  })
}
