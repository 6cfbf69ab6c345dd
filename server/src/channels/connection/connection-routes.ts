import { Type } from 'typebox'
import { type App, nullable } from '../../base/route.ts'
import { text, unpaged } from '../../base/schema-types.ts'
import type { TeamGuard } from '../../team/member.ts'
import { type TeamApi, teamApi } from '../../team/team-api.ts'
import { checkRoutes } from '../check/check-routes.ts'
import type { SyncDeps } from '../templates/sync-templates.ts'
import { templateRoutes } from '../templates/template-routes.ts'
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
import type { StoredConnection } from './connection.ts'
import { connectionParams, connectionsPath } from './fields.ts'
import { type PresentDeps, presentConnection, presentWebhook } from './present.ts'
import { listConnections, requireConnection } from './queries.ts'
import { connectionChangesSchema, connectionSchema, newConnectionSchema, webhookSchema } from './schema.ts'

export interface ChannelTeamDeps extends ConnectionDeps, PresentDeps, SyncDeps {
  /** URL of the simulator that runs with the service, without a trailing slash; null if none runs. */
  simulatorUrl: string | null
}

const onePath = `${connectionsPath}/:connectionId`
const oneConnection = Type.Object({ connection: connectionSchema })

const simulatorUrl = nullable(
  text(
    300,
    'URL of the simulator that runs with the service, usable as `baseUrl` of connections; its phones are at `/phone` and `/phone/owner`. Null if none runs.',
    { example: 'http://127.0.0.1:7008' },
  ),
)

/** Registers the connection routes: members can read, admins can change. */
export function channelTeamRoutes(app: App, deps: ChannelTeamDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Connections')
  connectionRoutes(api, deps)
  actionRoutes(api, deps)
  checkRoutes(api, onePath, deps)
  for (const { teamRoutes } of Object.values(deps.adapters)) teamRoutes?.(app, guard)
  templateRoutes(app, deps, guard)
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
      connection: presentConnection(deps, await requireConnection(deps, member.workspaceId, params.connectionId)),
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
    operation: (deps: ConnectionDeps, by: ChangeAuthor, id: string) => Promise<StoredConnection>,
    documentation: { operationId: string; summary: string; description: string },
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
  add('pause', 'admin', pauseConnection, {
    operationId: 'pauseConnection',
    summary: 'Pause a connection',
    description: 'Admins only. Stops sending until it is resumed; messages from customers still arrive.',
  })
  add('resume', 'admin', resumeConnection, {
    operationId: 'resumeConnection',
    summary: 'Resume a connection',
    description:
      'Admins only. Resumes a paused or unavailable connection after checking its number and, if the channel supports it, registering the callback URL again.',
  })
  add('acknowledge', 'member', acknowledgeRisk, {
    operationId: 'acknowledgeConnection',
    summary: 'Accept the risk of an unofficial connection',
    description:
      'Every member can accept it, but tokens cannot. Valid for 90 days, or until the number is paired again.',
  })
}
