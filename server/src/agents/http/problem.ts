import { STATUS_CODES } from 'node:http'
import { type ApiError, InvalidInput, type Issue } from '../../base/errors.ts'

/** What a model can do about a failure: by its code where that says more, else by its status. */
function nextSteps(code: string, status: number): string[] {
  return byCode[code] ?? byStatus[status] ?? []
}

const leaveIt = [
  'Leave this conversation alone. You will be told when it is yours again.',
  'Call wait_for_work for another customer.',
]

export const byCode: Record<string, string[]> = {
  HELD_BY_PEOPLE: leaveIt,
  OWNER_MISMATCH: leaveIt,
  NOT_TAKEN: ['Call take_offered to make it yours, then answer.', 'Or leave it to people.'],
  OWNER_FORBIDDEN: ['Do not send anything. Call who_am_i to see whether agents are stopped.'],
  UNANSWERED_LIMIT: [
    'Send nothing more here until the customer writes: wait_for_work tells you when they do.',
    'Or call hand_over without closing words, so that people go on.',
  ],
  DAILY_SENDS_REACHED: [
    'Send nothing more today: the day ends at midnight UTC, as Retry-After says.',
    'Call hand_over without closing words for customers who cannot wait.',
  ],
  WINDOW_CLOSED: [
    'Call list_templates and answer with one of them, if it fits what you want to say.',
    'Or call hand_over, so that people see to it.',
  ],
  TEMPLATE_NOT_APPROVED: ['Call list_templates and use a name and language exactly as it shows them.'],
  OPTED_OUT: [
    'Send no marketing to this customer. A text within the window, or a template of another category, may go.',
  ],
  UNSUPPORTED_KIND: ['Answer with a text that numbers what can be chosen: the customer then writes a number.'],
  FILE_TOO_LARGE: ['Upload a smaller file, or tell the customer in words.'],
  FILE_TYPE_REFUSED: ['Upload it as the kind that it is, or as a document, in one of the types that the detail names.'],
  TOO_MANY_UPLOADS: ['Call answer with files that you have uploaded; those that you do not send go after a day.'],
  NO_ROOM: ['Answer with a text: what others have uploaded and not sent goes after a day.'],
  INVALID_MESSAGE: ['Change what the detail names, then call answer again.'],
  DELIVERY_FAILED: [
    'Call read_conversation to see what became of the message.',
    'Do not send the same words again: they may have arrived.',
  ],
  NOT_RETRYABLE: ['Wait a few seconds, then repeat the very same call: it sends at most once.'],
  CONNECTION_UNAVAILABLE: [
    'Nothing can be sent on this connection now. Call list_connections to see its state.',
    'Call hand_over, so that people see to it.',
  ],
  ACKNOWLEDGEMENT_REQUIRED: ['Call hand_over: a person must confirm the risk of this channel first.'],
  IDEMPOTENCY_KEY_USED: ['Use another idempotency_key for other content, or leave it out.'],
  CHAT_INBOX_UNAVAILABLE: ['Wait as long as Retry-After says, then repeat the same call.'],
}

const waitAndRepeat = ['Wait as long as Retry-After says, then repeat the same call.']

const byStatus: Record<number, string[]> = {
  400: ['Correct the fields that issues names, then repeat the call.'],
  401: ['Stop: this key cannot do that. Call who_am_i to see its scopes, and tell the person who gave it to you.'],
  403: ['Stop: the workspace does not allow it. Tell the person who gave you the key.'],
  404: ['Check the id: use one that list_conversations, find_leads or another call has returned to you.'],
  405: ['Use the method that Allow names, as /api/v2/openapi.json has it.'],
  409: ['Read what is there now, change what is taken, then repeat the call.'],
  410: ['Call again without the cursor.'],
  413: ['Send less at once.'],
  415: ['Send the body as JSON, with Content-Type: application/json.'],
  422: ['Change what the detail names, then repeat the call.'],
  429: waitAndRepeat,
  500: ['Repeat the same call once. If it fails again, tell the person who gave you the key, with request_id.'],
  502: ['Read the conversation before you do anything else.'],
  503: waitAndRepeat,
}

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
export const isAgentUrl = (url: string): boolean => /^\/api\/v2(?:[/?]|$)/.test(url)

/** A failure as an agent is told of it: what was wrong, and what it can do about it. */
export function problemOf(error: ApiError): Problem {
  const { statusCode: status, data = {} } = error
  const { code: given, issues, next, ...extra } = data
  const code = codeOf(error, given)
  return {
    ...Object.fromEntries(
      Object.entries(extra).map(([name, value]) => [
        inSnakeCase(name),
        name === 'field' ? inSnakeCase(`${value}`) : name === 'owner' ? ownerName(value) : value,
      ]),
    ),
    type: `/docs/agents.md#${documented.has(code) ? code.toLowerCase() : 'errors'}`,
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: detailOf(error),
    code,
    ...(error instanceof InvalidInput && { issues: issuesOf(error) }),
    next: isTextList(next) ? next : nextSteps(code, status),
  }
}

// As conversations say it.
const ownerName = (owner: unknown): unknown =>
  typeof owner !== 'string' ? owner : owner === 'human' ? 'people' : 'another_agent'

const isTextList = (next: unknown): next is string[] => Array.isArray(next)

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
    path: inSnakeCase(fieldNameOnly(path)),
    message: inSnakeCase(message),
    ...(allowed !== undefined && { allowed: allowed.slice(0, maxAllowed) }),
  }))

// A field that the caller made up may be named by whoever it listens to, and this is our voice.
function fieldNameOnly(path: string): string {
  const name = /^[\w.[\]-]{0,80}/.exec(path)?.[0] ?? ''
  return name === path ? path : `${name}…`
}

/** What other faces spell as `externalRef` is `external_ref` here. */
const inSnakeCase = (text: string): string =>
  text.replace(/\b[a-z]+[A-Z][A-Za-z]*\b/g, (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
