import type { App } from '../base/route.ts'
import type { TeamGuard } from '../team/member.ts'
import { connectionTeamRoutes, type TeamConnectionDeps } from './connection/team-routes.ts'
import type { SyncDeps } from './templates/sync-templates.ts'
import { templateTeamRoutes } from './templates/team-routes-templates.ts'

export interface ChannelTeamDeps extends TeamConnectionDeps, SyncDeps {}

/** Chat numbers as the team connects and watches them. */
export function channelTeamRoutes(app: App, deps: ChannelTeamDeps, guard: Pick<TeamGuard, 'member'>): void {
  connectionTeamRoutes(app, deps, guard)
  for (const { teamRoutes } of Object.values(deps.adapters)) teamRoutes?.(app, guard)
  templateTeamRoutes(app, deps, guard)
}
