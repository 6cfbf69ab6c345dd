import type { FastifyReply } from 'fastify'
import { refuseForeignOrigin } from '../../access/sign-in/csrf.ts'
import { type SignInStep, signIn } from '../../access/sign-in/sign-in.ts'
import { signInByLink, signInLinkWorks } from '../../access/sign-in/sign-in-link.ts'
import { keepSession } from '../../access/sign-in/sign-in-routes.ts'
import { signInWithCode } from '../../access/sign-in/sign-in-totp.ts'
import { visitorOf } from '../../access/sign-in/visitor.ts'
import type { App } from '../../base/route.ts'
import { fieldOf } from './form-body.ts'
import { sendPage } from './pages/layout.ts'
import { codePage, linkOverPage, linkPage, signInPage } from './pages/sign-in.ts'
import { type Words, wordsFor } from './pages/words.ts'
import { choosePasswordPath } from './site-password.ts'
import { checkFields, showProblem } from './site-problems.ts'
import type { SiteDeps } from './site-visit.ts'
import { rooms } from './web-app.ts'

/** The forms for signing in: by password, code and link. */
export function signInRoutes(site: App, deps: SiteDeps): void {
  passwordForm(site, deps)
  codeForm(site, deps)
  linkForm(site, deps)
}

function passwordForm(site: App, deps: SiteDeps): void {
  site.get('/sign-in', async (request, reply) =>
    sendPage(reply, signInPage(wordsFor(request.headers), safeNext(fieldOf(request.query, 'next')), '', {})),
  )
  site.post('/sign-in', async (request, reply) => {
    refuseForeignOrigin(request.headers, deps.publicUrl)
    const [email, password] = [fieldOf(request.body, 'email'), fieldOf(request.body, 'password')]
    const next = safeNext(fieldOf(request.body, 'next'))
    const words = wordsFor(request.headers)
    try {
      checkFields({
        email: email === '' ? words.needs.email : null,
        password: password === '' ? words.needs.password : null,
      })
      const step = await signIn(deps, visitorOf(deps, request), { email, password })
      return answerStep(deps, reply, words, step, next)
    } catch (error) {
      return showProblem(reply, words, error, (problem) => signInPage(words, next, email, problem))
    }
  })
}

function codeForm(site: App, deps: SiteDeps): void {
  site.post('/sign-in/code', async (request, reply) => {
    refuseForeignOrigin(request.headers, deps.publicUrl)
    const [challenge, code] = [fieldOf(request.body, 'challenge'), fieldOf(request.body, 'code')]
    const next = safeNext(fieldOf(request.body, 'next'))
    const words = wordsFor(request.headers)
    try {
      checkFields({ code: code.trim() === '' ? words.needs.code : null })
      const session = await signInWithCode(deps, visitorOf(deps, request), { challenge, code })
      return answerStep(deps, reply, words, { step: 'done', session }, next)
    } catch (error) {
      return showProblem(reply, words, error, (problem) => codePage(words, next, challenge, problem))
    }
  })
}

function linkForm(site: App, deps: SiteDeps): void {
  type Link = { Params: { token: string } }
  site.get<Link>('/sign-in/:token', async (request, reply) => {
    const { token } = request.params
    const works = await signInLinkWorks(deps.db.sql, token, deps.wallClock.now())
    const words = wordsFor(request.headers)
    return works ? sendPage(reply, linkPage(words, token)) : sendPage(reply, linkOverPage(words), 404)
  })
  site.post<Link>('/sign-in/:token', async (request, reply) => {
    refuseForeignOrigin(request.headers, deps.publicUrl)
    const words = wordsFor(request.headers)
    try {
      const step = await signInByLink(deps, visitorOf(deps, request), request.params.token)
      return answerStep(deps, reply, words, step, choosePasswordPath)
    } catch (error) {
      return showProblem(reply, words, error, () => linkOverPage(words))
    }
  })
}

function answerStep(deps: SiteDeps, reply: FastifyReply, words: Words, step: SignInStep, next: string): FastifyReply {
  if (step.step === 'totp') return sendPage(reply, codePage(words, next, step.challenge.token, {}))
  keepSession(deps, reply, step.session)
  return reply.redirect(next, 303)
}

// Only places of ours that sign-in is a step towards: an open redirect would lend our name to anyone.
const ours = new RegExp(
  `^/(invite/[A-Za-z0-9_-]{1,100}|w/[0-9a-f-]{36}[\\w\\-./?=&%]{0,500}|(${rooms.join('|')})(/[\\w-]{1,100})?(\\?[\\w\\-.=&%]{0,500})?)$`,
)
export const safeNext = (next: string): string => (ours.test(next) ? next : '/')
