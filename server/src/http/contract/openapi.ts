import swagger from '@fastify/swagger'
import type { App } from '../../base/route.ts'
import { documentInfo } from '../../base/version.ts'
import { optInEventNames } from '../../workspaces/opt-in-events.ts'
import { polishDocument } from './openapi-polish.ts'
import type { Document, OpenApiDocument, RouteDocument } from './openapi-shared.ts'

const webhooksGuide = `Parley sends events by POST to your URLs, signed according to
[Standard Webhooks](https://www.standardwebhooks.com).

### The request

| header | |
|---|---|
| \`webhook-id\` | the event's id, the same for each attempt |
| \`webhook-timestamp\` | time of the attempt, in seconds since 1970 |
| \`webhook-signature\` | \`v1,\` and the signature; several, separated by spaces, while a secret is rotated |
| \`webhook-event\` | the event's name |
| \`content-type\` | \`application/json\` |
| \`user-agent\` | \`Parley/<version>\` |
| \`traceparent\` | if tracing is on: the trace of the change behind the event, in [W3C](https://www.w3.org/TR/trace-context/) format |

The body of an event whose name begins with \`lead.\` is the lead itself; every other body is
\`{"event": "<name>", "payload": {…}}\`. All attempts send the same bytes. \`GET …/webhook-events\` returns a sample body of
each event.

The events ${optInEventNames.map((name) => `\`${name}\``).join(', ')} must be named: \`lead.*\` and \`inbox.*\` do not
include them. They are recorded from when an endpoint names them.

### Verify it

Verify the raw bytes, before you parse them. In Node:

\`\`\`js
import { Webhook } from 'standardwebhooks'

const event = new Webhook('whsec_…').verify(rawBody, request.headers) // throws if the signature is invalid
\`\`\`

In Python:

\`\`\`python
from standardwebhooks.webhooks import Webhook

event = Webhook("whsec_…").verify(raw_body, request.headers)
\`\`\`

By hand: HMAC-SHA256 over \`<webhook-id>.<webhook-timestamp>.<body>\`. The key is the base64-decoded secret after \`whsec_\`.

\`\`\`sh
key=$(printf %s "\${SECRET#whsec_}" | base64 -d | od -An -v -tx1 | tr -d ' \\n')
{ printf '%s.%s.' "$ID" "$TIMESTAMP"; cat body.json; } |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64
\`\`\`

Compare in constant time with each signature after \`v1,\`, and reject timestamps more than five minutes off.

### Respond

Respond with any 2xx within 15 seconds: store the event first, process it afterwards. Delivery is at least once, so repeats
are possible: keep the \`webhook-id\`s of processed events for about a week, and respond 2xx to repeats too.

| response | what happens |
|---|---|
| 2xx | the event is delivered |
| 410 | the endpoint is disabled at once |
| 429, 503 with \`Retry-After\` | delivery pauses until then, for at most a day; in seconds or as a date |
| any other response, including a redirect, or none | the event is retried |

Retries follow after 5 s, 30 s, 2 min, 10 min, 1 h, 3 h, 6 h, 12 h, 24 h and 24 h, each counted from the previous failure
and extended by up to a fifth. After the last one the delivery has failed; you can still resend it manually. After five
failures in a row the endpoint gets one request at a time until one succeeds. If every attempt fails for five days, the
endpoint is disabled.

### Order

Events of one lead or one conversation are sent one after another: the next one waits until the one before it is delivered
or has failed. Events of other leads and conversations do not wait.

### Missed events

Events and their deliveries are kept for 30 days. \`resend\` sends one again, \`replays\` a range of time, and \`enable\` with
\`sendSince\` the events that a disabled endpoint has missed.`

