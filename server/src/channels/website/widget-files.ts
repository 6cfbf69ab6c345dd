import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { forbidden, notFound } from '../../base/errors.ts'
import type { App } from '../../base/route.ts'
import { html } from '../../base/text/html.ts'
import { type CallbackDeps, callbackParams, findCalledConnections } from '../store-callback.ts'
import { scriptPath } from './adapter.ts'

const builtWidget = fileURLToPath(new URL('../../../../web/dist/widget/', import.meta.url))
const languageQuery = Type.Object({ lang: Type.Optional(Type.String({ maxLength: 35 })) })
/** Changes with a new version; browsers ask then and now. */
const shortCache = 'public, max-age=3600, stale-while-revalidate=86400'
const longCache = 'public, max-age=31536000, immutable'

/**
 * Serves the script that sites load, and the page that it embeds. The page is of our origin in a frame, so that neither
 * the site's styles nor its scripts reach the chat, and that the chat's policy is ours.
 */
export function widgetRoutes(app: App, deps: CallbackDeps & { publicUrl: string }, folder = builtWidget): void {
  app.get(scriptPath, { schema: { hide: true } }, async (_request, reply) =>
    sendScript(reply, folder, 'widget.js', shortCache, { 'cross-origin-resource-policy': 'cross-origin' }),
  )
  app.get(
    '/widget/files/:name',
    { schema: { hide: true, params: Type.Object({ name: fileName }) } },
    (request, reply) => sendScript(reply, folder, request.params.name, longCache),
  )
  const schema = { hide: true, params: callbackParams, querystring: languageQuery }
  app.get('/widget/frame/:connectionId', { schema }, async (request, reply) => {
    const { called } = await findCalledConnections(deps, request, 'website', 'all')
    const { origins } = called.settings
    requireAllowedSite(request, [new URL(deps.publicUrl).origin, ...origins])
    const files = await readManifest(folder)
    return reply
      .headers({ 'content-security-policy': policyFor(origins), 'referrer-policy': 'no-referrer' })
      .type('text/html; charset=utf-8')
      .send(framePage(called.id, called.settings.title, files).toString())
  })
}

const fileName = Type.String({ maxLength: 100, pattern: '^[\\w-]+(\\.[\\w-]+)*\\.(js|css)$' })

/** Nothing but our own script and style. Trusted types keep even a mistake of ours from making HTML of a text. */
const policyFor = (origins: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    `frame-ancestors ${["'self'", ...origins].join(' ')}`,
  ].join('; ')

/** Browsers enforce `frame-ancestors`; this tells other clients, and says why. */
function requireAllowedSite({ headers: { referer, host } }: FastifyRequest, origins: readonly string[]): void {
  const from = referer === undefined ? null : URL.parse(referer.slice(0, 2000))
  if (from === null || from.host === host?.toLowerCase() || origins.includes(from.origin)) return
  throw forbidden('This site may not embed the chat. Add its origin to the connection.')
}

const notBuilt = () => notFound('The chat widget is not built. Run: npm run build')

interface WidgetFiles {
  script: string
  style: string
}

/** Reads which files belong together; the build writes it. */
async function readManifest(folder: string): Promise<WidgetFiles> {
  const text = await readFile(`${folder}files.json`, 'utf8').catch(() => null)
  if (text === null) throw notBuilt()
  return JSON.parse(text) as WidgetFiles
}

function framePage(connectionId: string, title: string, { script, style }: WidgetFiles) {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="stylesheet" href="/widget/files/${style}">
<script type="module" src="/widget/files/${script}"></script>
</head>
<body data-connection="${connectionId}"></body>
</html>`
}

async function sendScript(
  reply: FastifyReply,
  folder: string,
  name: string,
  caching: string,
  headers: Record<string, string> = {},
): Promise<FastifyReply> {
  const bytes = await readFile(folder + name).catch(() => {
    throw notBuilt()
  })
  return reply
    .headers({ ...headers, 'cache-control': caching })
    .type(name.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8')
    .send(bytes)
}
