import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Tx } from '../../base/db.ts'
import { instanceScope } from '../../base/encryption/key-store.ts'
import { invalid, notFound } from '../../base/errors.ts'
import { type App, nullable, titled } from '../../base/route.ts'
import { count, text, unpaged } from '../../base/schema-types.ts'
import { version } from '../../base/version.ts'
import { instanceEntry, recordAudit, userActor } from '../../team/audit.ts'
import { type Member, signedInUser, type TeamActor, type TeamGuard } from '../../team/member.ts'
import { teamApi } from '../../team/team-api.ts'
import {
  closed,
  emailSchema,
  idSchema,
  languageSchema,
  newPasswordSchema,
  personNameSchema,
  roleSchema,
} from '../../team/team-schema.ts'
import { forgetSignInOrigins } from '../sign-in/login-throttle.ts'
import {
  codeSchema,
  csrfTokenSchema,
  endAllSessions,
  endOtherSessions,
  endSession,
  listSessions,
  presentSession,
  sessionSchema,
} from '../sign-in/sessions.ts'
import { deletePendingSignIns } from '../sign-in/sign-in.ts'
import { setSessionCookies } from '../sign-in/sign-in-routes.ts'
import { csrfTokenOf, ownCookie, visitorOf } from '../sign-in/visitor.ts'
import { findMember, listMemberships, memberNotFound } from '../users/members.ts'
import { decryptPerson, findUser, findUserByEmail, setLanguage, type TeamDeps } from '../users/users.ts'
import { changePassword, confirmTotp, disableTotp, enrolTotp, renameProfile } from './profile.ts'

const mePath = '/api/team/v1/me'
const renewedSessionSchema = titled('RenewedSession', {
  success: Type.Boolean({ example: true }),
  csrfToken: Type.Optional(csrfTokenSchema),
})

const currentPassword = Type.String({
  maxLength: 256,
  description: 'Your current password.',
  example: 'four plain words together',
})

const oldPassword = Type.String({
  maxLength: 256,
  description: 'Required to set a new password, unless you have none or signed in with a link in the last 15 minutes.',
  example: 'an old pass phrase',
})

const enrolmentSchema = Type.Object({
  secret: text(100, 'Secret to type into the authenticator.', { example: 'JBSWY3DPEHPK3PXP' }),
  uri: text(2000, 'Content of the QR code.', { example: 'otpauth://totp/Parley:ana%40example.com?secret=…' }),
})

const recoveryCodes = Type.Array(Type.String({ maxLength: 40, example: '7kfm-92ah-xw4q-0dte' }), {
  maxItems: 10,
  description: 'Ten codes, each valid for one sign-in without the authenticator. Shown only once, in this response.',
})

