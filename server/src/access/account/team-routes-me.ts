import { Type } from 'typebox'
import { invalid } from '../../base/errors.ts'
import { type App, errors, titled } from '../../base/route.ts'
import { text } from '../../base/schema-types.ts'
import type { TeamGuard } from '../../team/member.ts'
import { closed, newPasswordSchema, personNameSchema, teamRoute } from '../../team/team-schema.ts'
import { codeSchema, csrfTokenSchema } from '../sign-in/schema.ts'
import { keepSession } from '../sign-in/team-routes-sign-in.ts'
import { visitorOf } from '../sign-in/visitor.ts'
import type { TeamDeps } from '../users/team-deps.ts'
import { changePassword, renameMe } from './profile.ts'
import { signedInUser } from './signed-in-user.ts'
import { confirmTotp, disableTotp, enrolTotp } from './two-factor.ts'

const path = '/api/team/v1/me'
const renewed = titled('RenewedSession', {
  success: Type.Boolean({ example: true }),
  csrfToken: Type.Optional(csrfTokenSchema),
})

const currentPassword = Type.String({
  maxLength: 256,
  description: 'The password as it is now.',
  example: 'four plain words together',
})

/** What a user changes about themselves. A new password or second factor ends every other session. */
export function meTeamRoutes(app: App, deps: TeamDeps, guard: TeamGuard): void {
  changeRoute(app, deps, guard)
  enrolRoute(app, deps, guard)
  confirmRoute(app, deps, guard)
  disableRoute(app, deps, guard)
}

function changeRoute(app: App, deps: TeamDeps, guard: TeamGuard): void {
  const current = Type.String({
    maxLength: 256,
    description: 'Needed for a new password, unless there is none or a sign-in link was used in the last 15 minutes.',
    example: 'an old pass phrase',
  })
  app.route({
    method: 'PATCH',
    url: path,
    onRequest: guard.signedIn(),
    schema: {
      ...teamRoute('Profile'),
      operationId: 'updateProfile',
      summary: 'Change my name or password',
      description: 'A new password ends every session; this browser gets a new one, with a new csrfToken.',
      body: Type.Partial(
        Type.Object({ name: personNameSchema, password: newPasswordSchema, currentPassword: current }),
        {
          ...closed,
          minProperties: 1,
        },
      ),
      response: { 200: renewed, ...errors(400, 401, 403, 413, 415, 429) },
    },
    handler: async (request, reply) => {
      const { userId } = signedInUser(request)
      const { name, password, currentPassword } = request.body
      if (password === undefined) {
        if (name === undefined) throw invalid('password', 'is required with currentPassword')
        await renameMe(deps, userId, name.trim())
        return { success: true }
      }
      const change = { newPassword: password, currentPassword }
      const session = await changePassword(deps, visitorOf(deps, request), userId, change)
      if (name !== undefined) await renameMe(deps, userId, name.trim())
      return { success: true, csrfToken: keepSession(deps, reply, session) }
    },
  })
}

function enrolRoute(app: App, deps: TeamDeps, guard: TeamGuard): void {
  const enrolment = Type.Object({
    secret: text(100, 'For typing into the authenticator.', { example: 'JBSWY3DPEHPK3PXP' }),
    uri: text(2000, 'For a QR code.', { example: 'otpauth://totp/Parley:ana%40example.com?secret=…' }),
  })
  app.route({
    method: 'POST',
    url: `${path}/totp`,
    onRequest: guard.signedIn(),
    schema: {
      ...teamRoute('Profile'),
      operationId: 'beginTwoFactor',
      summary: 'Begin two-factor sign-in',
      description:
        'Needs the password. Answers a secret for an authenticator. Nothing changes until it is confirmed with a code.',
      body: Type.Object({ password: currentPassword }, closed),
      response: { 200: enrolment, ...errors(400, 401, 403, 409, 413, 415, 429) },
    },
    handler: async (request) =>
      enrolTotp(deps, visitorOf(deps, request), signedInUser(request).userId, request.body.password),
  })
}

function confirmRoute(app: App, deps: TeamDeps, guard: TeamGuard): void {
  const recoveryCodes = Type.Array(Type.String({ maxLength: 40, example: '7kfm-92ah-xw4q-0dte' }), {
    maxItems: 10,
    description: 'Ten codes, each good for one sign-in without the authenticator. Shown only here.',
  })
  app.route({
    method: 'POST',
    url: `${path}/totp/confirm`,
    onRequest: guard.signedIn(),
    schema: {
      ...teamRoute('Profile'),
      operationId: 'enableTwoFactor',
      summary: 'Turn two-factor sign-in on',
      description: 'Every session ends; this browser gets a new one, with a new csrfToken.',
      body: Type.Object({ code: codeSchema }, closed),
      response: {
        200: Type.Object({ recoveryCodes, csrfToken: csrfTokenSchema }),
        ...errors(400, 401, 403, 409, 413, 415, 429),
      },
    },
    handler: async (request, reply) => {
      const { userId } = signedInUser(request)
      const { recoveryCodes, session } = await confirmTotp(deps, visitorOf(deps, request), userId, request.body.code)
      return { recoveryCodes, csrfToken: keepSession(deps, reply, session) }
    },
  })
}

function disableRoute(app: App, deps: TeamDeps, guard: TeamGuard): void {
  app.route({
    method: 'DELETE',
    url: `${path}/totp`,
    onRequest: guard.signedIn(),
    schema: {
      ...teamRoute('Profile'),
      operationId: 'disableTwoFactor',
      summary: 'Turn two-factor sign-in off',
      description: 'Needs the password and a code: six digits of the authenticator, or a recovery code.',
      body: Type.Object({ password: currentPassword, code: codeSchema }, closed),
      response: { 200: renewed, ...errors(400, 401, 403, 409, 413, 415, 429) },
    },
    handler: async (request, reply) => {
      const { userId } = signedInUser(request)
      const session = await disableTotp(deps, visitorOf(deps, request), userId, request.body)
      return { success: true, csrfToken: keepSession(deps, reply, session) }
    },
  })
}
