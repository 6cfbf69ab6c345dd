import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { type App, errors } from '../../base/route.ts'
import { text, unpaged } from '../../base/schema-types.ts'
import { memberOf, type TeamGuard } from '../../team/member.ts'
import {
  closed,
  done,
  emailSchema,
  idSchema,
  newPasswordSchema,
  openTeamRoute,
  personNameSchema,
  roleSchema,
  teamRoute,
  workspaceParams,
} from '../../team/team-schema.ts'
import { csrfHeader, refuseForeignOrigin, refuseForgery } from '../sign-in/csrf.ts'
import { csrfTokenSchema } from '../sign-in/schema.ts'
import { findSession } from '../sign-in/sessions.ts'
import { keepSession } from '../sign-in/team-routes-sign-in.ts'
import { visitorOf } from '../sign-in/visitor.ts'
import type { TeamDeps } from '../users/team-deps.ts'
import { acceptInvitation } from './accept-invitation.ts'
import { invite, listInvitations, readInvitation, showInvitationLink, withdrawInvitation } from './invitations.ts'
import { invitationSchema, presentInvitation } from './schema.ts'

const path = '/api/team/v1/workspaces/:workspaceId/invitations'
const params = Type.Object(workspaceParams)

/** How people come into a workspace. */
export function invitationTeamRoutes(app: App, deps: TeamDeps, guard: TeamGuard): void {
  listRoute(app, deps, guard)
  inviteRoute(app, deps, guard)
  linkRoute(app, deps, guard)
  withdrawRoute(app, deps, guard)
  readRoute(app, deps)
  acceptRoute(app, deps)
}

function listRoute(app: App, deps: TeamDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: path,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('Members'),
      operationId: 'listInvitations',
      summary: 'List invitations',
      description: 'For admins: those that can still be accepted.',
      params,
      response: {
        200: Type.Object({ invitations: Type.Array(invitationSchema, unpaged) }),
        ...errors(400, 401, 403, 404),
      },
    },
    handler: async (request) => {
      const { workspaceId } = memberOf(request)
      const invitations = await deps.vault.withKeyring(workspaceId, (keyring) =>
        listInvitations(deps.db.sql, workspaceId, keyring, deps.clock.now()),
      )
      return { invitations: invitations.map(presentInvitation) }
    },
  })
}

const url = Type.String({
  maxLength: 2000,
  description: 'Give it to the person: it works once, until the invitation expires.',
  example: 'https://parley.example.com/invite/wK8…',
})

function linkRoute(app: App, deps: TeamDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: `${path}/:invitationId/link`,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('Members'),
      operationId: 'copyInvitationLink',
      summary: 'Copy the link of an invitation again',
      description:
        'For admins; only owners for one of an owner. The same link as before, while it can be accepted; the audit log keeps who asked for it. 409 when the invitation was made before links were kept.',
      params: Type.Object({ ...workspaceParams, invitationId: idSchema('The invitation.') }),
      response: { 200: Type.Object({ url }), ...errors(400, 401, 403, 404, 409) },
    },
    handler: async (request) => ({
      url: await showInvitationLink(deps, memberOf(request), request.params.invitationId),
    }),
  })
}

function inviteRoute(app: App, deps: TeamDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: path,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('Members'),
      operationId: 'createInvitation',
      summary: 'Invite a person',
      description: 'For admins; only owners invite owners.',
      params,
      body: Type.Object({ email: emailSchema, role: roleSchema }, closed),
      response: { 201: Type.Object({ invitation: invitationSchema, url }), ...errors(400, 401, 403, 404, 413, 415) },
    },
    handler: async (request, reply) => {
      const { email, role } = request.body
      const { invitation, url } = await invite(deps, memberOf(request), { email: email.trim(), role })
      return reply.code(201).send({ invitation: presentInvitation(invitation), url })
    },
  })
}

function withdrawRoute(app: App, deps: TeamDeps, guard: TeamGuard): void {
  app.route({
    method: 'DELETE',
    url: `${path}/:invitationId`,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('Members'),
      operationId: 'revokeInvitation',
      summary: 'Withdraw an invitation',
      description: 'For admins. Its link stops working.',
      params: Type.Object({ ...workspaceParams, invitationId: idSchema('The invitation.') }),
      response: { 200: done, ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      await withdrawInvitation(deps, memberOf(request), request.params.invitationId)
      return { success: true }
    },
  })
}

const token = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'The last part of the link.',
  example: 'wK8…',
})

function readRoute(app: App, deps: TeamDeps): void {
  app.route({
    method: 'POST',
    url: '/api/team/v1/invitations/read',
    onRequest: async (request) => refuseForeignOrigin(request.headers, deps.publicUrl),
    schema: {
      ...openTeamRoute('Members'),
      operationId: 'readInvitation',
      summary: 'See what an invitation is for',
      description: 'For who has its link. It changes nothing: mail programs open links to look at them.',
      body: Type.Object({ token }, closed),
      response: {
        200: Type.Object({
          workspaceName: text(100, 'Of the workspace to join.', { example: 'Acme Sales' }),
          email: emailSchema,
          role: roleSchema,
        }),
        ...errors(400, 403, 404, 413, 415),
      },
    },
    handler: (request) => readInvitation(deps, request.body.token),
  })
}

function acceptRoute(app: App, deps: TeamDeps): void {
  app.route({
    method: 'POST',
    url: '/api/team/v1/invitations/accept',
    onRequest: async (request) => refuseForeignOrigin(request.headers, deps.publicUrl),
    schema: {
      ...openTeamRoute('Members'),
      operationId: 'acceptInvitation',
      summary: 'Accept an invitation',
      description: 'A signed-in user joins as who they are; anyone else sends a name and a password and is signed in.',
      body: Type.Object(
        { token, name: Type.Optional(personNameSchema), password: Type.Optional(newPasswordSchema) },
        closed,
      ),
      response: {
        200: Type.Object({ workspaceId: idSchema('The workspace.'), csrfToken: Type.Optional(csrfTokenSchema) }),
        ...errors(400, 401, 403, 404, 409, 413, 415),
      },
    },
    handler: async (request, reply) => {
      const { token, name, password } = request.body
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
