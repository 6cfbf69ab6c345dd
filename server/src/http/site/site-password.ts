import type { FastifyRequest } from 'fastify'
import { changePassword } from '../../access/account/profile.ts'
import { refuseForgery } from '../../access/sign-in/csrf.ts'
import { keepSession } from '../../access/sign-in/sign-in-routes.ts'
import { visitorOf } from '../../access/sign-in/visitor.ts'
import { findUser, openPerson } from '../../access/users/users.ts'
import type { App } from '../../base/route.ts'
import { instanceScope } from '../../base/sealing/vault.ts'
import { fieldOf } from './form-body.ts'
import { sendPage } from './pages/layout.ts'
import { choosePasswordPage } from './pages/sign-in.ts'
import { type Words, wordsFor } from './pages/words.ts'
import { checkFields, showProblem } from './site-problems.ts'
import { type SignedInVisit, type SiteDeps, signedInVisit } from './site-visit.ts'

/** Where a sign-in link leads first. */
export const choosePasswordPath = '/choose-password'

const [minLength, maxLength] = [12, 256]

interface Passwordless extends SignedInVisit {
  userId: string
  email: string
}

/** Asks those who came by a link and have no password to choose one: without it the end of the session locks them out. */
export function passwordRoutes(site: App, deps: SiteDeps): void {
  site.get(choosePasswordPath, { config: { repeatsToken: true } }, async (request, reply) => {
    const visit = await passwordlessVisit(deps, request)
    if (visit === null) return reply.redirect('/', 303)
    return sendPage(reply, choosePasswordPage(wordsFor(request.headers), visit.email, visit.csrfToken, {}))
  })
  site.post(choosePasswordPath, { config: { repeatsToken: true } }, async (request, reply) => {
    const visit = await passwordlessVisit(deps, request)
    if (visit === null) return reply.redirect('/', 303)
    const { sessionToken, csrfToken, userId, email } = visit
    refuseForgery(request.headers, deps.publicUrl, sessionToken, fieldOf(request.body, 'csrf'))
    const words = wordsFor(request.headers)
    try {
      const newPassword = fieldOf(request.body, 'password')
      checkFields({ password: passwordProblem(newPassword, words) })
      const change = { newPassword, currentPassword: undefined }
      keepSession(deps, reply, await changePassword(deps, visitorOf(deps, request), userId, change))
      return reply.redirect('/', 303)
    } catch (error) {
      return showProblem(reply, words, error, (problem) => choosePasswordPage(words, email, csrfToken, problem))
    }
  })
}

/** Who is signed in and has no password; null otherwise. */
async function passwordlessVisit(deps: SiteDeps, request: FastifyRequest): Promise<Passwordless | null> {
  const visit = await signedInVisit(deps, request)
  const userId = visit?.caller.userId ?? null
  const user = userId === null ? undefined : await findUser(deps.db.sql, userId)
  if (visit === null || user === undefined || user.password_hash !== null) return null
  const { email } = await deps.vault.withKeyring(instanceScope, (keys) => openPerson(keys, user.id, user.person))
  return { ...visit, userId: user.id, email }
}

/** A form has no schema, so its limits are checked here. */
export function passwordProblem({ length }: string, { needs }: Words): string | null {
  if (length < minLength) return needs.newPassword(minLength)
  return length > maxLength ? needs.shorterPassword(maxLength) : null
}
