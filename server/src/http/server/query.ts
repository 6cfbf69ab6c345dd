import { InvalidInput, type Issue, invalid, notFound } from '../../base/errors.ts'
import type { App } from '../../base/route.ts'

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
