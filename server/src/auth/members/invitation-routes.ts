import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { App } from '../../base/route.ts'
import { text, unpaged } from '../../base/schema-types.ts'
import type { TeamGuard } from '../../team/member.ts'
import { type TeamApi, teamApi } from '../../team/team-api.ts'
import {
  closed,
  emailSchema,
  idSchema,
  newPasswordSchema,
  personNameSchema,
  roleSchema,
  workspaceParams,
} from '../../team/team-schema.ts'
import { csrfTokenSchema, findSession } from '../sign-in/sessions.ts'
import { keepSession } from '../sign-in/sign-in-routes.ts'
import { csrfHeader, refuseForgery, visitorOf } from '../sign-in/visitor.ts'
import type { TeamDeps } from '../users/users.ts'
import {
  acceptInvitation,
  invite,
  listInvitations,
  readInvitation,
  showInvitationLink,
  withdrawInvitation,
} from './invitations.ts'
import { invitationSchema, presentInvitation } from './people.ts'

const path = '/api/team/v1/workspaces/:workspaceId/invitations'

const url = Type.String({
  maxLength: 2000,
  description: 'Give it to the person: it works once, until the invitation expires.',
  example: 'https://parley.example.com/invite/wK8…',
})
const token = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'The last part of the link.',
  example: 'wK8…',
})
const InvitedTo = Type.Object({
  workspaceName: text(100, 'Of the workspace to join.', { example: 'Acme Sales' }),
  email: emailSchema,
  role: roleSchema,
})
const Joined = Type.Object({ workspaceId: idSchema('The workspace.'), csrfToken: Type.Optional(csrfTokenSchema) })

/** How people come into a workspace. */
export function invitationTeamRoutes(app: App, deps: TeamDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Members')
  api.get(path, 'admin', {
    operationId: 'listInvitations',
    summary: 'List invitations',
    description: 'For admins: those that can still be accepted.',
    answers: { 200: Type.Object({ invitations: Type.Array(invitationSchema, unpaged) }) },
    run: async ({ member }) => {
      const { workspaceId } = member
      const invitations = await deps.keyStore.withKeyring(workspaceId, (keyring) =>
        listInvitations(deps.db.sql, workspaceId, keyring, deps.clock.now()),
      )
      return { invitations: invitations.map(presentInvitation) }
    },
  })
  api.post(path, 'admin', {
    operationId: 'createInvitation',
    summary: 'Invite a person',
    description: 'For admins; only owners invite owners.',
    body: Type.Object({ email: emailSchema, role: roleSchema }, closed),
    answers: { 201: Type.Object({ invitation: invitationSchema, url }) },
    run: async ({ member, body }) => {
      const { email, role } = body
      const { invitation, url } = await invite(deps, member, { email: email.trim(), role })
      return { invitation: presentInvitation(invitation), url }
    },
  })
  api.post(`${path}/:invitationId/link`, 'admin', {
    operationId: 'copyInvitationLink',
    summary: 'Copy the link of an invitation again',
    description:
      'For admins; only owners for one of an owner. The same link as before, while it can be accepted; the audit log keeps who asked for it. 409 when the invitation was made before links were kept.',
    params: Type.Object({ ...workspaceParams, invitationId: idSchema('The invitation.') }),
    answers: { 200: Type.Object({ url }) },
    errors: [409],
    run: async ({ member, params }) => ({
      url: await showInvitationLink(deps, member, params.invitationId),
    }),
  })
  api.delete(`${path}/:invitationId`, 'admin', {
    operationId: 'revokeInvitation',
    summary: 'Withdraw an invitation',
    description: 'For admins. Its link stops working.',
    params: Type.Object({ ...workspaceParams, invitationId: idSchema('The invitation.') }),
    run: ({ member, params }) => withdrawInvitation(deps, member, params.invitationId),
  })
  api.post('/api/team/v1/invitations/read', 'visitor', {
    operationId: 'readInvitation',
    summary: 'See what an invitation is for',
    description: 'For who has its link. It changes nothing: mail programs open links to look at them.',
    body: Type.Object({ token }, closed),
    answers: { 200: InvitedTo },
    allErrors: [400, 403, 404, 413, 415],
    run: ({ body }) => readInvitation(deps, body.token),
  })
  acceptRoute(api, deps)
}

/** The person who is invited has no session yet, or one that is in no workspace. */
function acceptRoute(api: TeamApi, deps: TeamDeps): void {
  api.post('/api/team/v1/invitations/accept', 'visitor', {
    operationId: 'acceptInvitation',
    summary: 'Accept an invitation',
    description: 'A signed-in user joins as who they are; anyone else sends a name and a password and is signed in.',
    body: Type.Object(
      { token, name: Type.Optional(personNameSchema), password: Type.Optional(newPasswordSchema) },
      closed,
    ),
    answers: { 200: Joined },
    errors: [404, 409],
    run: async ({ body, request, reply }) => {
      const { token, name, password } = body
      const userId = await signedInAs(deps, request)
      const as = userId === null ? { name, password } : { userId }
      const joined = await acceptInvitation(deps, visitorOf(deps, request), token, as)
      const csrfToken = joined.session === null ? undefined : keepSession(deps, reply, joined.session)
      return { workspaceId: joined.workspaceId, ...(csrfToken === undefined ? {} : { csrfToken }) }
    },
  })
}

/** The user of the request's session, if there is one: then the change needs the session's token as any other. */
async function signedInAs(deps: TeamDeps, request: FastifyRequest): Promise<string | null> {
  const { sessionToken } = visitorOf(deps, request)
  const session = sessionToken === null ? undefined : await findSession(deps, sessionToken, deps.wallClock.now())
  if (sessionToken === null || session === undefined) return null
  refuseForgery(request.headers, deps.publicUrl, sessionToken, request.headers[csrfHeader]?.toString())
  return session.user_id
}
