import fastify from 'fastify'
import type { App } from '../base/route.ts'
import { openapiDocument, routesOf } from './openapi.ts'
import { postmanCollection } from './postman.ts'
import { asPage } from './security-headers.ts'

// All that could reach out is off: fonts, telemetry, the request proxy, the hosted client and assistant.
const settings = {
  url: '/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  documentDownloadType: 'json',
  persistAuth: false,
}
const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Parley API</title>
<link rel="icon" href="data:,">
</head>
<body>
<script id="api-reference" data-configuration="${JSON.stringify(settings).replaceAll('"', '&quot;')}"></script>
<script src="/docs/scalar.js"></script>
</body>
</html>
`
const oneDay = 'public, max-age=86400'

/** `/openapi.json`, `/postman.json` and, for people, `/docs`, which loads nothing from any other server. */
export function serveReference(app: App, publicUrl: string): void {
  const hidden = { exposeHeadRoute: true, schema: { hide: true } }
  const document = once(() => JSON.stringify(openapiDocument(app)))
  const collection = once(() => JSON.stringify(postmanCollection(routesOf(app), publicUrl)))
  const script = once(readScalar)

  app.get('/openapi.json', hidden, async (_request, reply) => reply.type('application/json').send(document()))
  app.get('/postman.json', hidden, async (_request, reply) => reply.type('application/json').send(collection()))
  app.get('/docs', hidden, async (_request, reply) => asPage(reply, { styles: "'unsafe-inline'" }).send(page))
  app.get('/docs/scalar.js', hidden, async (_request, reply) => {
    const text = await script()
    return reply.header('cache-control', oneDay).type('text/javascript; charset=utf-8').send(text)
  })
}

// The page's library is 40 MB in memory and 0.2 s to load, and published as a plugin only: an app of its own takes it
// in when someone first opens the page, and hands the script over.
async function readScalar(): Promise<Buffer> {
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const host = fastify({ logger: false })
  await host.register(scalar, { routePrefix: '/docs', configuration: { url: '/openapi.json' } })
  const { rawPayload } = await host.inject('/docs/js/scalar.js')
  await host.close()
  return rawPayload
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
