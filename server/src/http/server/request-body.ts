import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { ApiError, InvalidInput, type Issue, invalid, notFound } from '../../base/errors.ts'
import type { App } from '../../base/route.ts'
import { joinPath } from '../../base/validation.ts'

const maxDepth = 32

/** Accepts only `application/json` and `application/*+json` bodies. */
export function parseJsonBodies(app: App): void {
  app.removeAllContentTypeParsers()
  const options = { parseAs: 'buffer' } as const
  for (const type of ['application/json', /^application\/[\w.-]+\+json(?:;|$)/]) {
    app.addContentTypeParser<Buffer>(type, options, (request, body, done) => {
      rejectEncodings(request.headers)
      done(null, body.length === 0 ? undefined : parseJson(body))
    })
  }
}

function rejectEncodings(headers: IncomingHttpHeaders): void {
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(headers['content-type'] ?? '')?.[1]
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) throw new ApiError(415, 'Send the body as UTF-8')
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding.toLowerCase() !== 'identity') throw new ApiError(415, 'Send the body without Content-Encoding')
}

/**
 * Parses a body strictly. Besides malformed JSON, rejects with a path: duplicate keys, more than 32 levels,
 * `__proto__`, text with NUL or unpaired surrogates, and numbers that a double cannot represent exactly. Throws
 * `InvalidInput`.
 */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw invalid('', 'is not valid UTF-8')
  const text = bytes.toString('utf8')
  const value = parse(text.startsWith('\uFEFF') ? text.slice(1) : text)

  const walk: Walk = { keys: 0, hasEscapes: text.includes('\\u'), problem: '', steps: [] }
  if (!isPlain(value, walk, 1)) throw invalid(walk.steps.reverse().reduce(joinPath, ''), walk.problem)

  // `JSON.parse` keeps the last of duplicate keys, so the text has more keys than the value.
  if (countKeys(text) !== walk.keys) throw invalid(findDuplicate(text), 'is given more than once')
  return value
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // Passes on only the position: the rest of the parser's message quotes the body.
    const place = error instanceof Error ? /\(line \d+ column \d+\)/.exec(error.message)?.[0] : undefined
    throw new InvalidInput([{ path: '', message: `is not valid JSON${place === undefined ? '' : ` ${place}`}` }])
  }
}

interface Walk {
  keys: number
  hasEscapes: boolean
  problem: string
  /** Path to the problem, innermost first. */
  steps: string[]
}

function isPlain(value: unknown, walk: Walk, depth: number): boolean {
  if (typeof value === 'string') return !walk.hasEscapes || isText(value, walk)
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER || reject(walk, 'is out of range')
  if (typeof value !== 'object' || value === null) return true
  if (depth > maxDepth) return reject(walk, `is nested deeper than ${maxDepth} levels`)
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      if (!isPlain(value[index], walk, depth + 1)) return addStep(walk, String(index))
    }
    return true
  }
  for (const [key, member] of Object.entries(value)) {
    walk.keys++
    if (key === '__proto__') return reject(walk, 'is not a known field', key)
    if (walk.hasEscapes && !isText(key, walk)) return false
    if (!isPlain(member, walk, depth + 1)) return addStep(walk, key)
  }
  return true
}

// Only escapes can produce such text, because the bytes are UTF-8 and JSON has no raw control characters.
function isText(text: string, walk: Walk): boolean {
  if (text.includes('\0')) return reject(walk, 'must not contain the NUL character')
  return text.isWellFormed() || reject(walk, 'must not contain an unpaired surrogate')
}

function reject(walk: Walk, problem: string, ...steps: string[]): false {
  walk.problem = problem
  walk.steps.push(...steps)
  return false
}

function addStep(walk: Walk, step: string): false {
  walk.steps.push(step)
  return false
}

// Both functions read valid JSON, so they need only brackets, colons and quotes.
const quote = 0x22
const backslash = 0x5c
const colon = 0x3a
const space = 0x20

/** Counts the keys of all objects in the text, including duplicates. */
function countKeys(text: string): number {
  let keys = 0
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === quote) at = endOfString(text, at)
    else if (char === colon) keys++
  }
  return keys
}