/** Adds the routes for a user's own account. A new password or second factor ends every other session. */
export function profileTeamRoutes(app: App, deps: TeamDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Profile')
  api.patch(mePath, 'signed-in', {
    operationId: 'updateProfile',
    summary: 'Change my name, password or language',
    description: 'A new password ends every session. This browser gets a new session with a new csrfToken.',
    body: Type.Partial(
      Type.Object({
        name: personNameSchema,
        password: newPasswordSchema,
        currentPassword: oldPassword,
        language: languageSchema,
      }),
      {
        ...closed,
        minProperties: 1,
      },
    ),
    answers: { 200: renewedSessionSchema },
    errors: [429],
    run: async ({ caller, body, request, reply }) => {
      const { userId } = signedInUser(caller)
      const { name, password, currentPassword, language } = body
      if (language !== undefined) await deps.db.tx((tx) => setLanguage(tx, userId, language))
      if (password === undefined) {
        if (name !== undefined) await renameProfile(deps, userId, name.trim())
        else if (language === undefined) throw invalid('password', 'is required with currentPassword')
        return { success: true }
      }
      const change = { newPassword: password, currentPassword }
      const session = await changePassword(deps, visitorOf(deps, request), userId, change)
      if (name !== undefined) await renameProfile(deps, userId, name.trim())
      return { success: true, csrfToken: setSessionCookies(deps, reply, session) }
    },
  })
  api.post(`${mePath}/totp`, 'signed-in', {
    operationId: 'beginTwoFactor',
    summary: 'Start two-factor setup',
    description:
      'Requires the password. Returns a secret for an authenticator. Nothing changes until you confirm it with a code.',
    body: Type.Object({ password: currentPassword }, closed),
    answers: { 200: enrolmentSchema },
    errors: [409, 429],
    run: ({ caller, body, request }) =>
      enrolTotp(deps, visitorOf(deps, request), signedInUser(caller).userId, body.password),
  })
  api.post(`${mePath}/totp/confirm`, 'signed-in', {
    operationId: 'enableTwoFactor',
    summary: 'Turn two-factor sign-in on',
    description: 'Ends every session. This browser gets a new session with a new csrfToken.',
    body: Type.Object({ code: codeSchema }, closed),
    answers: { 200: Type.Object({ recoveryCodes, csrfToken: csrfTokenSchema }) },
    errors: [409, 429],
    run: async ({ caller, body, request, reply }) => {
      const { userId } = signedInUser(caller)
      const { recoveryCodes, session } = await confirmTotp(deps, visitorOf(deps, request), userId, body.code)
      return { recoveryCodes, csrfToken: setSessionCookies(deps, reply, session) }
    },
  })
  api.delete(`${mePath}/totp`, 'signed-in', {
    operationId: 'disableTwoFactor',
    summary: 'Turn two-factor sign-in off',
    description: 'Requires the password and a code: six digits from the authenticator, or a recovery code.',
    body: Type.Object({ password: currentPassword, code: codeSchema }, closed),
    answers: { 200: renewedSessionSchema },
    errors: [409, 429],
    run: async ({ caller, body, request, reply }) => {
      const { userId } = signedInUser(caller)
      const session = await disableTotp(deps, visitorOf(deps, request), userId, body)
      return { success: true, csrfToken: setSessionCookies(deps, reply, session) }
    },
  })
}

const path = '/api/team/v1'

const userSchema = titled('User', {
  id: idSchema('The user.'),
  name: personNameSchema,
  email: emailSchema,
  isOperator: Type.Boolean({ description: 'Whether the user is an operator of this installation.', example: false }),
  hasPassword: Type.Boolean({ example: true }),
  twoFactor: Type.Boolean({ description: 'Whether sign-in requires a code.', example: true }),
  language: nullable(languageSchema),
})

const membership = titled('Membership', {
  id: idSchema('The workspace.'),
  name: text(100, 'Name of the workspace.', { example: 'Acme Sales' }),
  role: roleSchema,
})

const Session = Type.Object({
  user: Type.Unsafe<NonNullable<Awaited<ReturnType<typeof readProfile>>> | null>({
    ...userSchema,
    type: ['object', 'null'],
    description: 'The signed-in user; null for a token.',
  }),
  csrfToken: nullable(csrfTokenSchema),
  workspaces: Type.Array(membership, { ...unpaged, description: 'Workspaces of which the user is a member.' }),
  version: text(50, 'Version of the service.', { example: '0.1.0' }),
  sendsMail: Type.Boolean({ description: 'Whether this installation sends mail.', example: true }),
})

