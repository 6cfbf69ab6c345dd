import swagger from '@fastify/swagger'
import type { App } from '../base/route.ts'
import { version } from '../base/version.ts'
import { guide, securitySchemes, tags } from './openapi-guide.ts'
import { polish } from './openapi-polish.ts'
import type { OpenApiDocument, Operation } from './openapi-types.ts'

const methods = new Set(['get', 'post', 'put', 'patch', 'delete'])

/** Starts to note routes for the contract. Await it before the first route: what is registered earlier is missing. */
export async function describeApi(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Parley', version, description: guide, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
      servers: [{ url: '/', description: 'The server that this document comes from' }],
      tags,
      components: { securitySchemes },
    },
    transform: ({ schema, url }) => ({ schema: keepQueryPatterns(schema), url }),
  })
}

// The generator lists a query's named properties only, so its patterns (`k_*`) travel beside them.
function keepQueryPatterns<S>(schema: S): S {
  const { querystring } = (schema ?? {}) as { querystring?: { patternProperties?: object } }
  const patterns = querystring?.patternProperties
  return patterns === undefined ? schema : { ...schema, 'x-query-patterns': patterns }
}

/** The OpenAPI 3.1 document of the routes of an app that is ready. */
export function openapiDocument(app: App): OpenApiDocument {
  return polish(routesOf(app))
}

/** The same document before it is polished: inline schemas, with the hints for the Postman collection. */
export function routesOf(app: App): OpenApiDocument {
  const document = structuredClone(app.swagger()) as unknown as OpenApiDocument
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of Object.keys(item)) if (!methods.has(method)) delete item[method]
    if (Object.keys(item).length === 0) delete document.paths[path]
  }
  const used = new Set([...operationsOf(document)].flatMap(({ operation }) => operation.tags ?? []))
  document.tags = (document.tags ?? []).filter((tag) => used.has(tag.name))
  return document
}

export function* operationsOf(
  document: OpenApiDocument,
): Generator<{ path: string; method: string; operation: Operation }> {
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) yield { path, method, operation }
  }
}
