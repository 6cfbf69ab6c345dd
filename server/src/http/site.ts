import type { FastifyReply, FastifyRequest } from 'fastify'
import { refuseForgery } from '../access/csrf.ts'
import { listMemberships } from '../access/members.ts'
import { sessionCookie } from '../access/session-cookie.ts'
import { signOut } from '../access/team-routes-sign-in.ts'
import { ApiError } from '../base/errors.ts'
import type { TeamCaller } from '../base/member.ts'
import type { App } from '../base/route.ts'
import { listAllWorkspaces } from '../workspace/workspace.ts'
import { fieldOf, readFormBodies } from './form-body.ts'
import { type HomeWorkspace, homePage } from './pages/home.ts'
import { sendPage } from './pages/layout.ts'
import { problemPage } from './pages/sign-in.ts'
import { inviteRoutes } from './site-invite.ts'
import { signInRoutes } from './site-sign-in.ts'
import { type SiteDeps, signedInVisit } from './site-visit.ts'

/** The pages that people need before, and besides, the web app: signing in, joining, and a home page. */
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
    homeRoute(site, deps)
    signOutRoute(site, deps)
  })
}

function homeRoute(site: App, deps: SiteDeps): void {
  site.get('/', async (request, reply) => {
    const visit = await signedInVisit(deps, request)
    if (visit === null) return reply.redirect('/sign-in', 303)
    const { caller, csrfToken } = visit
    const workspaces = await homeWorkspaces(deps, caller)
    return sendPage(reply, homePage({ name: caller.name, csrfToken, publicUrl: deps.publicUrl, workspaces }))
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

async function homeWorkspaces(deps: SiteDeps, { userId, isOperator }: TeamCaller): Promise<HomeWorkspace[]> {
  const own = userId === null ? [] : await listMemberships(deps.db.sql, userId)
  const others = isOperator ? await listAllWorkspaces(deps.db.sql) : []
  const roleOf = new Map<string, string>(own.map(({ id, role }) => [id, role]))
  const listed = isOperator ? others : own
  return Promise.all(
    listed.map(async ({ id, name }) => {
      const forms = (await deps.formsOf?.(id)) ?? []
      return { id, name, role: roleOf.get(id) ?? null, forms }
    }),
  )
}

/** What a caller may see becomes a page; what they may not is left to the server's own handler. */
function answerWithPage(error: unknown, _request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (!(error instanceof ApiError)) throw error
  const headers = { ...error.headers }
  // A browser would meet this one with a dialog of its own.
  delete headers['www-authenticate']
  const title = error.statusCode === 404 ? 'Nothing here' : 'That did not work'
  return sendPage(reply.headers(headers), problemPage(title, error.message), error.statusCode)
}