export function sessionTeamRoutes(app: App, deps: TeamDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Profile')
  api.get(`${path}/session`, 'signed-in', {
    operationId: 'getSession',
    summary: 'Get the signed-in user',
    description: 'Returns the user, their workspaces and the CSRF token that changes require.',
    answers: { 200: Session },
    allErrors: [400, 401],
    options: { config: { repeatsToken: true } },
    run: async ({ caller, request }) => {
      const { userId } = caller
      return {
        user: userId === null ? null : await readProfile(deps, userId),
        csrfToken: userId === null ? null : csrfTokenFor(deps, request),
        workspaces: userId === null ? [] : await listMemberships(deps.db.sql, userId),
        version,
        sendsMail: deps.mailer != null,
      }
    },
  })
  api.get(`${path}/sessions`, 'signed-in', {
    operationId: 'listSessions',
    summary: 'List my sessions',
    description: 'Returns the browsers in which you are signed in.',
    answers: { 200: Type.Object({ sessions: Type.Array(sessionSchema, unpaged) }) },
    run: async ({ caller }) => {
      const { userId, sessionId } = signedInUser(caller)
      const rows = await listSessions(deps, userId, deps.wallClock.now())
      return { sessions: rows.map((row) => presentSession(row, sessionId)) }
    },
  })
  api.delete(`${path}/sessions/:sessionId`, 'signed-in', {
    operationId: 'endSession',
    summary: 'End one of my sessions',
    description: 'Signs that browser out with its next request.',
    params: Type.Object({ sessionId: idSchema('The session.') }),
    errors: [404],
    run: async ({ caller, params }) => {
      const { userId } = signedInUser(caller)
      const { sessionId } = params
      await deps.db.tx(async (tx) => {
        if (!(await endSession(tx, userId, sessionId))) throw notFound('Session not found')
        await recordAudit(
          tx,
          instanceEntry(caller.actor, 'session.ended', `session:${sessionId}`),
          deps.wallClock.now(),
        )
      })
    },
  })
  api.delete(`${path}/sessions`, 'signed-in', {
    operationId: 'endMyOtherSessions',
    summary: 'End all my other sessions',
    description: 'Signs out every browser except the one that sends the request.',
    answers: {
      200: Type.Object({
        success: Type.Boolean({ example: true }),
        ended: count('Number of sessions ended.', { example: 2 }),
      }),
    },
    run: async ({ caller }) => {
      const { userId, sessionId } = signedInUser(caller)
      return { success: true, ended: await endMyOtherSessions(deps, userId, sessionId) }
    },
  })
  api.post(`${path}/sessions/end-all`, 'operator', {
    operationId: 'endSessionsOfUser',
    summary: 'Sign a user out everywhere',
    description:
      'For operators. Ends every session of the user and voids their unused sign-in links. The user can sign in again.',
    body: Type.Object({ email: emailSchema }, closed),
    errors: [404],
    run: ({ caller, body }) => endSessionsOfEmail(deps, caller.actor, body.email),
  })
}

async function readProfile(deps: TeamDeps, userId: string) {
  const user = await findUser(deps.db.sql, userId)
  if (user === undefined) return null
  const person = await deps.keyStore.withKeyring(instanceScope, (keys) => decryptPerson(keys, userId, user.person))
  return {
    id: userId,
    ...person,
    isOperator: user.is_operator,
    hasPassword: user.password_hash !== null,
    twoFactor: user.totp_confirmed_at !== null,
    language: user.language,
  }
}

/** Returns the CSRF token of the request's session. */
function csrfTokenFor(deps: TeamDeps, request: FastifyRequest): string | null {
  const sessionToken = ownCookie(deps.publicUrl, 'session').read(request)
  return sessionToken === null ? null : csrfTokenOf(sessionToken)
}

/** Signs a member of the workspace out everywhere and voids links and sign-ins in progress. */
export async function endSessionsOfMember(deps: TeamDeps, by: Member, userId: string): Promise<void> {
  await deps.db.tx(async (tx) => {
    if ((await findMember(tx, by.workspaceId, userId)) === undefined) throw memberNotFound()
    await endSessions(tx, userId, by.actor, by.workspaceId, deps.wallClock.now())
  })
}

/** Does the same for any user, for an operator. */
async function endSessionsOfEmail(deps: TeamDeps, by: TeamActor, email: string): Promise<void> {
  const instanceKeys = await deps.keyStore.keyring(instanceScope)
  await deps.db.tx(async (tx) => {
    const user = await findUserByEmail(tx, instanceKeys, email)
    if (user === undefined) throw notFound('No user has this e-mail')
    await endSessions(tx, user.id, by, instanceScope, deps.wallClock.now())
  })
}

/** Ends the user's other sessions. Returns how many. */
async function endMyOtherSessions(deps: TeamDeps, userId: string, sessionId: string): Promise<number> {
  return deps.db.tx(async (tx) => {
    const count = await endOtherSessions(tx, userId, sessionId)
    const entry = instanceEntry(userActor(userId), 'session.others-ended', `user:${userId}`)
    if (count > 0) await recordAudit(tx, entry, deps.wallClock.now(), count)
    return count
  })
}

async function endSessions(tx: Tx, userId: string, actor: TeamActor, scopeId: string, now: Date): Promise<void> {
  await endAllSessions(tx, userId)
  await deletePendingSignIns(tx, userId)
  await forgetSignInOrigins(tx, userId)
  await recordAudit(tx, { scopeId, actor, action: 'session.all-ended', target: `user:${userId}` }, now)
}
