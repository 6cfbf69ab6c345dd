import { randomUUID } from 'node:crypto'
import { Type } from 'typebox'
import { instanceScope } from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { ApiError, conflict, unprocessable } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { type App, oneOf } from '../../base/route.ts'
import { text } from '../../base/schema-types.ts'
import { emailKey } from '../../base/text/email.ts'
import type { Language } from '../../base/text/languages.ts'
import { linkMail, testMail } from '../../mail/mail-texts.ts'
import type { Mailer } from '../../mail/mailer.ts'
import { recordMail } from '../../mail/mails.ts'
import { countAudit, instanceEntry, systemActor } from '../../team/audit.ts'
import type { TeamGuard } from '../../team/member.ts'
import { teamApi } from '../../team/team-api.ts'
import { closed, emailSchema, languageSchema } from '../../team/team-schema.ts'
import { refuseForcedEmail, refuseLocalSignIn } from '../providers/forced.ts'
import { decryptPerson, findUserByEmail, type TeamDeps, type UserRow, type Visitor } from '../users/users.ts'
import { countAttempt, mailAttempt } from './login-throttle.ts'
import { createSignInLink } from './sign-in.ts'
import { visitorOf } from './visitor.ts'

const path = '/api/team/v1'
const purposes = ['sign-in', 'reset'] as const

/** Adds the routes for links by mail, and for a test mail. */
export function mailTeamRoutes(app: App, deps: TeamDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Sign-in')
  api.get(`${path}/sign-in/methods`, 'visitor', {
    operationId: 'getSignInMethods',
    summary: 'Get how people can sign in',
    description: 'For the sign-in page. Passwords always work.',
    answers: { 200: Type.Object({ mail: Type.Boolean({ description: 'Whether links are mailed.', example: true }) }) },
    allErrors: [400, 403],
    run: () => ({ mail: deps.mailer != null }),
  })
  api.post(`${path}/sign-in/mail`, 'visitor', {
    operationId: 'sendSignInLink',
    summary: 'Mail a sign-in link',
    description:
      'Mails a link that signs in once within 15 minutes; a second factor is still required. People who must use single sign-on get no mail. With `reset` it leads to the page for a new password. The answer is the same whether or not the address has an account. Repeated requests are delayed (429). 409 if no mail server is set up.',
    body: Type.Object(
      {
        email: emailSchema,
        purpose: oneOf(purposes, { description: 'What the link is for.', example: 'sign-in' }),
        language: languageSchema,
      },
      closed,
    ),
    allErrors: [400, 403, 409, 413, 415, 429],
    run: ({ body, request }) => mailLink(deps, visitorOf(deps, request), body),
  })
  api.post(`${path}/mail/test`, 'operator', {
    operationId: 'sendTestMail',
    summary: 'Send a test mail',
    description:
      'For operators. Sends at once and returns the words of the mail server; 422 with its words if it does not accept the mail, 409 if none is set up.',
    body: Type.Object({ email: emailSchema, language: Type.Optional(languageSchema) }, closed),
    answers: { 200: Type.Object({ answer: text(400, 'Answer of the mail server.', { example: '250 2.0.0 Ok' }) }) },
    errors: [409, 422],
    run: async ({ body }) => {
      const { email, language = 'en' } = body
      const now = deps.clock.now()
      const mail = { ...testMail(language), to: email.trim(), id: randomUUID(), createdAt: now }
      const { outcome, answer } = await requireMailer(deps).send(mail)
      if (outcome !== 'sent') throw unprocessable(`The mail server did not accept the mail (${answer})`)
      return { answer }
    },
  })
}

function requireMailer({ mailer }: TeamDeps): Mailer {
  if (mailer == null) throw conflict('Mail is not set up. An operator sets PARLEY_SMTP_URL and PARLEY_MAIL_FROM.')
  return mailer
}

const linkLifeMs = 15 * 60_000

/** Returns the user whom a mailed link may sign in. Links that operators create have other rules (`forced.ts`). */
async function findMailedUser({ db }: TeamDeps, instanceKeys: Keyring, email: string): Promise<UserRow | undefined> {
  const user = await findUserByEmail(db.sql, instanceKeys, email)
  try {
    if (user === undefined) await refuseForcedEmail(db.sql, instanceKeys, email)
    else await refuseLocalSignIn(db.sql, instanceKeys, user, 'password')
    return user
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

/**
 * Records a mail with a sign-in link, if the address has an account. Does the same work if it has none, because the
 * time of the answer would tell.
 */
async function mailLink(
  deps: TeamDeps,
  visitor: Visitor,
  { email, purpose, language }: { email: string; purpose: 'sign-in' | 'reset'; language: Language },
): Promise<void> {
  requireMailer(deps)
  const { db, keyStore, clock, wallClock, publicUrl } = deps
  const instanceKeys = await keyStore.keyring(instanceScope)
  const counters = mailAttempt(instanceKeys, emailKey(email), visitor)
  await db.tx((tx) => countAttempt(tx, counters, wallClock.now()))
  const user = await findMailedUser(deps, instanceKeys, email)
  await db.tx(async (tx) => {
    const link = await createSignInLink(tx, publicUrl, user?.id ?? randomUUID(), wallClock.now(), linkLifeMs)
    const url = purpose === 'reset' ? `${link.url}?reset` : link.url
    const to = user === undefined ? email.trim() : decryptPerson(instanceKeys, user.id, user.person).email
    const now = clock.now()
    const mail = {
      kind: purpose,
      cause: `${purpose}:${newId(now)}`,
      workspaceId: null,
      userId: user?.id ?? null,
      content: { ...linkMail(user?.language ?? language, purpose, url), to },
      expiresAt: new Date(now.getTime() + linkLifeMs),
    } as const
    await recordMail(tx, instanceKeys, mail, now, user !== undefined)
    const target = user === undefined ? null : `user:${user.id}`
    await countAudit(tx, instanceEntry(systemActor, 'sign-in-link.mailed', target), wallClock.now())
  })
}
