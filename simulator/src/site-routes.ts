import { Type } from 'typebox'
import { notFound } from '../../server/src/base/errors.ts'
import type { App } from '../../server/src/base/route.ts'
import { uuid } from '../../server/src/base/schema-types.ts'
import { html } from '../../server/src/base/text/html.ts'

const query = Type.Object({
  connection: uuid(),
  lang: Type.Optional(Type.String({ pattern: '^[a-z]{2}$', maxLength: 2 })),
})

const style = `body { margin: 0; font: 17px/1.6 Georgia, serif; color: #2b2117; background: #fbf7f0; }
main { max-width: 42rem; margin: 0 auto; padding: 3rem 1.5rem; }
h1 { font-size: 2.2rem; } a { color: #8a3b12; }
/* Rules as careless sites have them: they must not reach the chat. */
button { text-transform: uppercase; border-radius: 0 !important; } iframe { filter: grayscale(1); } div { letter-spacing: 0.02em; }`

/**
 * Serves a shop of another company, on another origin than the service, that shows the chat widget of a connection.
 * `serviceUrl`: where its script is; null if the simulator runs alone.
 */
export function siteRoutes(app: App, serviceUrl: string | null): void {
  app.get('/site/style.css', { schema: { hide: true } }, (_request, reply) =>
    reply.type('text/css; charset=utf-8').send(style),
  )
  app.get('/site', { schema: { hide: true, querystring: query } }, (request, reply) => {
    if (serviceUrl === null) throw notFound('The demo site needs Parley: start the simulator with it')
    const { connection, lang = 'en' } = request.query
    const service = new URL(serviceUrl).origin
    const policy = `default-src 'none'; style-src 'self' 'unsafe-inline'; script-src ${service}; frame-src ${service}; base-uri 'none'; form-action 'none'`
    const page = html`<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Casa Aurora</title>
<link rel="stylesheet" href="/site/style.css">
</head>
<body>
<main>
<h1>Casa Aurora</h1>
<p>Coffee, roasted on Tuesdays. This site belongs to the simulator, not to Parley: it has its own address, its own styles, and shows the chat by one line in its page.</p>
<p>Write in the chat, then answer in Parley’s inbox. The same page in <a href="?connection=${connection}&amp;lang=en">English</a>, <a href="?connection=${connection}&amp;lang=pt">Portuguese</a> and <a href="?connection=${connection}&amp;lang=es">Spanish</a>.</p>
</main>
<script async src="${serviceUrl}/widget.js" data-connection="${connection}"></script>
</body>
</html>`
    return reply
      .headers({
        'content-security-policy': policy,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'strict-origin-when-cross-origin',
        'cache-control': 'no-cache',
      })
      .type('text/html; charset=utf-8')
      .send(page.toString())
  })
}
