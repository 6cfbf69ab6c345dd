import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { notFound } from '../../base/errors.ts'
import { type App, errors, nullable, titled } from '../../base/route.ts'
import { count, text, unpaged } from '../../base/schema-types.ts'
import { instanceScope } from '../../base/sealing/vault.ts'
import { version } from '../../base/version.ts'
import { recordAudit } from '../../team/audit.ts'
import { type TeamGuard, teamCallerOf } from '../../team/member.ts'
import { closed, done, emailSchema, idSchema, personNameSchema, roleSchema, teamRoute } from '../../team/team-schema.ts'
import { sessionCookie } from '../sign-in/cookies.ts'
import { csrfTokenOf } from '../sign-in/csrf.ts'
import { csrfTokenSchema, presentSession, sessionSchema } from '../sign-in/schema.ts'
import { endSession, listSessions } from '../sign-in/sessions.ts'
import { listMemberships } from '../users/members.ts'
import type { TeamDeps } from '../users/team-deps.ts'
import { findUser, openPerson } from '../users/users.ts'
import { endMyOtherSessions, endSessionsOfEmail } from './end-sessions.ts'
import { signedInUser } from './signed-in-user.ts'

const path = '/api/team/v1'

/** Who am I, and where am I signed in. */
export function sessionTeamRoutes(app: App, deps: TeamDeps, guard: TeamGuard): void {
  whoAmIRoute(app, deps, guard)
  listRoute(app, deps, guard)
  endRoute(app, deps, guard)
  endOthersRoute(app, deps, guard)
  endAllRoute(app, deps, guard)
}

const me = titled('User', {
  id: idSchema('The user.'),
  name: personNameSchema,
  email: emailSchema,
  isOperator: Type.Boolean({ description: 'Runs this installation.', example: false }),
  hasPassword: Type.Boolean({ example: true }),
  twoFactor: Type.Boolean({ description: 'Whether a code is asked for at sign-in.', example: true }),
})

const membership = titled('Membership', {
  id: idSchema('The workspace.'),
  name: text(100, 'What it is called.', { example: 'Acme Sales' }),
  role: roleSchema,
})

function whoAmIRoute(app: App, deps: TeamDeps, guard: TeamGuard): void {
  const body = Type.Object({
    user: Type.Unsafe<NonNullable<Awaited<ReturnType<typeof readMe>>> | null>({
      ...me,
      type: ['object', 'null'],
      description: 'Null for a token.',
    }),
    csrfToken: nullable(csrfTokenSchema),
    workspaces: Type.Array(membership, { ...unpaged, description: 'Where the user is a member.' }),
    version: text(50, 'Of the service.', { example: '0.1.0' }),
  })
  app.route({
    method: 'GET',
    url: `${path}/session`,
    config: { repeatsToken: true },
    onRequest: guard.signedIn(),
    schema: {
      ...teamRoute('Profile'),
      operationId: 'getSession',
      summary: 'Who am I',
      description: 'The signed-in user, their workspaces, and the token that changes need.',
      response: { 200: body, ...errors(400, 401) },
    },
    handler: async (request) => {
      const { userId } = teamCallerOf(request)
      return {
        user: userId === null ? null : await readMe(deps, userId),
        csrfToken: userId === null ? null : csrfTokenFor(deps, request),
        workspaces: userId === null ? [] : await listMemberships(deps.db.sql, userId),
        version,
      }
    },
  })
}

async function readMe(deps: TeamDeps, userId: string) {
  const user = await findUser(deps.db.sql, userId)
  if (user === undefined) return null
  const person = await deps.vault.withKeyring(instanceScope, (keys) => openPerson(keys, userId, user.person))
  return {
    id: userId,
    ...person,
    isOperator: user.is_operator,
    hasPassword: user.password_hash !== null,
    twoFactor: user.totp_confirmed_at !== null,
  }
}

/** The token of the session that the request came with, for its forms and its answers. */
function csrfTokenFor(deps: TeamDeps, request: FastifyRequest): string | null {
  const sessionToken = sessionCookie(deps.publicUrl).read(request)
  return sessionToken === null ? null : csrfTokenOf(sessionToken)
}

function listRoute(app: App, deps: TeamDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: `${path}/sessions`,
    onRequest: guard.signedIn(),
    schema: {
      ...teamRoute('Profile'),
      operationId: 'listSessions',
      summary: 'List my sessions',
      description: 'The browsers in which the signed-in user is signed in.',
      response: { 200: Type.Object({ sessions: Type.Array(sessionSchema, unpaged) }), ...errors(400, 401, 403) },
    },
    handler: async (request) => {
      const { userId, sessionId } = signedInUser(request)
      const rows = await listSessions(deps, userId, deps.wallClock.now())
      return { sessions: rows.map((row) => presentSession(row, sessionId)) }
    },
  })
}

function endRoute(app: App, deps: TeamDeps, guard: TeamGuard): void {
  app.route({
    method: 'DELETE',
    url: `${path}/sessions/:sessionId`,
    onRequest: guard.signedIn(),
    schema: {
      ...teamRoute('Profile'),
      operationId: 'endSession',
      summary: 'End one of my sessions',
      description: 'That browser is signed out with its next request.',
      params: Type.Object({ sessionId: idSchema('The session.') }),
      response: { 200: done, ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      const { userId } = signedInUser(request)
      const { sessionId } = request.params
      const { actor } = teamCallerOf(request)
      await deps.db.tx(async (tx) => {
        if (!(await endSession(tx, userId, sessionId))) throw notFound('Session not found')
        const entry = { scopeId: instanceScope, actor, action: 'session.ended', target: `session:${sessionId}` }
        await recordAudit(tx, entry, deps.wallClock.now())
      })
      return { success: true }
    },
  })
}

function endOthersRoute(app: App, deps: TeamDeps, guard: TeamGuard): void {
  app.route({
    method: 'DELETE',
    url: `${path}/sessions`,
    onRequest: guard.signedIn(),
    schema: {
      ...teamRoute('Profile'),
      operationId: 'endMyOtherSessions',
      summary: 'End all my other sessions',
      description: 'Every other browser is signed out. The one that asks stays.',
      response: {
        200: Type.Object({
          success: Type.Boolean({ example: true }),
          ended: count('How many there were.', { example: 2 }),
        }),
        ...errors(400, 401, 403),
      },
    },
    handler: async (request) => {
      const { userId, sessionId } = signedInUser(request)
      return { success: true, ended: await endMyOtherSessions(deps, userId, sessionId) }
    },
  })
}

function endAllRoute(app: App, deps: TeamDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: `${path}/sessions/end-all`,
    onRequest: guard.operator(),
    schema: {
      ...teamRoute('Profile'),
      operationId: 'endSessionsOfUser',
      summary: 'Sign a user out everywhere',
      description:
        'For operators. Every session of the user ends, and so do sign-in links that nobody has used. They may sign in again.',
      body: Type.Object({ email: emailSchema }, closed),
      response: { 200: done, ...errors(400, 401, 403, 404, 413, 415) },
    },
    handler: async (request) => {
      await endSessionsOfEmail(deps, teamCallerOf(request).actor, request.body.email)
      return { success: true }
    },
  })
}
