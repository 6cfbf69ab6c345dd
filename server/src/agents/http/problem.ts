import { STATUS_CODES } from 'node:http'
import { type ApiError, InvalidInput, type Issue } from '../../base/errors.ts'
import { byCode, nextAfter } from './next-after.ts'

/** RFC 9457. Beside its own fields a problem has those of the failure, such as who owns a conversation. */
export interface Problem {
  type: string
  title: string
  status: number
  detail: string
  /** What to branch on. */
  code: string
  issues?: Issue[]
  next: string[]
  [extra: string]: unknown
}

export const problemType = 'application/problem+json; charset=utf-8'

/** Whether an address is of the interface for agents. */
export const isForAgents = (url: string): boolean => /^\/api\/v2(?:[/?]|$)/.test(url)

/** A failure as an agent is told of it: what was wrong, and what it can do about it. */
export function problemOf(error: ApiError): Problem {
  const { statusCode: status, data = {} } = error
  const { code: given, issues, next, ...extra } = data
  const code = codeOf(error, given)
  return {
    ...Object.fromEntries(
      Object.entries(extra).map(([name, value]) => [
        inSnakeCase(name),
        name === 'field' ? inSnakeCase(`${value}`) : name === 'owner' ? ownerWord(value) : value,
      ]),
    ),
    type: `/docs/agents.md#${documented.has(code) ? code.toLowerCase() : 'errors'}`,
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: detailOf(error),
    code,
    ...(error instanceof InvalidInput && { issues: issuesOf(error) }),
    next: isWords(next) ? next : nextAfter(code, status),
  }
}

// As conversations say it.
const ownerWord = (owner: unknown): unknown =>
  typeof owner !== 'string' ? owner : owner === 'human' ? 'people' : 'another_agent'

const isWords = (next: unknown): next is string[] => Array.isArray(next)

/** What a failure is called that has no name of its own, by its status. */
export const codes: Record<number, string> = {
  400: 'INVALID_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  409: 'CONFLICT',
  410: 'GONE',
  413: 'TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  422: 'REFUSED',
  429: 'RATE_LIMITED',
  500: 'INTERNAL',
  502: 'DELIVERY_FAILED',
  503: 'UNAVAILABLE',
}

/** Those that the documentation explains by themselves. */
const documented = new Set([...Object.values(codes), ...Object.keys(byCode), 'PAUSED'])

const codeOf = ({ statusCode }: ApiError, given: unknown): string =>
  typeof given === 'string' ? given : (codes[statusCode] ?? 'REFUSED')

// A model reads one sentence more readily than a list.
function detailOf(error: ApiError): string {
  if (!(error instanceof InvalidInput)) return inSnakeCase(error.message)
  return issuesOf(error)
    .map(
      ({ path, message, allowed }) => `${path || 'The request'} ${message}${allowed ? `: ${allowed.join(', ')}` : ''}.`,
    )
    .join(' ')
}

const maxAllowed = 50

const issuesOf = ({ issues }: InvalidInput): Issue[] =>
  issues.map(({ path, message, allowed }) => ({
    path: inSnakeCase(nameOnly(path)),
    message: inSnakeCase(message),
    ...(allowed !== undefined && { allowed: allowed.slice(0, maxAllowed) }),
  }))

// A field that the caller made up may be named by whoever it listens to, and this is our voice.
function nameOnly(path: string): string {
  const name = /^[\w.[\]-]{0,80}/.exec(path)?.[0] ?? ''
  return name === path ? path : `${name}…`
}

/** What other faces spell as `externalRef` is `external_ref` here. */
const inSnakeCase = (text: string): string =>
  text.replace(/\b[a-z]+[A-Z][A-Za-z]*\b/g, (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
