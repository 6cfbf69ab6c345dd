import type { FastifyReply, FastifyRequest } from 'fastify'
import { sessionCookie } from '../../access/sign-in/cookies.ts'
import { refuseForgery } from '../../access/sign-in/csrf.ts'
import { signOut } from '../../access/sign-in/sign-in-routes.ts'
import { ApiError } from '../../base/errors.ts'
import type { App } from '../../base/route.ts'
import { fieldOf, readFormBodies } from './form-body.ts'
import { sendPage } from './pages/layout.ts'
import { problemPage } from './pages/sign-in.ts'
import { wordsFor } from './pages/words.ts'
import { inviteRoutes } from './site-invite.ts'
import { passwordRoutes } from './site-password.ts'
import { signInRoutes } from './site-sign-in.ts'
import { type SiteDeps, signedInVisit } from './site-visit.ts'
import { webAppRoutes } from './web-app.ts'

/** What people open: the pages for signing in and joining, which need no script, and the web app. */
export async function siteRoutes(app: App, deps: SiteDeps): Promise<void> {
  // A scope of its own: forms are read here and nowhere else, and failures are pages.
  await app.register(async (site: App) => {
    await readFormBodies(site)
    site.addHook('onRoute', (route) => {
      route.schema = { ...route.schema, hide: true }
    })
    site.setErrorHandler(answerWithPage)
    signInRoutes(site, deps)
    inviteRoutes(site, deps)
    passwordRoutes(site, deps)
    signOutRoute(site, deps)
    await webAppRoutes(site, deps)
  })
}

function signOutRoute(site: App, deps: SiteDeps): void {
  site.post('/sign-out', async (request, reply) => {
    const visit = await signedInVisit(deps, request)
    if (visit !== null) {
      refuseForgery(request.headers, deps.publicUrl, visit.sessionToken, fieldOf(request.body, 'csrf'))
      request.teamCaller = visit.caller
      await signOut(deps, request)
    }
    sessionCookie(deps.publicUrl).clear(reply)
    return reply.redirect('/sign-in', 303)
  })
}

/** What a caller may see becomes a page; what they may not is left to the server's own handler. */
function answerWithPage(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (!(error instanceof ApiError)) throw error
  const headers = { ...error.headers }
  // A browser would meet this one with a dialog of its own.
  delete headers['www-authenticate']
  const words = wordsFor(request.headers)
  const title = error.statusCode === 404 ? words.nothingHere : words.failed
  const text = words.problems[error.message] ?? error.message
  return sendPage(reply.headers(headers), problemPage(words, title, text), error.statusCode)
}
