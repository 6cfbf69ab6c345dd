import { type Static, Type } from 'typebox'
import { instanceScope } from '../../base/encryption/key-store.ts'
import { forbidden, invalid } from '../../base/errors.ts'
import { type App, nullable, oneOf, timestamp } from '../../base/route.ts'
import { count, text, unpaged } from '../../base/schema-types.ts'
import { parseFutureTime, withIsoTimes } from '../../base/time.ts'
import { readFailedMails } from '../../mail/mails.ts'
import { recordAudit, workspaceEntry } from '../../team/audit.ts'
import { publishMemberUpdate } from '../../team/live-updates.ts'
import { type Member, roleCovers, type TeamGuard } from '../../team/member.ts'
import { type TeamApi, teamApi } from '../../team/team-api.ts'
import { closed, idSchema, roleSchema, workspaceParams } from '../../team/team-schema.ts'
import { endSessionsOfMember } from '../account/account-routes.ts'
import { keySchema, presentKey } from '../api-keys/key-schema.ts'
import { selectActiveKeysOf } from '../api-keys/queries.ts'
import { listTeamTokens, presentToken, tokenSchema } from '../credentials/team-tokens.ts'
import { findMember, listMembers, memberNotFound, setAway } from '../users/members.ts'
import { changeRole, type LeaveDeps, leaveTeam } from './change-members.ts'
import { listInvitations } from './invitations.ts'
import { invitationSchema, memberSchema, presentInvitation, presentMember } from './people.ts'

const webhook = Type.Object({
  id: idSchema('The endpoint.'),
  url: text(300, 'Its host.', { example: 'https://hooks.example.com/…' }),
  description: nullable(text(200, 'Description of the endpoint.', { example: 'Warehouse' })),
  state: oneOf(['active', 'disabled'], { example: 'active' }),
  createdAt: timestamp('Creation time.'),
  lastUsedAt: nullable(timestamp('Time of the last successful delivery.')),
})

const createdResourcesSchema = Type.Object({
  keys: Type.Array(keySchema, {
    ...unpaged,
    description: 'Active API keys. Kept unless the request revokes them.',
  }),
  webhooks: Type.Array(webhook, {
    ...unpaged,
    description: 'Webhook endpoints. Kept unless the request disables them.',
  }),
  tokens: Type.Array(tokenSchema, {
    ...unpaged,
    description: 'Team tokens of this workspace. Revoked with the membership.',
  }),
  invitations: Type.Array(invitationSchema, {
    ...unpaged,
    description: 'Open invitations. Withdrawn with the membership.',
  }),
})

/** Returns the active keys and webhooks of a member, for the person who removes them. */
async function readCreatedResources(deps: LeaveDeps, by: Member, userId: string) {
  const { workspaceId } = by
  if (by.userId !== userId && !roleCovers(by.role, 'admin'))
    throw forbidden('Only admins and owners can see this for other members')
  const { db } = deps
  if ((await findMember(db.sql, workspaceId, userId)) === undefined) throw memberNotFound()
  const now = deps.clock.now()
  const [keys, webhooks, tokens, invitations] = await Promise.all([
    selectActiveKeysOf(db.sql, workspaceId, userId, now),
    deps.webhooksOf(workspaceId, userId),
    listTeamTokens(db.sql, workspaceId, now, userId),
    listInvitations(deps, workspaceId, now),
  ])
  return {
    keys: keys.map((row) => presentKey(row, now)),
    webhooks: webhooks.map(withIsoTimes),
    tokens: tokens.map(presentToken),
    invitations: invitations.filter(({ createdBy }) => createdBy === userId).map(presentInvitation),
  }
}

const path = '/api/team/v1/workspaces/:workspaceId/members'
const removalQuery = Type.Object(
  {
    keys: Type.Optional(
      oneOf(['keep', 'revoke'], { description: 'What happens to the API keys they created.', default: 'keep' }),
    ),
    webhooks: Type.Optional(
      oneOf(['keep', 'disable'], { description: 'What happens to the webhooks they created.', default: 'keep' }),
    ),
  },
  closed,
)
const countSchema = (description: string) => count(description, { example: 1 })
const removalSchema = Type.Object({
  success: Type.Boolean({ example: true }),
  ended: Type.Object(
    {
      tokens: countSchema('Team tokens revoked.'),
      invitations: countSchema('Invitations withdrawn.'),
      keys: countSchema('API keys revoked.'),
      webhooks: countSchema('Webhooks disabled.'),
    },
    { description: 'What ended with the membership.' },
  ),
})
const memberParams = Type.Object({ ...workspaceParams, userId: idSchema('The member.') })

