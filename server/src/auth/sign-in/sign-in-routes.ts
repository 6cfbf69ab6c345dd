import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { instanceScope } from '../../base/encryption/key-store.ts'
import { forbidden, notFound } from '../../base/errors.ts'
import { type App, timestamp } from '../../base/route.ts'
import { text } from '../../base/schema-types.ts'
import { instanceEntry, recordAudit } from '../../team/audit.ts'
import { type TeamGuard, teamCallerOf } from '../../team/member.ts'
import { type TeamApi, teamApi } from '../../team/team-api.ts'
import { closed, emailSchema } from '../../team/team-schema.ts'
import { reauthenticate } from '../account/profile.ts'
import { refuseLocalSignIn } from '../providers/forced.ts'
import { findUserByEmail, type TeamDeps } from '../users/users.ts'
import { rememberedForMs } from './login-throttle.ts'
import { codeSchema, endSession, type NewSession, reauthenticationFields, signInSchema } from './sessions.ts'
import { createSignInLink, type SignInStep, signIn, signInByLink, signInWithCode } from './sign-in.ts'
import { csrfTokenOf, ownCookie, visitorOf } from './visitor.ts'

const path = '/api/team/v1'
const password = Type.String({ minLength: 1, maxLength: 256, example: 'four plain words together' })
const challenge = Type.String({ minLength: 1, maxLength: 100, description: 'From the first step.', example: 'q3v0nY…' })
const token = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'Last part of the link.',
  example: 'wK8…',
})
const url = text(2000, 'Shown only once, in this response.', { example: 'https://parley.example.com/sign-in/wK8…' })

/** Adds the routes to sign in and out, and to create a sign-in link for another user. */
export function signInTeamRoutes(app: App, deps: TeamDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Sign-in')
  passwordRoutes(api, deps)
  api.post(`${path}/sign-out`, 'signed-in', {
    operationId: 'signOut',
    summary: 'Sign out',
    description: 'Ends this session. Does nothing for a token.',
    run: async ({ request, reply }) => {
      await signOut(deps, request)
      ownCookie(deps.publicUrl, 'session').clear(reply)
    },
  })
  // For a user who has no password or has lost it.
  api.post('/api/team/v1/sign-in-links', 'operator', {
    operationId: 'createSignInLink',
    summary: 'Create a sign-in link',
    description:
      'For operators. The link signs in as this user, once, within 24 hours; a second factor is still required. Signed-in callers must send their password, and a code if they use two-factor sign-in. You cannot create a link for yourself, because a stolen session could then set a new password.',
    body: Type.Object({ email: emailSchema, ...reauthenticationFields }, closed),
    answers: { 201: Type.Object({ url, expiresAt: timestamp('When it stops working.') }) },
    allErrors: [400, 401, 403, 404, 409, 429],
    run: async ({ caller, body, request }) => {
      await reauthenticate(deps, visitorOf(deps, request), caller, body)
      const instanceKeys = await deps.keyStore.keyring(instanceScope)
      const user = await findUserByEmail(deps.db.sql, instanceKeys, body.email)
      if (user === undefined) throw notFound('No user has this e-mail. Invite the person to a workspace')
      if (user.id === caller.creatorId) {
        throw forbidden(
          'You cannot create a sign-in link for yourself. Ask another operator, or run parley member link',
        )
      }
      await refuseLocalSignIn(deps.db.sql, instanceKeys, user, 'link')
      const now = deps.wallClock.now()
      const link = await deps.db.tx(async (tx) => {
        await recordAudit(tx, instanceEntry(caller.actor, 'sign-in-link.created', `user:${user.id}`), now)
        return createSignInLink(tx, deps.publicUrl, user.id, now)
      })
      return { url: link.url, expiresAt: link.expiresAt.toISOString() }
    },
  })
}

function passwordRoutes(api: TeamApi, deps: TeamDeps): void {
  const answers = { 200: signInSchema }
  api.post(`${path}/sign-in`, 'visitor', {
    operationId: 'signIn',
    summary: 'Sign in with a password',
    description: 'Sets the session cookie, or asks for the second factor. Failed attempts delay further ones.',
    body: Type.Object({ email: emailSchema, password }, closed),
    answers,
    errors: [429],
    run: async ({ body, request, reply }) =>
      presentStep(deps, reply, await signIn(deps, visitorOf(deps, request), body)),
  })
  api.post(`${path}/sign-in/totp`, 'visitor', {
    operationId: 'signInWithCode',
    summary: 'Sign in: the second factor',
    description: 'A code works once. A recovery code cannot be used again.',
    body: Type.Object({ challenge, code: codeSchema }, closed),
    answers,
    errors: [429],
    run: async ({ body, request, reply }) => {
      const session = await signInWithCode(deps, visitorOf(deps, request), body)
      return presentStep(deps, reply, { step: 'done', session })
    },
  })
  api.post(`${path}/sign-in/link`, 'visitor', {
    operationId: 'signInWithLink',
    summary: 'Sign in with a link',
    description: 'The link works once. A second factor is still required.',
    body: Type.Object({ token }, closed),
    answers,
    errors: [429],
    run: async ({ body, request, reply }) =>
      presentStep(deps, reply, await signInByLink(deps, visitorOf(deps, request), body.token)),
  })
}

/** Ends the session of the request. */
async function signOut(deps: TeamDeps, request: FastifyRequest): Promise<void> {
  const { userId, sessionId, actor } = teamCallerOf(request)
  if (userId === null || sessionId === null) return
  await deps.db.tx(async (tx) => {
    if (!(await endSession(tx, userId, sessionId))) return
    await recordAudit(tx, instanceEntry(actor, 'session.ended', `session:${sessionId}`), deps.wallClock.now())
  })
}

function presentStep(deps: TeamDeps, reply: FastifyReply, step: SignInStep) {
  if (step.step === 'totp') return { step: step.step, challenge: step.challenge.token }
  return { step: step.step, csrfToken: setSessionCookies(deps, reply, step.session) }
}

/** Sets the session cookie and returns the CSRF token. */
export function setSessionCookies(deps: TeamDeps, reply: FastifyReply, session: NewSession): string {
  ownCookie(deps.publicUrl, 'session').set(reply, session.token, { expires: session.expiresAt })
  const { deviceToken } = session
  const maxAge = rememberedForMs / 1000
  if (deviceToken !== undefined) ownCookie(deps.publicUrl, 'device').set(reply, deviceToken, { maxAge })
  return csrfTokenOf(session.token)
}