/** Groups and tags, in the order of the reference and the Postman collection. */
const groups: Record<string, Record<string, string>> = {
  'For API keys': {
    Leads: 'Create, read, update and search leads. For API keys with the scopes `leads.*`.',
    Inbox: 'Conversations and messages. For API keys with the scopes `inbox.*`.',
    Events: 'The event feed: an ordered alternative to webhooks.',
  },
  'For the team': {
    'Sign-in': 'Sign in and out: by password, second factor, link or identity provider.',
    Profile: 'The signed-in person: name, password, second factor, sessions.',
    Workspaces: 'Teams and their settings. Routes of a team have its workspace in the path.',
    Members: 'Members of a workspace, their roles, and invitations.',
    'API keys': 'Keys for programs and agents: scopes, allowed addresses, expiry.',
    'Agent instructions': 'What the team tells its agents: drafts, versions, preview.',
    'Team tokens': 'Credentials for automation of the team API.',
    Erasures: 'Erase all data of a customer in a workspace.',
    'Audit log': 'A record of changes to access and settings.',
    'Team leads': 'Leads of a workspace, for its members.',
    'Lead fields': 'Custom fields of a workspace. They bind people; API keys can write any field.',
    'Lead merges': 'Compare and merge two leads of the same person; undo within 30 days.',
    'Lead bulk changes': 'Change many leads at once: start, monitor, cancel, undo within a day.',
    'Lead imports': 'Upload, preview and import files of leads.',
    'Lead sources': 'Webhooks and lead ads that create leads, and what they have sent.',
    'Team inbox': 'Conversations, for members: assignment, notes, mentions, presence.',
    Satisfaction: 'What customers answer after their conversation was closed.',
    Tasks: 'What people want to come back to: about a lead, a conversation or neither.',
    Broadcasts: 'Templates to many leads at once: audiences, pace, approval and results.',
    Notifications: 'A member’s notifications and preferences.',
    Labels: 'Labels of conversations and leads.',
    Teams: 'Teams of people who answer conversations.',
    'Service levels': 'Holidays from calendars, and the hours, away messages and goals of teams.',
    'Canned replies': 'Saved texts, by a shortcut.',
    Knowledge: 'What the business knows: articles and short answers, for its agents and people.',
    'Saved filters': 'Saved views of leads and of the inbox, and saved reports.',
    Connections: 'Numbers on chat platforms: connect, pause and pair them, read their health.',
    Templates: 'Message templates of the official platform: write, submit for review, delete.',
    Webhooks: webhooksGuide,
    Forms: 'Lead forms: management and public submission.',
    Statistics: "Numbers of the team's home page and of agents.",
    Reports: 'Numbers of conversations, agents, leads and costs over time, and weekly mails of them.',
    Reviews: 'A sample of the conversations of agents, which people score.',
    Scenarios: 'Scripts of customers that agents are tried with, in sandboxes on the simulator.',
    Costs: 'What the platform charges for messages, and the rate cards that its prices come from.',
    Automation: 'Rules that act on events and waits, and macros that people run.',
    Sequences: 'Messages to leads over days, until they answer.',
    'Live updates': 'Changes while a page is open.',
  },
  'For operators': {
    'Single sign-on': 'Identity providers, by OpenID Connect and SCIM.',
    'Key rotation': 'Rotate the encryption keys while the service runs.',
    Service: 'Health.',
  },
  'For platforms': {
    Channels: 'Callbacks of chat platforms.',
  },
}

const tags = Object.values(groups).flatMap((group) =>
  Object.entries(group).map(([name, description]) => ({ name, description })),
)

const tagGroups = Object.entries(groups).map(([name, group]) => ({ name, tags: Object.keys(group) }))

