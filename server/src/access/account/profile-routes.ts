import { Type } from 'typebox'
import { invalid } from '../../base/errors.ts'
import { type App, titled } from '../../base/route.ts'
import { text } from '../../base/schema-types.ts'
import type { TeamGuard } from '../../team/member.ts'
import { teamApi } from '../../team/team-api.ts'
import { closed, newPasswordSchema, personNameSchema } from '../../team/team-schema.ts'
import { codeSchema, csrfTokenSchema } from '../sign-in/sessions.ts'
import { keepSession } from '../sign-in/sign-in-routes.ts'
import { visitorOf } from '../sign-in/visitor.ts'
import type { TeamDeps } from '../users/users.ts'
import { changePassword, confirmTotp, disableTotp, enrolTotp, renameMe } from './profile.ts'
import { signedInUser } from './session-routes.ts'

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

const oldPassword = Type.String({
  maxLength: 256,
  description: 'Needed for a new password, unless there is none or a sign-in link was used in the last 15 minutes.',
  example: 'an old pass phrase',
})

const enrolment = Type.Object({
  secret: text(100, 'For typing into the authenticator.', { example: 'JBSWY3DPEHPK3PXP' }),
  uri: text(2000, 'For a QR code.', { example: 'otpauth://totp/Parley:ana%40example.com?secret=…' }),
})

const recoveryCodes = Type.Array(Type.String({ maxLength: 40, example: '7kfm-92ah-xw4q-0dte' }), {
  maxItems: 10,
  description: 'Ten codes, each good for one sign-in without the authenticator. Shown only here.',
})

/** What a user changes about themselves. A new password or second factor ends every other session. */
export function meTeamRoutes(app: App, deps: TeamDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Profile')
  api.patch(path, 'signed-in', {
    operationId: 'updateProfile',
    summary: 'Change my name or password',
    description: 'A new password ends every session; this browser gets a new one, with a new csrfToken.',
    body: Type.Partial(
      Type.Object({ name: personNameSchema, password: newPasswordSchema, currentPassword: oldPassword }),
      {
        ...closed,
        minProperties: 1,
      },
    ),
    answers: { 200: renewed },
    errors: [429],
    run: async ({ caller, body, request, reply }) => {
      const { userId } = signedInUser(caller)
      const { name, password, currentPassword } = body
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
  api.post(`${path}/totp`, 'signed-in', {
    operationId: 'beginTwoFactor',
    summary: 'Begin two-factor sign-in',
    description:
      'Needs the password. Answers a secret for an authenticator. Nothing changes until it is confirmed with a code.',
    body: Type.Object({ password: currentPassword }, closed),
    answers: { 200: enrolment },
    errors: [409, 429],
    run: ({ caller, body, request }) =>
      enrolTotp(deps, visitorOf(deps, request), signedInUser(caller).userId, body.password),
  })
  api.post(`${path}/totp/confirm`, 'signed-in', {
    operationId: 'enableTwoFactor',
    summary: 'Turn two-factor sign-in on',
    description: 'Every session ends; this browser gets a new one, with a new csrfToken.',
    body: Type.Object({ code: codeSchema }, closed),
    answers: { 200: Type.Object({ recoveryCodes, csrfToken: csrfTokenSchema }) },
    errors: [409, 429],
    run: async ({ caller, body, request, reply }) => {
      const { userId } = signedInUser(caller)
      const { recoveryCodes, session } = await confirmTotp(deps, visitorOf(deps, request), userId, body.code)
      return { recoveryCodes, csrfToken: keepSession(deps, reply, session) }
    },
  })
  api.delete(`${path}/totp`, 'signed-in', {
    operationId: 'disableTwoFactor',
    summary: 'Turn two-factor sign-in off',
    description: 'Needs the password and a code: six digits of the authenticator, or a recovery code.',
    body: Type.Object({ password: currentPassword, code: codeSchema }, closed),
    answers: { 200: renewed },
    errors: [409, 429],
    run: async ({ caller, body, request, reply }) => {
      const { userId } = signedInUser(caller)
      const session = await disableTotp(deps, visitorOf(deps, request), userId, body)
      return { success: true, csrfToken: keepSession(deps, reply, session) }
    },
  })
}