/** Returns the path of the first duplicate key. */
function findDuplicate(text: string): string {
  const open: { keys: Set<string> | null; step: string }[] = []
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    const inner = open.at(-1)
    if (char === '{') open.push({ keys: new Set(), step: '' })
    else if (char === '[') open.push({ keys: null, step: '0' })
    else if (char === '}' || char === ']') open.pop()
    else if (char === ',' && inner?.keys === null) inner.step = String(Number(inner.step) + 1)
    else if (char === '"') {
      const end = endOfString(text, at)
      if (inner?.keys && isKey(text, end)) {
        inner.step = JSON.parse(text.slice(at, end + 1))
        if (inner.keys.has(inner.step)) return open.map((level) => level.step).reduce(joinPath, '')
        inner.keys.add(inner.step)
      }
      at = end
    }
  }
  return ''
}

function isKey(text: string, endOfString: number): boolean {
  let at = endOfString + 1
  while (text.charCodeAt(at) <= space) at++
  return text.charCodeAt(at) === colon
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1
  return at
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set for routes whose bodies are files: uploads can take minutes, and the route itself aborts stalled ones. */
    takesFiles?: boolean
  }
}

const bodyTimeoutError = () => Object.assign(new Error('Request body timed out'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })

/**
 * Responds 408 if a body does not arrive within `maxMs`, and closes the connection if a body continues for longer than
 * that after the response. Node's own timeout cannot be set per route.
 */
export function limitBodyTime(app: App, maxMs: number): void {
  const deadlines = new WeakMap<FastifyRequest, NodeJS.Timeout>()
  const end = (request: FastifyRequest) => clearTimeout(deadlines.get(request))
  const begin = (request: FastifyRequest, onTimeout: () => unknown) => {
    deadlines.set(request, setTimeout(onTimeout, maxMs).unref())
  }
  app.addHook('onRequest', (request, _reply, done) => {
    if (hasBody(request) && request.routeOptions.config.takesFiles !== true) {
      begin(request, () => app.server.emit('clientError', bodyTimeoutError(), request.raw.socket))
    }
    done()
  })
  app.addHook('preValidation', (request, _reply, done) => {
    // A route that takes a stream has not read it yet.
    if (isComplete(request)) end(request)
    else request.raw.once('end', () => end(request))
    done()
  })
  // A request can be refused before its body is read: the rest must not keep the connection open.
  app.addHook('onResponse', (request, _reply, done) => {
    end(request)
    if (hasBody(request) && !isComplete(request) && !request.raw.destroyed) {
      begin(request, () => request.raw.destroy())
      request.raw.once('close', () => end(request))
    }
    done()
  })
}

const isComplete = ({ raw }: FastifyRequest): boolean => raw.complete || raw.readableEnded

function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

// The router parses the query before any hook and cannot fail, so the problem is stored in the result.
const problem = Symbol('problem')

type Query = Record<string, string> & { [problem]?: Issue }

/** Parses a query string without duplicate parameters, for the router; `rejectBadQueries` reports the problems. */
export function parseQuery(text: string): Query {
  const query: Query = Object.create(null)
  for (const part of text.split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = decode(equals === -1 ? part : part.slice(0, equals))
    const value = equals === -1 ? '' : decode(part.slice(equals + 1))
    if (name === null || value === null) {
      query[problem] ??= { path: name ?? '', message: 'is not valid percent-encoding' }
    } else if (name.includes('\0') || value.includes('\0')) {
      query[problem] ??= { path: name.replaceAll('\0', ''), message: 'must not contain the NUL character' }
    } else if (name in query) {
      query[problem] ??= { path: name, message: 'is given more than once' }
    } else {
      query[name] = value
    }
  }
  return query
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}

/** Rejects invalid queries and path parameters, after authentication and before the route's schema. */
export function rejectBadQueries(app: App): void {
  app.addHook('preValidation', (request, _reply, done) => {
    done(request.is404 ? undefined : problemOf(request.params as Record<string, string>, request.query as Query))
  })
}

function problemOf(params: Record<string, string>, query: Query): Error | undefined {
  for (const name in params) {
    if (params[name] === '') return notFound('Route not found')
    if (params[name]?.includes('\0')) return invalid(name, 'must not contain the NUL character', 'params')
  }
  const issue = query[problem]
  return issue && new InvalidInput([issue], 'query')
}
