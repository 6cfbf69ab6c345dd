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
import { setSessionCookies } from '../sign-in/sign-in-routes.ts'
import { csrfHeader, requireCsrfToken, visitorOf } from '../sign-in/visitor.ts'
import type { TeamDeps } from '../users/users.ts'
import {
  acceptInvitation,
  createInvitation,
  listInvitations,
  mailInvitationAgain,
  readInvitation,
  readInvitationLink,
  withdrawInvitation,
} from './invitations.ts'
import { invitationSchema, presentInvitation } from './people.ts'

const path = '/api/team/v1/workspaces/:workspaceId/invitations'

const url = Type.String({
  maxLength: 2000,
  description: 'Send it to the person. It works once and only until the invitation expires.',
  example: 'https://parley.example.com/invite/wK8…',
})
const token = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'Last part of the link.',
  example: 'wK8…',
})
const invitedToSchema = Type.Object({
  workspaceName: text(100, 'Name of the workspace to join.', { example: 'Acme Sales' }),
  email: emailSchema,
  role: roleSchema,
})
const joinedSchema = Type.Object({ workspaceId: idSchema('The workspace.'), csrfToken: Type.Optional(csrfTokenSchema) })

export function invitationTeamRoutes(app: App, deps: TeamDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Members')
  api.get(path, 'admin', {
    operationId: 'listInvitations',
    summary: 'List invitations',
    description: 'For admins. Returns invitations that can still be accepted.',
    answers: { 200: Type.Object({ invitations: Type.Array(invitationSchema, unpaged) }) },
    run: async ({ member }) => {
      const { workspaceId } = member
      const invitations = await listInvitations(deps, workspaceId, deps.clock.now())
      return { invitations: invitations.map(presentInvitation) }
    },
  })
  api.post(path, 'admin', {
    operationId: 'createInvitation',
    summary: 'Invite a person',
    description:
      'For admins. Only owners can invite owners. The link is mailed if a mail server is set up (`mail` of the invitation); you can also send it yourself.',
    body: Type.Object({ email: emailSchema, role: roleSchema }, closed),
    answers: { 201: Type.Object({ invitation: invitationSchema, url }) },
    run: async ({ member, body }) => {
      const { email, role } = body
      const { invitation, url } = await createInvitation(deps, member, { email: email.trim(), role })
      return { invitation: presentInvitation(invitation), url }
    },
  })
  api.post(`${path}/:invitationId/link`, 'admin', {
    operationId: 'copyInvitationLink',
    summary: 'Get the link of an invitation',
    description:
      'For admins; only owners can get the link of an invitation with role owner. Returns the same link again while it can be accepted, and records the caller in the audit log. 409 if the invitation was created before links were stored.',
    params: Type.Object({ ...workspaceParams, invitationId: idSchema('The invitation.') }),
    answers: { 200: Type.Object({ url }) },
    errors: [409],
    run: async ({ member, params }) => ({
      url: await readInvitationLink(deps, member, params.invitationId),
    }),
  })
  api.post(`${path}/:invitationId/mail`, 'admin', {
    operationId: 'mailInvitation',
    summary: 'Mail an invitation again',
    description:
      'For admins; only owners can mail an invitation with role owner. 409 without a mail server, and if a mail waits or was sent in the last 5 minutes.',
    params: Type.Object({ ...workspaceParams, invitationId: idSchema('The invitation.') }),
    errors: [409],
    run: ({ member, params }) => mailInvitationAgain(deps, member, params.invitationId.toLowerCase()),
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
    summary: 'Get an invitation by its link',
    description: 'Requires the token of the link. Changes nothing, because mail programs open links to preview them.',
    body: Type.Object({ token }, closed),
    answers: { 200: invitedToSchema },
    allErrors: [400, 403, 404, 413, 415],
    run: ({ body }) => readInvitation(deps, body.token),
  })
  acceptRoute(api, deps)
}

/** Adds the route to accept an invitation. The person has no session yet, or a session without this workspace. */
function acceptRoute(api: TeamApi, deps: TeamDeps): void {
  api.post('/api/team/v1/invitations/accept', 'visitor', {
    operationId: 'acceptInvitation',
    summary: 'Accept an invitation',
    description:
      'A signed-in user joins with their account. Others send a name and a password, which creates an account and signs them in.',
    body: Type.Object(
      { token, name: Type.Optional(personNameSchema), password: Type.Optional(newPasswordSchema) },
      closed,
    ),
    answers: { 200: joinedSchema },
    errors: [404, 409],
    run: async ({ body, request, reply }) => {
      const { token, name, password } = body
      const userId = await sessionUserOf(deps, request)
      const as = userId === null ? { name, password } : { userId }
      const joined = await acceptInvitation(deps, visitorOf(deps, request), token, as)
      const csrfToken = joined.session === null ? undefined : setSessionCookies(deps, reply, joined.session)
      return { workspaceId: joined.workspaceId, ...(csrfToken === undefined ? {} : { csrfToken }) }
    },
  })
}

/** Returns the user of the request's session, or null if there is none. With a session, its CSRF token is required. */
async function sessionUserOf(deps: TeamDeps, request: FastifyRequest): Promise<string | null> {
  const { sessionToken } = visitorOf(deps, request)
  const session = await findSession(deps, sessionToken, deps.wallClock.now())
  if (sessionToken === null || session === undefined) return null
  requireCsrfToken(request.headers, deps.publicUrl, sessionToken, request.headers[csrfHeader]?.toString())
  return session.userId
}
