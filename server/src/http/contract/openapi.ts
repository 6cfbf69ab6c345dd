import swagger from '@fastify/swagger'
import type { App } from '../../base/route.ts'
import { documentInfo } from '../../base/version.ts'
import { guide, securitySchemes } from './openapi-guide.ts'
import { polish } from './openapi-polish.ts'
import { tagGroups, tags } from './openapi-tags.ts'
import type { Document, OpenApiDocument, RouteDocument } from './openapi-types.ts'

const methods = new Set(['get', 'post', 'put', 'patch', 'delete'])

/** Starts to note routes for the contract. Await it before the first route: what is registered earlier is missing. */
export async function describeApi(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Parley', description: guide, ...documentInfo },
      servers: [{ url: '/', description: 'The server that this document comes from' }],
      tags,
      components: { securitySchemes },
    },
    transform: ({ schema, url }) => ({ schema: keepQueryPatterns(schema), url }),
  })
}

// The generator lists a query's named properties only, so its patterns (`k_*`) travel beside them. Where a query has
// nothing but patterns, it would take the keywords for names.
function keepQueryPatterns<S>(schema: S): S {
  const { querystring } = (schema ?? {}) as { querystring?: { patternProperties?: object } }
  const patterns = querystring?.patternProperties
  if (patterns === undefined) return schema
  return { ...schema, querystring: { properties: {}, ...querystring }, 'x-query-patterns': patterns }
}

/** The OpenAPI 3.1 document of the routes of an app that is ready. */
export function openapiDocument(app: App): OpenApiDocument {
  return polish(routesOf(app))
}

/** The same document before it is polished: inline schemas, with the hints for the Postman collection. */
export function routesOf(app: App): RouteDocument {
  const document = structuredClone(app.swagger()) as unknown as RouteDocument
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of Object.keys(item)) if (!methods.has(method)) delete item[method]
    if (Object.keys(item).length === 0) delete document.paths[path]
  }
  const used = new Set([...operationsOf(document)].flatMap(({ operation }) => operation.tags ?? []))
  document.tags = (document.tags ?? []).filter((tag) => used.has(tag.name))
  document['x-tagGroups'] = tagGroups
    .map((group) => ({ ...group, tags: group.tags.filter((tag) => used.has(tag)) }))
    .filter((group) => group.tags.length > 0)
  return document
}

export function* operationsOf<O>(
  document: Pick<Document<O>, 'paths'>,
): Generator<{ path: string; method: string; operation: O }> {
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) yield { path, method, operation }
  }
}
