import { Type } from 'typebox'
import { type App, errors, nullable } from '../../base/route.ts'
import { unpaged } from '../../base/schema-types.ts'
import { memberOf, type TeamGuard } from '../../team/member.ts'
import { done, idSchema, teamRoute, workspaceParams } from '../../team/team-schema.ts'
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

type Guard = Pick<TeamGuard, 'member'>

export const connectionsPath = '/api/team/v1/workspaces/:workspaceId/connections'
export const connectionParams = Type.Object({ ...workspaceParams, connectionId: idSchema('The connection.') })
const oneConnection = Type.Object({ connection: connectionSchema })

/** The chat numbers of a workspace: members read them, admins change them. */
export function connectionTeamRoutes(app: App, deps: TeamConnectionDeps, guard: Guard): void {
  listRoute(app, deps, guard)
  readRoute(app, deps, guard)
  createRoute(app, deps, guard)
  changeRoute(app, deps, guard)
  removeRoute(app, deps, guard)
  for (const action of actions) actionRoute(app, deps, guard, action)
}

const simulatorUrl = nullable(
  Type.String({
    maxLength: 300,
    description:
      'The simulator that runs beside the service, as a base address for connections; its phones are at `/phone` and `/phone/owner`. Null where none runs.',
    example: 'http://127.0.0.1:7008',
  }),
)

function listRoute(app: App, deps: TeamConnectionDeps, guard: Guard): void {
  app.route({
    method: 'GET',
    url: connectionsPath,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Connections'),
      operationId: 'listConnections',
      summary: 'List connections',
      description: 'Oldest first.',
      params: Type.Object(workspaceParams),
      response: {
        200: Type.Object({ connections: Type.Array(connectionSchema, unpaged), simulatorUrl }),
        ...errors(400, 401, 403, 404),
      },
    },
    handler: async (request) => {
      const { workspaceId } = memberOf(request)
      const all = await deps.vault.withKeyring(workspaceId, (keyring) =>
        listConnections(deps.db.sql, keyring, workspaceId),
      )
      const { simulatorUrl } = deps
      return { connections: all.map((one) => presentConnection(deps, one)), simulatorUrl }
    },
  })
}

function readRoute(app: App, deps: TeamConnectionDeps, guard: Guard): void {
  app.route({
    method: 'GET',
    url: `${connectionsPath}/:connectionId`,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Connections'),
      operationId: 'getConnection',
      summary: 'Read a connection',
      description: 'Its settings and its state; of secrets the last four characters.',
      params: connectionParams,
      response: { 200: oneConnection, ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      const { workspaceId } = memberOf(request)
      const one = await deps.vault.withKeyring(workspaceId, (keyring) =>
        findConnection(deps.db.sql, keyring, workspaceId, request.params.connectionId),
      )
      if (one === undefined) throw connectionNotFound()
      return { connection: presentConnection(deps, one) }
    },
  })
}

// What the Postman collection may change and remove.
function createRoute(app: App, deps: TeamConnectionDeps, guard: Guard): void {
  app.route({
    method: 'POST',
    url: connectionsPath,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('Connections'),
      operationId: 'createConnection',
      summary: 'Connect a number',
      description:
        'For admins. The platform is asked for the number; when it refuses, the connection is made and is `unavailable` with the reason, unless `mustAnswer`: then nothing is kept. With `waba`, paste `webhook` into the settings of the platform: the token is in this answer and nowhere else. A `partner` is told by us where to call; an `unofficial` one is to be paired.',
      params: Type.Object(workspaceParams),
      body: newConnectionSchema,
      response: {
        201: Type.Object({ connection: connectionSchema, webhook: webhookSchema }),
        ...errors(400, 401, 403, 404, 409, 413, 415, 422),
      },
    },
    handler: async (request, reply) => {
      const one = await createConnection(deps, memberOf(request), request.body)
      return reply.code(201).send({ connection: presentConnection(deps, one), webhook: presentWebhook(deps, one) })
    },
  })
}

function changeRoute(app: App, deps: TeamConnectionDeps, guard: Guard): void {
  app.route({
    method: 'PATCH',
    url: `${connectionsPath}/:connectionId`,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('Connections'),
      operationId: 'updateConnection',
      summary: 'Change a connection',
      description:
        'For admins. Send only what changes, of the fields that the channel has. With another way to reach the platform the number is checked. A `baseUrl` on another server needs the `accessToken` or `apiKey` again: what is stored is for the server that it was given for.',
      params: connectionParams,
      body: connectionChangesSchema,
      response: { 200: oneConnection, ...errors(400, 401, 403, 404, 409, 413, 415) },
    },
    handler: async (request) => {
      const one = await changeConnection(deps, memberOf(request), request.params.connectionId, request.body)
      return { connection: presentConnection(deps, one) }
    },
  })
}

function removeRoute(app: App, deps: TeamConnectionDeps, guard: Guard): void {
  app.route({
    method: 'DELETE',
    url: `${connectionsPath}/:connectionId`,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('Connections'),
      operationId: 'deleteConnection',
      summary: 'Disconnect a number',
      description: 'For admins. Its secrets and templates are forgotten; its conversations stay to be read.',
      params: connectionParams,
      response: { 200: done, ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      await removeConnection(deps, memberOf(request), request.params.connectionId)
      return { success: true }
    },
  })
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

function actionRoute(app: App, deps: TeamConnectionDeps, guard: Guard, action: Action): void {
  app.route({
    method: 'POST',
    url: `${connectionsPath}/:connectionId/${action.name}`,
    onRequest: guard.member(action.role),
    schema: {
      ...teamRoute('Connections'),
      operationId: action.operationId,
      summary: action.summary,
      description: action.description,
      params: connectionParams,
      response: { 200: oneConnection, ...errors(400, 401, 403, 404, 409) },
    },
    handler: async (request) => {
      const one = await action.run(deps, memberOf(request), request.params.connectionId)
      return { connection: presentConnection(deps, one) }
    },
  })
}
