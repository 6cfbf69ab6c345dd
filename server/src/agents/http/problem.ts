import { STATUS_CODES } from 'node:http'
import { type ApiError, InvalidInput, type Issue } from '../../base/errors.ts'

/** Returns what a model can do about a failure, by its code if listed, else by its status. */
function nextSteps(code: string, status: number): string[] {
  return hintsByCode[code] ?? hintsByStatus[status] ?? []
}

const leaveAlone = [
  'Leave this conversation alone. wait_for_work returns it when it is yours again.',
  'Call wait_for_work for another customer.',
]

export const hintsByCode: Record<string, string[]> = {
  HELD_BY_PEOPLE: leaveAlone,
  OWNER_MISMATCH: leaveAlone,
  ON_STANDBY: leaveAlone,
  NOT_TAKEN: ['Call take_offered to make it yours, then answer.', 'Or leave it to people.'],
  OWNER_FORBIDDEN: ['Do not send anything. Call who_am_i to see whether agents are stopped.'],
  UNANSWERED_LIMIT: [
    'Send nothing more here until the customer writes: wait_for_work returns the conversation then.',
    'Or call hand_over without `closing`, so that people continue.',
  ],
  CUSTOMER_WROTE_AGAIN: [
    'Read arrived_meanwhile, then answer all of it, with its last id as after_message_id.',
    'Or call resolve or hand_over. Call read_conversation if there may be more than 10 new messages.',
  ],
  APPROVAL_NEEDED: [
    'Call answer: it becomes a draft that a person approves.',
    'Call hand_over without `closing`, if people should take over.',
  ],
  TOO_MANY_PARTS: [
    'Say the same in a shorter text, then call answer again.',
    'Or send the long text as a document: upload_file, then answer with `file`.',
  ],
  DAILY_SENDS_REACHED: [
    'Send nothing more today: the limit resets at midnight UTC, after Retry-After seconds.',
    'Call hand_over without `closing` for customers who cannot wait.',
  ],
  BUDGET_REACHED: [
    'Send nothing that costs money until `resets_at` of `budget`: repeating the call does not help.',
    'Call hand_over without `closing`: people can send anyway, and admins can raise the budget.',
  ],
  WINDOW_CLOSED: [
    'Call list_templates and answer with a template, if one fits.',
    'Or call hand_over, so that people take care of it.',
  ],
  TEMPLATE_NOT_APPROVED: ['Call list_templates and use a name and language exactly as it shows them.'],
  OPTED_OUT: [
    'Send this customer no template of this category. You can send text within the window, or a template of another category.',
  ],
  UNSUPPORTED_KIND: ['Answer with a text that numbers the options, so that the customer can reply with a number.'],
  FILE_TOO_LARGE: ['Upload a smaller file, or answer with text.'],
  FILE_TYPE_REFUSED: ['Upload it with the matching kind, or as a document, in one of the types in `detail`.'],
  TOO_MANY_UPLOADS: ['Call answer with the files that you have uploaded; unsent uploads are deleted after a day.'],
  NO_ROOM: ['Answer with a text: unsent uploads are deleted after a day.'],
  INVALID_MESSAGE: ['Fix what `detail` names, then call answer again.'],
  DELIVERY_FAILED: [
    'Call read_conversation to see the status of the message.',
    'Do not send the same text again: it may have arrived.',
  ],
  NOT_RETRYABLE: ['Wait a few seconds, then repeat the identical call: it sends at most once.'],
  CONNECTION_UNAVAILABLE: [
    'Nothing can be sent on this connection now. Call list_connections to see its state.',
    'Call hand_over, so that people take care of it.',
  ],
  ACKNOWLEDGEMENT_REQUIRED: ['Call hand_over: a person must accept the risk of this channel first.'],
  IDEMPOTENCY_KEY_USED: ['Use another idempotency_key for different content, or omit it.'],
  CHAT_INBOX_UNAVAILABLE: ['Wait for Retry-After seconds, then repeat the same call.'],
}

