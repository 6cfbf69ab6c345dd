import type { FastifyRequest, HTTPMethods } from 'fastify'
import { ApiError, notFound } from '../../base/errors.ts'
import type { App } from '../../base/route.ts'
import { type Html, html } from '../../base/text/html.ts'
import { page, sendPage } from '../site/page.ts'
import { type Words, wordsFor } from '../site/words.ts'

/**
 * Replies with 404 for an address that no route has, and 405 with `Allow` for one that has it under other methods; a person in
 * a browser gets a page.
 */
export function answerUnknownRoutes(app: App): void {
  const methods = new Set<HTTPMethods>()
  app.addHook('onRoute', (route) => {
    for (const method of [route.method].flat()) methods.add(method)
  })
  app.setNotFoundHandler(async (request, reply) => {
    // Only browsers ask for OPTIONS, by themselves.
    const allowed = [...methods].filter((method) => method !== 'OPTIONS' && hasRoute(app, method, request)).sort()
    if (allowed.length === 0 && isForPerson(request)) return sendPage(reply, lostPage(wordsFor(request.headers)), 404)
    if (allowed.length === 0) throw notFound('Route not found')
    throw new ApiError(405, `Use ${allowed.join(' or ')} here`, { headers: { allow: allowed.join(', ') } })
  })
}

function isForPerson({ method, url, headers }: FastifyRequest): boolean {
  return method === 'GET' && !url.startsWith('/api/') && (headers.accept ?? '').includes('text/html')
}

// A wildcard (a folder of files, the web app's pages) has no say about addresses that it merely covers.
function hasRoute(app: App, method: HTTPMethods, request: FastifyRequest): boolean {
  const path = request.url.split('?', 1)[0] ?? '/'
  const route = app.findRoute({ method, url: path })
  return route !== null && !('*' in (route.params ?? {}))
}

/** For a person whose address leads nowhere. */
function lostPage(words: Words): Html {
  return page(
    { title: words.nothingHere, words },
    html`<div class="card">
<h1>${words.nothingHere}</h1>
<p class="quiet">${words.nothingHereHelp}</p>
<p><a href="/">${words.home}</a></p>
</div>`,
  )
}
