import { Type } from 'typebox'
import { instanceScope } from '../base/encryption/key-store.ts'
import type { App } from '../base/route.ts'
import { text, unpaged } from '../base/schema-types.ts'
import type { TeamGuard } from '../team/member.ts'
import { teamApi } from '../team/team-api.ts'
import { idSchema, personNameSchema, roleSchema } from '../team/team-schema.ts'
import { profileTeamRoutes, sessionTeamRoutes } from './account/account-routes.ts'
import type { KeyDeps } from './api-keys/change-key.ts'
import { keyTeamRoutes } from './api-keys/key-routes.ts'
import { statusAt, usableStatus } from './api-keys/key-schema.ts'
import { tokenTeamRoutes } from './credentials/token-routes.ts'
import { auditTeamRoutes } from './members/audit-routes.ts'
import type { LeaveDeps } from './members/change-members.ts'
import { invitationTeamRoutes } from './members/invitation-routes.ts'
import { memberTeamRoutes } from './members/member-routes.ts'
import { listPeople, type NamedRow } from './members/people.ts'
import { mailTeamRoutes } from './sign-in/mail-routes.ts'
import { signInTeamRoutes } from './sign-in/sign-in-routes.ts'
import type { TeamDeps } from './users/users.ts'

export interface AccessDeps
  extends LeaveDeps,
    Pick<KeyDeps, 'strangeConnections' | 'keyNarrowed' | 'lastCalls' | 'toolNames'> {}

export function accessTeamRoutes(app: App, deps: AccessDeps, guard: TeamGuard): void {
  for (const routes of [
    signInTeamRoutes,
    sessionTeamRoutes,
    profileTeamRoutes,
    peopleTeamRoutes,
    memberTeamRoutes,
    invitationTeamRoutes,
    tokenTeamRoutes,
    auditTeamRoutes,
    keyTeamRoutes,
    mailTeamRoutes,
  ]) {
    routes(app, deps, guard)
  }
}

const namedCredentialSchema = (id: string, name: string) =>
  Type.Object({ id: idSchema(id), name: text(100, 'Name.', { example: name }), status: usableStatus })

const peopleSchema = Type.Object({
  members: Type.Array(Type.Object({ id: idSchema('The user.'), name: personNameSchema, role: roleSchema }), {
    ...unpaged,
    description: 'Sorted by joining date, oldest first.',
  }),
  keys: Type.Array(namedCredentialSchema('The API key.', 'Website agent'), {
    ...unpaged,
    description: 'Oldest first.',
  }),
  tokens: Type.Array(namedCredentialSchema('The team token.', 'Nightly export'), {
    ...unpaged,
    description: 'Oldest first.',
  }),
})

/** Adds the route that names the actors, owners and assignees whose ids the team API returns. */
function peopleTeamRoutes(app: App, { db, keyStore, clock }: TeamDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Members')
  api.get('/api/team/v1/workspaces/:workspaceId/people', 'member', {
    operationId: 'listPeople',
    summary: 'List the names of members, API keys and team tokens',
    description:
      'For showing names where other answers have ids. Includes revoked and expired keys and tokens, but not former members or installation-wide tokens.',
    answers: { 200: peopleSchema },
    run: async ({ member }) => {
      const { workspaceId } = member
      const { members, keys, tokens } = await keyStore.withKeyring(instanceScope, (instanceKeys) =>
        listPeople(db.sql, workspaceId, instanceKeys),
      )
      const now = clock.now()
      const present = (row: NamedRow) => ({ id: row.id, name: row.name, status: statusAt(row, now) })
      return { members, keys: keys.map(present), tokens: tokens.map(present) }
    },
  })
}
