import { type Static, Type } from 'typebox'
import type { Issue } from '../../base/errors.ts'
import { nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { count, text } from '../../base/schema-types.ts'
import { closed, idSchema, workspaceParams } from '../../team/team-schema.ts'
import { eventPatterns } from '../event-catalogue.ts'

const maxHeaders = 20
const maxNameCharacters = 100
const maxValueCharacters = 1000
const token = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/
// Printable ASCII, and no space at the ends, which a receiver would not see.
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

/** What is wrong with an endpoint's own headers, named by header; nothing of a value is repeated. */
export function headerIssues(headers: Readonly<Record<string, string>>): Issue[] {
  const names = Object.keys(headers)
  const seen = new Set<string>()
  const issues: Issue[] =
    names.length > maxHeaders ? [{ path: 'headers', message: `must be ${maxHeaders} headers at most` }] : []
  for (const [name, value] of Object.entries(headers)) {
    const path = `headers.${name.slice(0, maxNameCharacters)}`
    const lower = name.toLowerCase()
    const problem =
      nameProblem(name) ?? (seen.has(lower) ? 'is there twice: case makes no difference' : valueProblem(value))
    if (problem !== null) issues.push({ path, message: problem })
    seen.add(lower)
  }
  return issues
}

function nameProblem(name: string): string | null {
  if (name.length > maxNameCharacters) return `must have a name of ${maxNameCharacters} characters at most`
  if (!token.test(name)) return "must have a name of letters, digits and !#$%&'*+.^_`|~-"
  const lower = name.toLowerCase()
  const isTaken = reserved.has(lower) || reservedPrefixes.some((beginning) => lower.startsWith(beginning))
  return isTaken ? 'is set by the service: choose another name' : null
}

function valueProblem(value: string): string | null {
  if (value.length > maxValueCharacters) return `must be ${maxValueCharacters} characters at most`
  return printable.test(value) ? null : 'must be printable ASCII without a space at either end, and not empty'
}

const description = nullable(
  Type.String({ maxLength: 200, description: 'For the team, at most 200 characters.', example: 'Warehouse' }),
)
const events = Type.Array(
  oneOf(eventPatterns, { title: 'EventPattern', description: 'An exact name, `lead.*` or `inbox.*`.' }),
  {
    minItems: 1,
    maxItems: eventPatterns.length,
    uniqueItems: true,
    description: 'What is sent: exact names, `lead.*`, `inbox.*`.',
    example: ['lead.*', 'inbox.message.received'],
  },
)
const phoneVisibility = oneOf(['full', 'masked'], {
  title: 'PhoneVisibility',
  description:
    'With `masked`, phones are hidden in all but their first and last digits, as for a masked API key: also in names, references and custom fields.',
  example: 'full',
})

const settings = {
  url: Type.String({
    minLength: 1,
    maxLength: 2000,
    description:
      'Where events are sent by POST. Public addresses only, unless the operator allows others; redirects are not followed.',
    example: 'https://hooks.example.com/parley',
  }),
  events,
  phoneVisibility,
  headers: Type.Record(Type.String(), Type.String({ maxLength: 1000 }), {
    description: `Up to ${maxHeaders} headers of your own for each request, such as \`Authorization\`: names of 100 characters at most, values of 1,000 printable ones. Not \`host\`, \`connection\`, \`user-agent\`, \`date\` and the like, nor what begins with \`content-\`, \`webhook-\` or \`proxy-\`. Values are stored encrypted and not shown again. Sending \`headers\` replaces all of them; a \`url\` on another server needs them again.`,
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

export const Health = titled('WebhookHealth', {
  lastSuccessAt: nullable(timestamp('When an attempt was last answered with 2xx.')),
  failingSince: nullable(timestamp('The first failure since the last success. After five days it is disabled.')),
  failuresInARow: count('Attempts that failed since the last success.', { example: 0 }),
  waiting: Type.Integer({
    minimum: 0,
    maximum: 10_000,
    description: 'Events that are still to be sent, counted up to 1,000 in the list and up to 10,000 for one endpoint.',
    example: 0,
  }),
  oldestWaitingAt: nullable(timestamp('When the oldest of them occurred.')),
  nextAttemptAt: nullable(
    timestamp('When the next attempt is due. Null when nothing waits, or nothing holds it back.'),
  ),
  pausedUntil: nullable(timestamp('Nothing is sent before: the receiver asked for it, or it does not answer.')),
})

export const EndpointAnswer = Type.Object(
  {
    id: idSchema('The endpoint.'),
    url: Type.String({
      maxLength: 2000,
      description: 'For admins. Others see the host alone, since the rest may hold a token.',
      example: 'https://hooks.example.com/parley',
    }),
    events,
    phoneVisibility,
    headerNames: Type.Array(Type.String({ maxLength: 100 }), {
      maxItems: maxHeaders,
      description: 'Your own headers; their values are not shown.',
      example: ['Authorization'],
    }),
    description,
    state: oneOf(['active', 'disabled'], { example: 'active' }),
    stateReason: nullable(
      Type.Object(
        {
          code: oneOf(['member', 'gone', 'failing']),
          message: text(1000, 'What happened, and what to do.'),
        },
        { description: 'Why it is disabled; null while it is active.' },
      ),
    ),
    stateChangedAt: timestamp('Since when.'),
    health: Health,
    secrets: Type.Object({
      valid: count('Secrets that sign each request at the moment.', { example: 1 }),
      oldUntil: nullable(timestamp('When the last of the older ones stops signing.')),
    }),
    createdBy: nullable(
      idSchema(
        'The member who made it, or who made the token that did; null for an operator, or made before this was kept.',
      ),
    ),
    createdAt: timestamp('When it was made.'),
    updatedAt: timestamp('When it last changed.'),
  },
  { title: 'WebhookEndpoint' },
)

export const OneEndpoint = Type.Object({ endpoint: EndpointAnswer })
export const EndpointWithSecret = titled('WebhookEndpointWithSecret', {
  endpoint: EndpointAnswer,
  secret: Type.String({
    maxLength: 100,
    description: 'The signing secret. Shown only here.',
    example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  }),
})

export const EndpointParams = Type.Object({ ...workspaceParams, endpointId: idSchema('The endpoint.') })

export const Rotation = Type.Object(
  {
    overlapHours: Type.Integer({
      minimum: 0,
      maximum: 168,
      default: 24,
      description: 'Hours for which the old secret signs as well. 0 ends it at once: for a secret that has leaked.',
      example: 24,
    }),
  },
  closed,
)

export const Enabling = Type.Object(
  {
    sendSince: Type.Optional(
      timestamp(
        'Also sends what occurred since then, within the last 30 days, and was not delivered. Without it the endpoint is told of what happens from now on.',
      ),
    ),
  },
  { ...closed, example: {} },
)
