import { Type } from 'typebox'
import { ApiError } from '../base/errors.ts'
import { type App, errorAnswer } from '../base/route.ts'
import { unpaged } from '../base/schema-types.ts'
import type { TeamGuard } from '../team/member.ts'
import { teamApi } from '../team/team-api.ts'
import {
  connectionParams,
  connectionsPath,
  connectionTeamRoutes,
  type TeamConnectionDeps,
} from './connection/connection-routes.ts'
import { connectionNotFound } from './connection/errors.ts'
import { presentTemplate } from './connection/present.ts'
import { findConnection } from './connection/queries.ts'
import { templateSchema } from './connection/schema.ts'
import { type SyncDeps, syncTemplates } from './templates/sync-templates.ts'
import { listTemplates } from './templates/templates.ts'

export interface ChannelTeamDeps extends TeamConnectionDeps, SyncDeps {}

/** Chat numbers as the team connects and watches them. */
export function channelTeamRoutes(app: App, deps: ChannelTeamDeps, guard: TeamGuard): void {
  connectionTeamRoutes(app, deps, guard)
  for (const { teamRoutes } of Object.values(deps.adapters)) teamRoutes?.(app, guard)
  templateTeamRoutes(app, deps, guard)
}

const path = `${connectionsPath}/:connectionId/templates`
const templateList = Type.Object({ templates: Type.Array(templateSchema, unpaged) })

/** The templates of a connection, in every status. */
export function templateTeamRoutes(app: App, deps: SyncDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Connections')
  api.get(path, 'member', {
    operationId: 'listConnectionTemplates',
    summary: 'List the templates of a connection',
    description: 'By name and language, with those that cannot be sent.',
    params: connectionParams,
    answers: { 200: templateList },
    run: async ({ member, params }) => {
      const { workspaceId } = member
      const { connectionId } = params
      await requireConnection(deps, workspaceId, connectionId)
      return { templates: (await listTemplates(deps.db.sql, workspaceId, connectionId)).map(presentTemplate) }
    },
  })

  api.post(`${path}/sync`, 'admin', {
    operationId: 'syncConnectionTemplates',
    summary: 'Read the templates now',
    description: 'For admins. They are read every ten minutes anyway, and soon after the platform hints at a change.',
    params: connectionParams,
    answers: { 200: templateList, 502: refusedSync },
    run: async ({ member, params }) => {
      const { workspaceId } = member
      const { connectionId } = params
      await requireConnection(deps, workspaceId, connectionId)
      const code = await syncTemplates(deps, workspaceId, connectionId)
      if (code !== null) throw new ApiError(502, 'The platform did not list its templates', { data: { code } })
      return { templates: (await listTemplates(deps.db.sql, workspaceId, connectionId)).map(presentTemplate) }
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

async function requireConnection(deps: SyncDeps, workspaceId: string, connectionId: string): Promise<void> {
  const keyring = await deps.vault.keyring(workspaceId)
  if ((await findConnection(deps.db.sql, keyring, workspaceId, connectionId)) === undefined) throw connectionNotFound()
}
