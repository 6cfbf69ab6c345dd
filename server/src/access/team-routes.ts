import type { App } from '../base/route.ts'
import type { TeamGuard } from '../team/member.ts'
import { meTeamRoutes } from './account/team-routes-me.ts'
import { sessionTeamRoutes } from './account/team-routes-session.ts'
import { tokenTeamRoutes } from './credentials/team-routes-tokens.ts'
import type { KeyDeps } from './keys/change.ts'
import { keyTeamRoutes } from './keys/team-routes-keys.ts'
import type { LeavingDeps } from './people/change-members.ts'
import { auditTeamRoutes } from './people/team-routes-audit.ts'
import { invitationTeamRoutes } from './people/team-routes-invitations.ts'
import { memberTeamRoutes } from './people/team-routes-members.ts'
import { peopleTeamRoutes } from './people/team-routes-people.ts'
import { signInTeamRoutes } from './sign-in/team-routes-sign-in.ts'

export interface AccessDeps extends LeavingDeps, Pick<KeyDeps, 'strangeConnections' | 'keyNarrowed' | 'lastCalls'> {}

/** Who may do what, as the team manages it: sign-in, people, tokens and API keys. */
export function accessTeamRoutes(app: App, deps: AccessDeps, guard: TeamGuard): void {
  for (const routes of [
    signInTeamRoutes,
    sessionTeamRoutes,
    meTeamRoutes,
    peopleTeamRoutes,
    memberTeamRoutes,
    invitationTeamRoutes,
    tokenTeamRoutes,
    auditTeamRoutes,
    keyTeamRoutes,
  ]) {
    routes(app, deps, guard)
  }
}