const waitAndRepeat = ['Wait for Retry-After seconds, then repeat the same call.']

const hintsByStatus: Record<number, string[]> = {
  400: ['Correct the fields listed in `issues`, then repeat the call.'],
  401: ['Stop: this key lacks access. Call who_am_i to see its scopes, and tell the person who gave you the key.'],
  403: ['Stop: the workspace does not allow it. Tell the person who gave you the key.'],
  404: ['Check the id: use one that list_conversations, find_leads or another call has returned to you.'],
  405: ['Use a method listed in the Allow header; see /api/v2/openapi.json.'],
  409: ['Read the current state, change the conflicting value, then repeat the call.'],
  410: ['Call again without the cursor.'],
  413: ['Send a smaller request.'],
  415: ['Send the body as JSON, with Content-Type: application/json.'],
  422: ['Fix what `detail` names, then repeat the call.'],
  429: waitAndRepeat,
  500: ['Repeat the same call once. If it fails again, tell the person who gave you the key, with request_id.'],
  502: ['Call read_conversation before you do anything else.'],
  503: waitAndRepeat,
}

/** Problem details (RFC 9457), plus fields of the failure, such as the owner of a conversation. */
export interface Problem {
  type: string
  title: string
  status: number
  detail: string
  code: string
  issues?: Issue[]
  next: string[]
  [extra: string]: unknown
}

export const problemType = 'application/problem+json; charset=utf-8'

/** Returns whether the URL belongs to the agent API. */
export const isAgentUrl = (url: string): boolean => /^\/api\/v2(?:[/?]|$)/.test(url)

/** Converts an error to problem details for agents. */
export function problemOf(error: ApiError): Problem {
  const { statusCode: status, data = {} } = error
  const { code: ownCode, issues, next, ...extra } = data
  const code = codeOf(error, ownCode)
  return {
    ...Object.fromEntries(
      Object.entries(extra).map(([name, value]) => [
        inSnakeCase(name),
        name === 'field' ? inSnakeCase(`${value}`) : name === 'owner' ? ownerName(value) : value,
      ]),
    ),
    type: `/docs/agents.md#${documentedCodes.has(code) ? code.toLowerCase() : 'errors'}`,
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: detailOf(error),
    code,
    ...(error instanceof InvalidInput && { issues: issuesOf(error) }),
    next: isTextList(next) ? next : nextSteps(code, status),
  }
}

// The spelling of `owner` in conversations.
const ownerName = (owner: unknown): unknown =>
  typeof owner !== 'string' ? owner : owner === 'human' ? 'people' : 'another_agent'

const isTextList = (next: unknown): next is string[] => Array.isArray(next)

/** Codes of errors without a code of their own, by status. */
export const codesByStatus: Record<number, string> = {
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

/** Codes that have their own section in the documentation. */
const documentedCodes = new Set([...Object.values(codesByStatus), ...Object.keys(hintsByCode), 'PAUSED'])

const codeOf = ({ statusCode }: ApiError, ownCode: unknown): string =>
  typeof ownCode === 'string' ? ownCode : (codesByStatus[statusCode] ?? 'REFUSED')

// Models follow one sentence better than a list.
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
    path: inSnakeCase(fieldNameOnly(path)),
    message: inSnakeCase(message),
    ...(allowed !== undefined && { allowed: allowed.slice(0, maxAllowed) }),
  }))

// A caller can be tricked into sending a field name with instructions in it; do not repeat it in our own text.
function fieldNameOnly(path: string): string {
  const name = /^[\w.[\]-]{0,80}/.exec(path)?.[0] ?? ''
  return name === path ? path : `${name}…`
}

/** Converts camelCase names of other APIs (`externalRef`) to this API's snake_case (`external_ref`). */
const inSnakeCase = (text: string): string =>
  text.replace(/\b[a-z]+[A-Z][A-Za-z]*\b/g, (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
