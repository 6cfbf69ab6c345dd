import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { agentDocument } from '../../../src/agents/http/openapi.ts'
import { basePath } from '../../../src/agents/http/routes.ts'
import { agentTools } from '../../../src/agents/tools/all-tools.ts'
import type { Schema } from '../../../src/http/contract/openapi-shared.ts'
import { checkOutput } from '../agents/agents-world.ts'
import { type AnyOperation, type Caller, type FullWorkspace, fillPath, idFor } from './full-workspace.ts'
import { arbitraryOf, generate, invalidValues, type Random } from './values.ts'

/** Percentage of invalid values in a request, by manner. */
const invalidPercent = { fitting: 0, nearly: 4, hostile: 20 }
export type Manner = keyof typeof invalidPercent

export interface FuzzRequest {
  method: string
  url: string
  headers: Record<string, string>
  payload?: string
}

export interface FuzzResponse {
  status: number
  type: string
  text: string
}

const maxMs = 20_000

/** Returns a request for the operation with ids from `about`: the caller's own workspace, or another one. */
export function requestOf(
  about: FullWorkspace,
  op: AnyOperation,
  manner: Manner,
  random: Random,
  word = about.person.word,
): FuzzRequest {
  const valueOptions = {
    word,
    invalidPercent: invalidPercent[manner],
    idFor: (name: string) => idFor(about, name, random),
  }
  const make = (schema: Schema) => withoutWait(schema, generate(arbitraryOf(schema, valueOptions), random))
  const query = new URLSearchParams()
  for (const [name, value] of entriesOf(make(op.query))) {
    const isNeeded = name === 'wait' || (op.query.required as string[]).includes(name)
    if (!isNeeded && random() < 0.6) continue
    const text = typeof value === 'object' && value !== null ? Object.values(value).join() : String(value)
    query.append(name, text.toWellFormed().slice(0, 4000))
  }
  const made = entriesOf(make(op.headers))
  const headers = Object.fromEntries(made.map(([name, value]) => [name.toLowerCase(), `${value}`]))
  if (/idempotency-key/i.test(JSON.stringify(op.headers))) headers['idempotency-key'] = randomUUID()
  const path = fillPath(about, op.path, random)
  const url = manner === 'hostile' && random() < 0.2 ? oddUrl(path, random) : path
  const asked: FuzzRequest = { method: op.method.toUpperCase(), url: query.size > 0 ? `${url}?${query}` : url, headers }
  if (op.body === null) return asked
  const isBytes = !isObject(op.body.properties) && op.body.type === 'string'
  headers['content-type'] = isBytes ? 'application/octet-stream' : 'application/json'
  asked.payload = isBytes ? word : (JSON.stringify(make(op.body)) ?? '')
  if (manner === 'hostile' && random() < 0.1) asked.payload = asked.payload.slice(0, asked.payload.length * random())
  return asked
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const entriesOf = (value: unknown) => Object.entries(isObject(value) ? value : {})

/** Removes waiting; other tests cover it. */
function withoutWait(schema: Schema, made: unknown): unknown {
  if (!isObject(schema.properties) || !('wait' in schema.properties)) return made
  if (!isObject(made)) return { wait: 0 }
  return typeof (made.wait ?? 0) === 'number' ? { ...made, wait: 0 } : made
}

function oddUrl(url: string, random: Random): string {
  const parts = url.split('/')
  const at = Math.floor(2 + random() * Math.max(1, parts.length - 2))
  parts[at] = encodeURIComponent(String(generate(invalidValues, random)).toWellFormed().slice(0, 3000))
  return parts.join('/')
}

export async function ask(
  w: FullWorkspace,
  { method, url, payload, ...asked }: FuzzRequest,
  caller: Caller,
): Promise<FuzzResponse | null> {
  const headers = { ...asked.headers, ...caller.headers }
  const late = new AbortController()
  const answered = w.app.inject({ method: method as 'GET', url, headers, ...(payload !== undefined && { payload }) })
  const reply = await Promise.race([answered, wait(maxMs, null, { signal: late.signal })]).finally(() => late.abort())
  const type = String(reply?.headers['content-type'] ?? '')
  return reply && { status: reply.statusCode, type, text: reply.body }
}

/** Returns violations in the answer. The test app itself checks documented answers against their schemas. */
export function violationsOf(op: AnyOperation, asked: FuzzRequest, response: FuzzResponse | null): string[] {
  if (response === null) return [`no answer within ${maxMs} ms`]
  const { status, type, text } = response
  // An unreachable platform and a taken slot have statuses of their own.
  if (status >= 500 && !(status === 502 || status === 503)) return [`${status} ${text.slice(0, 600)}`]
  if (status === 503 && /database/i.test(text)) return [`503 ${text}`]
  if (op.tool === null || !asked.url.startsWith(basePath)) return []
  if (type.startsWith('application/problem+json')) {
    return isProblem(JSON.parse(text)) ? [] : [`not a problem: ${text.slice(0, 300)}`]
  }
  if (status !== 200) return [`${status} that is no problem: ${text.slice(0, 300)}`]
  if (!type.startsWith('application/json')) return []
  return checkOutput(op.tool, JSON.parse(text)).map((issue) => `not what is promised: ${JSON.stringify(issue)}`)
}

const { schemas } = agentDocument(agentTools).components
const ajv = new Ajv2020({ strict: false })
formats.default(ajv)
const isProblem = ajv.compile({ components: { schemas }, $ref: '#/components/schemas/Problem' })

/** Returns one line with which the request can be repeated. */
export const describeRequest = ({ method, url, payload = '' }: FuzzRequest, caller: Caller): string =>
  `${method} ${url.slice(0, 300)} as ${caller.name} ${payload.slice(0, 500)}`
