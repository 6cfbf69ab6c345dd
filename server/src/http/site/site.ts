import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TeamDeps } from '../../access/users/team-deps.ts'
import { ApiError } from '../../base/errors.ts'
import type { App } from '../../base/route.ts'
import { html } from '../../base/text/html.ts'
import { page, sendPage } from './page.ts'
import { webAppRoutes } from './web-app.ts'
import { wordsFor } from './words.ts'

/** What people open: the web app, with its pages for signing in and joining. */
export async function siteRoutes(app: App, deps: TeamDeps): Promise<void> {
  // A scope of its own: failures are pages here.
  await app.register(async (site: App) => {
    site.addHook('onRoute', (route) => {
      route.schema = { ...route.schema, hide: true }
    })
    site.setErrorHandler(answerWithPage)
    await webAppRoutes(site, deps)
  })
}

/** What a caller may see becomes a page; what they may not is left to the server's own handler. */
function answerWithPage(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (!(error instanceof ApiError)) throw error
  const words = wordsFor(request.headers)
  const title = error.statusCode === 404 ? words.nothingHere : words.failed
  const shown = page(
    { title, words },
    html`<div class="card">
<h1>${title}</h1>
<p class="quiet">${error.message}</p>
</div>`,
  )
  return sendPage(reply.headers(error.headers), shown, error.statusCode)
}