const awayBody = Type.Object(
  {
    isAway: Type.Boolean({ description: 'Whether the member is away.', example: true }),
    until: Type.Optional(nullable(timestamp('When the member is back, without saying so; null: when they say so.'))),
    userId: Type.Optional(idSchema('The member, for admins; the caller unless set.')),
  },
  { ...closed, example: { isAway: true } },
)

async function changeAway(
  { db, clock }: LeaveDeps,
  by: Member,
  { isAway, until, userId = by.userId ?? undefined }: Static<typeof awayBody>,
): Promise<void> {
  if (userId === undefined) throw forbidden('Tokens cannot be away. Sign in as a member.')
  const { workspaceId } = by
  const isOther = userId.toLowerCase() !== by.userId
  if (isOther && !roleCovers(by.role, 'admin')) throw forbidden('Only admins and owners can set this for other members')
  if (until != null && !isAway) throw invalid('until', 'must be null unless isAway is true')
  const now = clock.now()
  const untilTime = until == null ? null : parseFutureTime(until, 'until', now)
  await db.tx(async (tx) => {
    if (!(await setAway(tx, workspaceId, userId, isAway ? now : null, untilTime))) throw memberNotFound()
    publishMemberUpdate(tx, workspaceId, userId.toLowerCase())
    const entry = workspaceEntry(by, 'member.away-changed', `member:${userId.toLowerCase()}`)
    if (isOther) await recordAudit(tx, entry, now)
  })
}

export function memberTeamRoutes(app: App, deps: LeaveDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Members')
  api.get(path, 'member', {
    operationId: 'listMembers',
    summary: 'List members',
    description: 'Sorted by joining date, oldest first. Admins also see whose last mail was not delivered.',
    answers: { 200: Type.Object({ members: Type.Array(memberSchema, unpaged) }) },
    allErrors: [400, 401, 404],
    run: async ({ member }) => {
      const { workspaceId } = member
      return deps.keyStore.withKeyring(instanceScope, async (instanceKeys) => {
        const members = await listMembers(deps.db.sql, workspaceId, instanceKeys)
        const userIds = roleCovers(member.role, 'admin') ? members.map(({ userId }) => userId) : []
        const failed = await readFailedMails(deps.db.sql, instanceKeys, userIds)
        const now = deps.clock.now()
        return { members: members.map((one) => presentMember(one, now, failed.get(one.userId) ?? null)) }
      })
    },
  })
  api.post('/api/team/v1/workspaces/:workspaceId/away', 'member', {
    operationId: 'sayAway',
    summary: 'Set who is away',
    description:
      'The caller, or for admins another member. Who is away gets no conversations from teams, and colleagues see it when they assign conversations; existing assignments do not change. Open pages are notified by `team.member.changed`. Tokens must name the member, else they get 403.',
    body: awayBody,
    run: ({ member, body }) => changeAway(deps, member, body),
  })
  api.patch(`${path}/:userId`, 'admin', {
    operationId: 'updateMember',
    summary: "Change a member's role",
    description: 'For admins. Only owners can grant or remove the role owner. The last owner cannot be changed (409).',
    params: memberParams,
    body: Type.Object({ role: roleSchema }, closed),
    errors: [409],
    run: ({ member, params, body }) => changeRole(deps, member, params.userId, body.role),
  })
  removalRoutes(api, deps)
}

function removalRoutes(api: TeamApi, deps: LeaveDeps): void {
  api.get(`${path}/:userId/made`, 'member', {
    operationId: 'listMadeByMember',
    summary: 'List resources a member created',
    description:
      'For admins, and for members about themselves. Lists the working keys, webhooks, team tokens and invitations that the member created, directly or with a team token. Check it before you remove a member.',
    params: memberParams,
    answers: { 200: createdResourcesSchema },
    run: ({ member, params }) => readCreatedResources(deps, member, params.userId),
  })
  api.delete(`${path}/:userId`, 'member', {
    operationId: 'removeMember',
    summary: 'Remove a member',
    description:
      'For admins; members can remove themselves. Only owners can remove owners, and the last owner cannot be removed (409). Immediately ends their streams, revokes their team tokens of this workspace and withdraws their open invitations. Keys and webhooks that they created are kept by default: list them first.',
    params: memberParams,
    query: removalQuery,
    answers: { 200: removalSchema },
    errors: [409],
    run: async ({ member, params, query }) => {
      const { keys = 'keep', webhooks = 'keep' } = query
      const ended = await leaveTeam(deps, member, params.userId, { keys, webhooks })
      return { success: true, ended }
    },
  })
  api.delete(`${path}/:userId/sessions`, 'owner', {
    operationId: 'endSessionsOfMember',
    summary: 'Sign a member out everywhere',
    description:
      'For owners. Ends every session of the member, in other workspaces too, and voids their unused sign-in links. The member can sign in again.',
    params: memberParams,
    run: ({ member, params }) => endSessionsOfMember(deps, member, params.userId),
  })
}