const guide = `Parley keeps a team's leads and its chat inbox in one place, shared by people and AI agents.

### Authentication

Send \`Authorization: Bearer <API key>\`. A key belongs to one workspace, has scopes, and may be limited to addresses and
to chat connections. A rejected key is always 401; \`statusMessage\` says why. The team API takes a member's session or
the operator's team token instead.

### Errors

Every error is \`{ statusCode, statusMessage, data? }\`, also for unknown routes and malformed requests. Input that does not match
the schema is 400 with \`data.issues\`, a list of \`{ path, message }\`. The inbox adds \`data.code\`: branch on it.
Unknown body fields and query parameters are rejected, not ignored.

### Requests

Bodies are JSON in UTF-8, at most 1 MiB, without duplicate keys. Timestamps are ISO 8601 in UTC with
milliseconds, ids are UUIDs, cursors are opaque. Every response has an \`x-request-id\`; send your own (letters, digits,
\`.\`, \`_\`, \`-\`, at most 64) to trace a request. Responses of 1 KB and more are compressed with gzip or brotli if
you send \`Accept-Encoding\`.

### Events

Every change is recorded as an event with the change itself. \`GET /api/v1/events\` reads them in order:

1. Start without \`after\` for all kept events (30 days), or with \`after=latest\` for new ones only.
2. Process the events, then store \`next_cursor\`, and send it as \`after\`. Every response has it, also one without events.
3. While \`has_more\` is true, request the next page at once. Otherwise send \`wait=25\`: the response arrives with the next
   event.

A program that crashes between processing and storing the cursor gets the events again. Delivery is at least once, so
process each \`id\` once. Events of one lead or conversation are in the order of its changes, and no event is ever added
before an issued cursor. A cursor that is too old is 410 \`CURSOR_EXPIRED\`: start over, and read leads and conversations
for what you missed.

### Limits

Responses of rate-limited routes have \`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\`. Over the limit the
status is 429 with \`Retry-After\` in seconds. 503 has \`Retry-After\` too.

### Versions

v1 only grows: expect new optional fields, codes and events. Removals and restrictions are announced in advance by
\`Deprecation\` and \`Sunset\` headers.`

const securitySchemes = {
  apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of the workspace, `plk_…`.' },
  teamToken: { type: 'http', scheme: 'bearer', description: "The operator's token for automation." },
  session: { type: 'apiKey', in: 'cookie', name: 'parley_session', description: "A signed-in member's session." },
} as const

const methods = new Set(['get', 'post', 'put', 'patch', 'delete'])

/** Registers the OpenAPI generator. Await it before the first route: earlier routes are missing from the document. */
export async function registerOpenApi(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Parley', description: guide, ...documentInfo },
      servers: [{ url: '/', description: 'The server of this document' }],
      tags,
      components: { securitySchemes },
    },
    transform: ({ schema, url }) => ({ schema: keepQueryPatterns(schema), url }),
  })
}

// The generator lists only named query properties, so the patterns (`k_*`) are kept next to them. Without any named
// property, it would take the keywords for names.
function keepQueryPatterns<S>(schema: S): S {
  const { querystring } = (schema ?? {}) as { querystring?: { patternProperties?: object } }
  const patterns = querystring?.patternProperties
  if (patterns === undefined) return schema
  return { ...schema, querystring: { properties: {}, ...querystring }, 'x-query-patterns': patterns }
}

/** Returns the OpenAPI 3.1 document of all routes; the app must be ready. */
export function openapiDocument(app: App): OpenApiDocument {
  return polishDocument(routesDocument(app))
}

/** Returns the document before polishing: inline schemas, as the Postman collection needs them. */
export function routesDocument(app: App): RouteDocument {
  const document = structuredClone(app.swagger()) as unknown as RouteDocument
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of Object.keys(item)) if (!methods.has(method)) delete item[method]
    if (Object.keys(item).length === 0) delete document.paths[path]
  }
  const used = new Set([...listOperations(document)].flatMap(({ operation }) => operation.tags ?? []))
  document.tags = (document.tags ?? []).filter((tag) => used.has(tag.name))
  document['x-tagGroups'] = tagGroups
    .map((group) => ({ ...group, tags: group.tags.filter((tag) => used.has(tag)) }))
    .filter((group) => group.tags.length > 0)
  return document
}

export function* listOperations<O>(
  document: Pick<Document<O>, 'paths'>,
): Generator<{ path: string; method: string; operation: O }> {
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) yield { path, method, operation }
  }
}
