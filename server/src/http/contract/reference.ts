import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fastify from 'fastify'
import type { AgentTool } from '../../agents/define-tool.ts'
import { agentDocument, llmsText } from '../../agents/http/openapi.ts'
import { basePath } from '../../agents/http/routes.ts'
import type { App } from '../../base/route.ts'
import { version } from '../../base/version.ts'
import { acceptedEncoding, type Encoding } from '../server/compression.ts'
import { setPagePolicy } from '../server/response-headers.ts'
import { listOperations, openapiDocument, routesDocument } from './openapi.ts'
import { postmanCollection } from './postman.ts'

/** A large static response, built once in each encoding, with its ETag. */
interface StaticResponse {
  type: string
  cacheControl: string
  tag: string
  bodies: Record<Encoding, Buffer>
}

// Takes half a second for the largest response; the best quality takes twenty times as long and saves a tenth.
const brotliQuality = 8

async function buildStaticResponse(type: string, cacheControl: string, body: Buffer): Promise<StaticResponse> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: brotliQuality, [constants.BROTLI_PARAM_SIZE_HINT]: body.length }
  const [br, gz] = await Promise.all([promisify(brotliCompress)(body, { params }), promisify(gzip)(body)])
  const tag = createHash('sha256').update(body).digest('base64url').slice(0, 22)
  return { type, cacheControl, tag, bodies: { br, gzip: gz, identity: body } }
}

/** Sends the response in the preferred encoding, or 304 if the ETag matches. */
function sendStaticResponse(request: FastifyRequest, reply: FastifyReply, answer: StaticResponse): FastifyReply {
  const encoding = acceptedEncoding(request.headers['accept-encoding'])
  const tag = `"${answer.tag}-${encoding}"`
  reply.headers({ etag: tag, vary: 'accept-encoding', 'cache-control': answer.cacheControl })
  if (matchesTag(request.headers['if-none-match'] ?? '', tag)) return reply.code(304).send()
  if (encoding !== 'identity') reply.header('content-encoding', encoding)
  return reply.type(answer.type).send(answer.bodies[encoding])
}

function matchesTag(tags: string, tag: string): boolean {
  return tags.split(',').some((each) => ['*', tag].includes(each.trim().replace(/^W\//, '')))
}

// Turns off all requests to other servers: fonts, telemetry, the request proxy, the hosted client and assistant.
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
<noscript>
<h1>Parley API</h1>
<p>This page needs JavaScript. Without it, read the <a href="/openapi.json">OpenAPI document</a> or import the
<a href="/postman.json">Postman collection</a>.</p>
</noscript>
<script id="api-reference" data-configuration="${JSON.stringify(settings).replaceAll('"', '&quot;')}"></script>
<script src="/docs/scalar.js"></script>
</body>
</html>
`
const oneDay = 'public, max-age=86400'
const revalidate = 'public, no-cache'
const json = 'application/json; charset=utf-8'
const hidden = { exposeHeadRoute: true, schema: { hide: true } }

/** Serves a response that is made when it is first requested. */
function serveStatic(
  app: App,
  path: string,
  type: string,
  make: () => string | Promise<string | Buffer>,
  cacheControl = revalidate,
): void {
  const answer = memoize(async () => buildStaticResponse(type, cacheControl, Buffer.from(await make())))
  app.get(path, hidden, async (request, reply) => sendStaticResponse(request, reply, await answer()))
}

/** Serves `/openapi.json`, `/postman.json` and, for people, `/docs`, which loads nothing from other servers. */
export function serveReference(app: App, publicUrl: string): void {
  serveStatic(app, '/openapi.json', json, () => JSON.stringify(openapiDocument(app)))
  serveStatic(app, '/postman.json', json, () => JSON.stringify(postmanCollection(routesDocument(app), publicUrl)))
  serveStatic(app, '/docs/scalar.js', 'text/javascript; charset=utf-8', readScalar, oneDay)
  const text = memoize(() => textReference(app))
  app.get('/docs', hidden, async (request, reply) => {
    reply.header('vary', 'accept')
    // Browsers list text/html; clients that accept anything usually show text.
    if (request.headers.accept?.includes('text/html'))
      return setPagePolicy(reply, { styles: "'unsafe-inline'" }).send(page)
    return reply.type('text/plain; charset=utf-8').send(text())
  })
}

const guide = new URL('../../../../docs/agents.md', import.meta.url)

/**
 * Serves the documentation for agents: `/llms.txt`, `/docs/agents.md` and the OpenAPI document of `/api/v2`, which also
 * has the operations for programs.
 */
export function serveAgentReference(app: App, tools: readonly AgentTool[], forPrograms: readonly AgentTool[]): void {
  serveStatic(app, `${basePath}/openapi.json`, json, () => JSON.stringify(agentDocument([...tools, ...forPrograms])))
  serveStatic(app, '/llms.txt', 'text/plain; charset=utf-8', () => llmsText(tools))
  serveStatic(app, '/docs/agents.md', 'text/markdown; charset=utf-8', () => readFile(guide, 'utf8'))
}

function textReference(app: App): string {
  const lines = [...listOperations(routesDocument(app))]
    .filter(({ operation }) => operation.security?.some((way) => 'apiKey' in way))
    .map(({ method, path, operation }) => `${method.toUpperCase().padEnd(6)} ${path}  ${operation.summary}`)
  return `Parley API ${version}

Open this address in a browser for the reference. For programs:

/openapi.json  OpenAPI 3.1 document; request it with gzip or br (curl --compressed)
/postman.json  Postman collection that runs from top to bottom
/llms.txt      the agent API on one page

For API keys (Authorization: Bearer <API key>):

${lines.join('\n')}
`
}

// The library takes 40 MB of memory and 0.2 s to load, and exists only as a plugin: a temporary app loads it when
// someone first opens the page, and returns the script.
async function readScalar(): Promise<Buffer> {
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const host = fastify({ logger: false })
  await host.register(scalar, { routePrefix: '/docs', configuration: { url: '/openapi.json' } })
  const { rawPayload } = await host.inject('/docs/js/scalar.js')
  await host.close()
  return rawPayload
}

function memoize<T>(make: () => T): () => T {
  let cached: { value: T } | undefined
  return () => {
    cached ??= { value: make() }
    return cached.value
  }
}
