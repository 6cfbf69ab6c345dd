import { type Static, Type } from 'typebox'
import type { Issue } from '../../base/errors.ts'
import { nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { count, text } from '../../base/schema-types.ts'
import { closed, idSchema, workspaceParams } from '../../team/team-schema.ts'
import { optInEventNames } from '../../workspaces/opt-in-events.ts'
import { eventPatterns } from '../event-catalog.ts'

const maxHeaders = 20
const maxNameCharacters = 100
const maxValueCharacters = 1000
const token = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/
// Printable ASCII without leading or trailing spaces, which receivers strip.
const printable = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/

const reserved = new Set([
  'host',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'date',
  'user-agent',
])
const reservedPrefixes = ['content-', 'webhook-', 'proxy-']

/** Validates custom headers. Issues name the header but never repeat its value. */
export function headerIssues(headers: Readonly<Record<string, string>>): Issue[] {
  const names = Object.keys(headers)
  const seen = new Set<string>()
  const issues: Issue[] =
    names.length > maxHeaders ? [{ path: 'headers', message: `must have at most ${maxHeaders} headers` }] : []
  for (const [name, value] of Object.entries(headers)) {
    const path = `headers.${name.slice(0, maxNameCharacters)}`
    const lower = name.toLowerCase()
    const problem =
      nameProblem(name) ?? (seen.has(lower) ? 'is a duplicate: names are case-insensitive' : valueProblem(value))
    if (problem !== null) issues.push({ path, message: problem })
    seen.add(lower)
  }
  return issues
}

function nameProblem(name: string): string | null {
  if (name.length > maxNameCharacters) return `must have a name of at most ${maxNameCharacters} characters`
  if (!token.test(name)) return "must have a name of letters, digits and !#$%&'*+.^_`|~-"
  const lower = name.toLowerCase()
  const isReserved = reserved.has(lower) || reservedPrefixes.some((prefix) => lower.startsWith(prefix))
  return isReserved ? 'is set by the service; use another name' : null
}

function valueProblem(value: string): string | null {
  if (value.length > maxValueCharacters) return `must have at most ${maxValueCharacters} characters`
  return printable.test(value) ? null : 'must be printable ASCII, not empty, without leading or trailing spaces'
}

const description = nullable(text(200, 'Description for the team, at most 200 characters.', { example: 'Warehouse' }))
const events = Type.Array(
  oneOf(eventPatterns, {
    title: 'EventPattern',
    description: `Event name, \`lead.*\` or \`inbox.*\`. Only by name: ${optInEventNames.join(', ')}.`,
  }),
  {
    minItems: 1,
    maxItems: eventPatterns.length,
    uniqueItems: true,
    description: 'Events to send: names, `lead.*`, `inbox.*`.',
    example: ['lead.*', 'inbox.message.received'],
  },
)
const phoneVisibility = oneOf(['full', 'masked'], {
  title: 'PhoneVisibility',
  description:
    'With `masked`, phone numbers show only their first and last digits, as for a masked API key; also in names, references and custom fields.',
  example: 'full',
})

const settings = {
  url: Type.String({
    minLength: 1,
    maxLength: 2000,
    description:
      'URL that receives events by POST. Must be a public address, unless the operator allows others. Redirects are not followed.',
    example: 'https://hooks.example.com/parley',
  }),
  events,
  phoneVisibility,
  headers: Type.Record(Type.String(), Type.String({ maxLength: 1000 }), {
    description: `Up to ${maxHeaders} custom headers for each request, such as \`Authorization\`: names of at most 100 characters, values of at most 1,000 printable ones. Reserved: \`host\`, \`connection\`, \`user-agent\`, \`date\` and similar, and names that start with \`content-\`, \`webhook-\` or \`proxy-\`. Values are stored encrypted and never shown again. \`headers\` replaces all of them; a \`url\` on another server requires them again.`,
    example: { Authorization: 'Bearer …' },
  }),
  description,
}

const { url } = settings
export const NewEndpoint = Type.Object(
  { ...Type.Partial(Type.Object(settings)).properties, url, events },
  { ...closed, example: { url: 'https://hooks.example.com/parley', events: ['lead.*', 'inbox.*'] } },
)
export type NewEndpoint = Static<typeof NewEndpoint>

export const EndpointChanges = Type.Partial(Type.Object(settings), {
  ...closed,
  example: { events: ['lead.*'], description: 'Leads only' },
})
export type EndpointChanges = Static<typeof EndpointChanges>

const Health = titled('WebhookHealth', {
  lastSuccessAt: nullable(timestamp('Time of the last 2xx response.')),
  failingSince: nullable(
    timestamp('Time of the first failure since the last success. After five days the endpoint is disabled.'),
  ),
  failuresInARow: count('Failed attempts since the last success.', { example: 0 }),
  waiting: Type.Integer({
    minimum: 0,
    maximum: 10_000,
    description: 'Pending events, counted up to 1,000 in the list and up to 10,000 for one endpoint.',
    example: 0,
  }),
  oldestWaitingAt: nullable(timestamp('Time of the oldest pending event.')),
  nextAttemptAt: nullable(timestamp('Time of the next attempt. Null if nothing is pending, or it is due now.')),
  pausedUntil: nullable(timestamp('Sending is paused until then: the receiver requested it or is failing.')),
})

export const EndpointAnswer = titled('WebhookEndpoint', {
  id: idSchema('The endpoint.'),
  url: text(2000, 'Full URL for admins. Others see only the host, because the rest can contain a token.', {
    example: 'https://hooks.example.com/parley',
  }),
  events,
  phoneVisibility,
  headerNames: Type.Array(Type.String({ maxLength: 100 }), {
    maxItems: maxHeaders,
    description: 'Names of the custom headers; their values are not shown.',
    example: ['Authorization'],
  }),
  description,
  state: oneOf(['active', 'disabled'], { example: 'active' }),
  stateReason: nullable(
    Type.Object(
      {
        code: oneOf(['member', 'gone', 'failing']),
        message: text(1000, 'What happened and what to do.'),
      },
      { description: 'Why it is disabled; null if it is active.' },
    ),
  ),
  stateChangedAt: timestamp('Time of the last change of `state`.'),
  health: Health,
  secrets: Type.Object({
    valid: count('Secrets that sign requests now.', { example: 1 }),
    oldUntil: nullable(timestamp('Time when the last old secret stops signing.')),
  }),
  createdBy: nullable(
    idSchema('The member who created it, or who created the token that did; null for an operator or if unknown.'),
  ),
  createdAt: timestamp('Creation time.'),
  updatedAt: timestamp('Time of the last change.'),
})

export const OneEndpoint = Type.Object({ endpoint: EndpointAnswer })
export const EndpointWithSecret = titled('WebhookEndpointWithSecret', {
  endpoint: EndpointAnswer,
  secret: text(100, 'Signing secret. Shown only once.', { example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }),
})

export const EndpointParams = Type.Object({ ...workspaceParams, endpointId: idSchema('The endpoint.') })

export const RotateSecretRequest = Type.Object(
  {
    overlapHours: Type.Integer({
      minimum: 0,
      maximum: 168,
      default: 24,
      description: 'Hours during which the old secret also signs. 0 ends it at once, for a leaked secret.',
      example: 24,
    }),
  },
  closed,
)

export const EnableRequest = Type.Object(
  {
    sendSince: Type.Optional(
      timestamp(
        'Also sends undelivered events since this time, within the last 30 days. Without it, only new events are sent.',
      ),
    ),
  },
  { ...closed, example: {} },
)
