import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { ApiError, InvalidInput, type Issue, invalid, notFound } from '../../base/errors.ts'
import type { App } from '../../base/route.ts'
import { joinPath } from '../../base/validation.ts'

const maxDepth = 32

/** Makes `application/json` and `application/*+json` the only media types that the app reads. */
export function readJsonBodies(app: App): void {
  app.removeAllContentTypeParsers()
  const options = { parseAs: 'buffer' } as const
  for (const type of ['application/json', /^application\/[\w.-]+\+json(?:;|$)/]) {
    app.addContentTypeParser<Buffer>(type, options, (request, body, done) => {
      refuseEncodings(request.headers)
      done(null, body.length === 0 ? undefined : parseJson(body))
    })
  }
}

function refuseEncodings(headers: IncomingHttpHeaders): void {
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(headers['content-type'] ?? '')?.[1]
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) throw new ApiError(415, 'Send the body as UTF-8')
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding.toLowerCase() !== 'identity') throw new ApiError(415, 'Send the body without Content-Encoding')
}

/**
 * Reads a body that means one thing only. Beside broken JSON it refuses, by path: repeated keys, more than 32 levels,
 * `__proto__`, text with NUL or half a surrogate pair, and numbers that a double cannot hold exactly or at all.
 * Throws `InvalidInput`.
 */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw invalid('', 'is not valid UTF-8')
  const text = bytes.toString('utf8')
  const value = parse(text.startsWith('\uFEFF') ? text.slice(1) : text)

  const walk: Walk = { keys: 0, hasEscapes: text.includes('\\u'), problem: '', steps: [] }
  if (!isPlain(value, walk, 1)) throw invalid(walk.steps.reverse().reduce(joinPath, ''), walk.problem)

  // `JSON.parse` keeps the last of repeated keys, so a text with a repetition has more keys than its value.
  if (countKeys(text) !== walk.keys) throw invalid(findDuplicate(text), 'is given more than once')
  return value
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // Of the parser's message only the place is passed on: the rest quotes the body.
    const place = error instanceof Error ? /\(line \d+ column \d+\)/.exec(error.message)?.[0] : undefined
    throw new InvalidInput([{ path: '', message: `is not valid JSON${place === undefined ? '' : ` ${place}`}` }])
  }
}

interface Walk {
  keys: number
  hasEscapes: boolean
  problem: string
  /** The way to the problem, innermost first. */
  steps: string[]
}

function isPlain(value: unknown, walk: Walk, depth: number): boolean {
  if (typeof value === 'string') return !walk.hasEscapes || isText(value, walk)
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER || refuse(walk, 'is out of range')
  if (typeof value !== 'object' || value === null) return true
  if (depth > maxDepth) return refuse(walk, `is nested deeper than ${maxDepth} levels`)
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      if (!isPlain(value[index], walk, depth + 1)) return passedBy(walk, String(index))
    }
    return true
  }
  for (const [key, member] of Object.entries(value)) {
    walk.keys++
    if (key === '__proto__') return refuse(walk, 'is not a known field', key)
    if (walk.hasEscapes && !isText(key, walk)) return false
    if (!isPlain(member, walk, depth + 1)) return passedBy(walk, key)
  }
  return true
}

// Such text can only come from an escape, since the bytes were UTF-8 and JSON has no bare control characters.
function isText(text: string, walk: Walk): boolean {
  if (text.includes('\0')) return refuse(walk, 'must not hold the NUL character')
  return text.isWellFormed() || refuse(walk, 'must not hold half a surrogate pair')
}

function refuse(walk: Walk, problem: string, ...steps: string[]): false {
  walk.problem = problem
  walk.steps.push(...steps)
  return false
}

function passedBy(walk: Walk, step: string): false {
  walk.steps.push(step)
  return false
}

// Both functions read JSON that is known to be valid, which lets them look at brackets, colons and quotes alone.
const quote = 0x22
const backslash = 0x5c
const colon = 0x3a
const space = 0x20

/** The keys of all objects in the text, repeated ones included. */
function countKeys(text: string): number {
  let keys = 0
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === quote) at = endOfString(text, at)
    else if (char === colon) keys++
  }
  return keys
}

/** The path of the first key that stands twice in one object. */
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
    /** A route whose bodies are files: they may take minutes, and the route itself ends those that stand still. */
    takesFiles?: boolean
  }
}

const lateBody = () => Object.assign(new Error('The body is late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })

/**
 * Answers 408 to a request whose body has not come within the time, and hangs up on one that was answered before its body had come
 * and goes on for longer. Node's own limit knows no routes.
 */
export function limitBodies(app: App, maxMs: number): void {
  const deadlines = new WeakMap<FastifyRequest, NodeJS.Timeout>()
  const end = (request: FastifyRequest) => clearTimeout(deadlines.get(request))
  const begin = (request: FastifyRequest, giveUp: () => unknown) => {
    deadlines.set(request, setTimeout(giveUp, maxMs).unref())
  }
  app.addHook('onRequest', (request, _reply, done) => {
    if (hasBody(request) && request.routeOptions.config.takesFiles !== true) {
      begin(request, () => app.server.emit('clientError', lateBody(), request.raw.socket))
    }
    done()
  })
  app.addHook('preValidation', (request, _reply, done) => {
    // Where a route takes a stream, it has not read it yet.
    if (hasCome(request)) end(request)
    else request.raw.once('end', () => end(request))
    done()
  })
  // One that was refused before its body was looked at: nobody reads the rest, and it must not keep the connection.
  app.addHook('onResponse', (request, _reply, done) => {
    end(request)
    if (hasBody(request) && !hasCome(request) && !request.raw.destroyed) {
      begin(request, () => request.raw.destroy())
      request.raw.once('close', () => end(request))
    }
    done()
  })
}

const hasCome = ({ raw }: FastifyRequest): boolean => raw.complete || raw.readableEnded

function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

// The router parses the query before any hook runs and has no way to fail, so the problem waits in the result.
const problem = Symbol('problem')

type Query = Record<string, string> & { [problem]?: Issue }

/** A query in which each parameter stands once; hand it to the router and call `refuseBadQueries`. */
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
      query[problem] ??= { path: name.replaceAll('\0', ''), message: 'must not hold the NUL character' }
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

/** Refuses what no route could want in its address, after authentication and before the route's own schema. */
export function refuseBadQueries(app: App): void {
  app.addHook('preValidation', (request, _reply, done) => {
    done(request.is404 ? undefined : problemOf(request.params as Record<string, string>, request.query as Query))
  })
}

function problemOf(params: Record<string, string>, query: Query): Error | undefined {
  for (const name in params) {
    if (params[name] === '') return notFound('Route not found')
    if (params[name]?.includes('\0')) return invalid(name, 'must not hold the NUL character', 'params')
  }
  const issue = query[problem]
  return issue && new InvalidInput([issue], 'query')
}
