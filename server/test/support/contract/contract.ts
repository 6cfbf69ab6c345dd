import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { App } from '../../../src/base/route.ts'
import { openapiDocument } from '../../../src/http/contract/openapi.ts'
import type { ApiResponse, OpenApiDocument, Reference } from '../../../src/http/contract/openapi-shared.ts'

export interface ContractCheck {
  /** Violations so far, one line each. */
  readonly problems: string[]
  /** Throws if there were violations; call it at the end of a test. */
  assertNone(): void
}

/** Shared by apps with the same routes: generating and compiling a document takes longer than most test files. */
const checkers = new Map<string, AnswerChecker>()

/**
 * Checks every answer of a test's app against the OpenAPI document: its status must be declared for the route, its JSON
 * must match the declared schema without undeclared fields, and it must have an `x-request-id`. Must be called before
 * the first route. A body that does not match also turns the answer into a 500 with the reason, so that no test
 * overlooks it. Apps of one `build` must have the same routes.
 */
export function checkAnswers(app: App, build?: string): ContractCheck {
  const problems: string[] = []
  let judge = build === undefined ? undefined : checkers.get(build)
  app.addHook('onSend', async (request, reply, payload) => {
    if (judge === undefined) {
      judge = createAnswerChecker(openapiDocument(app))
      if (build !== undefined) checkers.set(build, judge)
    }
    const pattern = request.is404 ? undefined : request.routeOptions.url
    if (pattern === undefined || request.routeOptions.schema?.hide || request.method === 'HEAD') return payload
    const type = String(reply.getHeader('content-type') ?? '')
    const problem = reply.hasHeader('x-request-id')
      ? judge(request.method, pattern, reply.statusCode, type, plain(payload, reply.getHeader('content-encoding')))
      : 'has no x-request-id'
    if (problem === undefined) return payload
    problems.push(`${request.method} ${pattern} ${reply.statusCode}: ${problem}`)
    reply.code(500).removeHeader('content-length').removeHeader('content-encoding')
    return JSON.stringify({ statusCode: 500, statusMessage: `Against the contract: ${problems.at(-1)}` })
  })
  return {
    problems,
    assertNone: () => {
      if (problems.length > 0) throw new Error(`Answers that violate the contract:\n${problems.join('\n')}`)
    },
  }
}

function plain(payload: unknown, encoding: unknown): unknown {
  if (!Buffer.isBuffer(payload)) return payload
  if (encoding === 'br') return brotliDecompressSync(payload)
  return encoding === 'gzip' ? gunzipSync(payload) : payload
}

type AnswerChecker = (
  method: string,
  pattern: string,
  status: number,
  type: string,
  payload: unknown,
) => string | undefined

function createAnswerChecker(document: OpenApiDocument): AnswerChecker {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  ajv.addSchema({ $id: documentId, components: closeSchema({ schemas: document.components.schemas }) })
  const checks = new Map<string, ValidateFunction>()

  return (method, pattern, status, type, payload) => {
    const path = pattern.replaceAll(/:(\w+)/g, '{$1}')
    const operation = document.paths[path]?.[method.toLowerCase()]
    if (operation === undefined) return 'is not in the document'
    const answer = answerOf(document, operation.responses[status])
    // Any route may answer 5xx; a declared 5xx must match its schema.
    if (answer === undefined) return status >= 500 ? undefined : `declares ${Object.keys(operation.responses)}`
    const [mediaType = ''] = type.split(';', 1)
    if (answer.content === undefined) return payload ? `declares no body for ${status}` : undefined
    const media = answer.content[mediaType]
    if (media === undefined) return `sends ${mediaType}`
    if (mediaType !== 'application/json' || media.schema === undefined) return undefined
    const place = `${method} ${path} ${status}`
    const check = checks.get(place) ?? ajv.compile(closeSchema(media.schema))
    checks.set(place, check)
    return check(JSON.parse(String(payload))) ? undefined : ajv.errorsText(check.errors, { dataVar: 'body' })
  }
}

/** Resolves the reference if operations share the answer. */
export function answerOf(
  document: OpenApiDocument,
  answer: ApiResponse | Reference | undefined,
): ApiResponse | undefined {
  if (answer === undefined || !('$ref' in answer)) return answer
  return document.components.responses?.[answer.$ref.split('/').at(-1) ?? '']
}

/** Base URI of references to shared schemas, so that each is compiled once. */
const documentId = 'parley:document'

const openKeywords = ['additionalProperties', 'unevaluatedProperties', '$ref']

// An object schema with listed fields allows no others, unless it says so.
const closeSchema = <T>(schema: T): T =>
  JSON.parse(JSON.stringify(schema), (keyword, value) => {
    if (keyword === '$ref' && String(value).startsWith('#')) return `${documentId}${value}`
    const listsFields = typeof value?.properties === 'object' && [value.type].flat().includes('object')
    const isClosed = listsFields && !openKeywords.some((open) => open in value)
    return isClosed ? { ...value, unevaluatedProperties: false } : value
  })
