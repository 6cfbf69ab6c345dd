import swagger from '@fastify/swagger'
import type { App } from '../../base/route.ts'
import { documentInfo } from '../../base/version.ts'
import { polish } from './openapi-polish.ts'
import type { Document, OpenApiDocument, RouteDocument } from './openapi-shared.ts'

/** The text in front of the routes of webhooks. */
const webhooksGuide = `Parley sends events by POST to addresses of yours, signed by
[Standard Webhooks](https://www.standardwebhooks.com).

### The request

| header | |
|---|---|
| \`webhook-id\` | the event's id, the same for each attempt |
| \`webhook-timestamp\` | when the attempt was made, in seconds since 1970 |
| \`webhook-signature\` | \`v1,\` and the signature; several with a space between them while a secret is rotated |
| \`webhook-event\` | the event's name |
| \`content-type\` | \`application/json\` |
| \`user-agent\` | \`Parley/<version>\` |
| \`traceparent\` | where the service traces: the trace of what made the event, as [W3C](https://www.w3.org/TR/trace-context/) spells it |

A \`lead.*\` body is the lead itself, an \`inbox.*\` body is \`{"event": "<name>", "payload": {…}}\`. The bytes are the same for
each attempt. \`GET …/webhook-events\` shows a body of each.

### Verify it

Over the raw bytes, before they are parsed. In Node:

\`\`\`js
import { Webhook } from 'standardwebhooks'

const event = new Webhook('whsec_…').verify(rawBody, request.headers) // throws when it is not ours
\`\`\`

In Python:

\`\`\`python
from standardwebhooks.webhooks import Webhook

event = Webhook("whsec_…").verify(raw_body, request.headers)
\`\`\`

By hand: HMAC-SHA256 over \`<webhook-id>.<webhook-timestamp>.<body>\`, by the bytes that the base64 behind \`whsec_\` stands for.

\`\`\`sh
key=$(printf %s "\${SECRET#whsec_}" | base64 -d | od -An -v -tx1 | tr -d ' \\n')
{ printf '%s.%s.' "$ID" "$TIMESTAMP"; cat body.json; } |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64
\`\`\`

Compare in constant time with each signature behind \`v1,\`, and refuse timestamps more than five minutes off.

### Answer it

With any 2xx, within 15 seconds: store the event first, work on it afterwards. Every event comes at least once, so a repeat is
possible: keep the \`webhook-id\`s that you have worked on, for a week or so, and answer 2xx to those too.

| answer | what happens |
|---|---|
| 2xx | the event is delivered |
| 410 | the endpoint is disabled at once |
| 429, 503 with \`Retry-After\` | nothing more is sent until then, at most a day; in seconds or as a date |
| any other, a redirect too, or none | the event is sent again |

It is sent again after 5 s, 30 s, 2 min, 10 min, 1 h, 3 h, 6 h, 12 h, 24 h and 24 h, each counted from the failure before and up
to a fifth longer. Then it has failed; you can still have it sent by hand. After five failures in a row the endpoint is
asked by one request at a time until it takes one. When every attempt of five days has failed, it is disabled.

### Order

Events of one lead, or of one conversation, are sent one after another: the next one waits until the one before it is delivered or has
failed. Those of others do not wait for it.

### What was missed

Events and what became of them are kept for 30 days. One can be sent again by \`resend\`, a range of time by \`replays\`, and what
a disabled endpoint has missed by \`enable\` with \`sendSince\`.`

/** What routes are about, in the order in which the reference and the Postman collection show them. */
const groups: Record<string, Record<string, string>> = {
  'For API keys': {
    Leads: 'Read, create, change and find leads. For API keys with the scopes `leads.*`.',
    Inbox: 'Conversations and messages. For API keys with the scopes `inbox.*`.',
    Events: 'What has happened, in order: the pull twin of webhooks.',
  },
  'For the team': {
    'Sign-in': 'How a person begins and ends a session: by password, second factor or link.',
    Profile: 'The person who is signed in: name, password, second factor, sessions.',
    Workspaces: 'Teams and their settings. Whatever belongs to a team has its workspace in the path.',
    Members: 'Who belongs to a workspace, in which role, and who is invited.',
    'API keys': 'Keys for programs and agents: what they may do, from where, and until when.',
    'Team tokens': 'Credentials with which automation uses the interface of the team.',
    Erasures: 'A customer who wants to be forgotten: erase all that a workspace holds of them.',
    'Audit log': 'Who changed what about access and settings, and when.',
    'Team leads': 'The leads of a workspace as its members work with them.',
    'Lead fields': 'The custom fields that a workspace defines: for people, and never against what API keys write.',
    'Lead merges': 'Two leads that are one person: compared, merged, and taken apart again within 30 days.',
    'Lead bulk changes': 'What is done to many leads at once: begun, watched, cancelled, undone within a day.',
    'Lead imports': 'Files of leads: upload one, look at it, import it.',
    'Team inbox': 'Conversations as members work with them: who owns them, notes, mentions, presence.',
    Notices: 'What a member is told of: mentions, assignments, hand-overs, waits and outages, and how.',
    Labels: 'What conversations are marked with.',
    'Canned replies': 'Texts that members send often, by a short name.',
    'Saved filters': 'Views of leads and of the inbox that members keep.',
    Connections: 'The numbers of chat platforms: connect, pause and pair them, see how they fare.',
    Webhooks: webhooksGuide,
    Forms: 'Lead forms: how the team makes them and how the public fills them.',
    Statistics: "What the team's first page shows.",
    'Live updates': 'What changes while a page is open.',
  },
  'For operators': {
    'Key rotation': 'Exchanges the keys that seal data, while the service runs.',
    Service: 'Health.',
  },
  'For platforms': {
    Channels: 'What chat platforms call.',
  },
}

const tags = Object.values(groups).flatMap((group) =>
  Object.entries(group).map(([name, description]) => ({ name, description })),
)

const tagGroups = Object.entries(groups).map(([name, group]) => ({ name, tags: Object.keys(group) }))

/** The text in front of the reference. */
const guide = `Parley keeps a team's leads and its chat inbox in one place, shared by people and AI agents.

### Authentication

Send \`Authorization: Bearer <API key>\`. A key belongs to one workspace, has scopes, and may be limited to addresses and
to chat connections. A rejected key is always 401; \`statusMessage\` says why. The team API takes a member's session or
the operator's team token instead.

### Errors

Every error is \`{ statusCode, statusMessage, data? }\`, also for unknown routes and broken requests. What does not fit
its schema is 400 with \`data.issues\`, a list of \`{ path, message }\`. The inbox adds \`data.code\`: branch on it.
Unknown body fields and query parameters are refused rather than dropped.

### Requests

Bodies are JSON in UTF-8, at most 1 MiB, with each key once in an object. Timestamps are ISO 8601 in UTC with
milliseconds, ids are UUIDs, cursors are opaque. Every answer has an \`x-request-id\`; send your own (letters, digits,
\`.\`, \`_\`, \`-\`, at most 64) to follow a request through. Answers of 1 KB and more are compressed by gzip or brotli for
whoever sends \`Accept-Encoding\`.

### Events

Every change is recorded as an event with the change itself. \`GET /api/v1/events\` reads them in order:

1. Ask without \`after\` for what is kept (30 days), or with \`after=latest\` for what comes from now on.
2. Deal with the events, then store \`next_cursor\`, and send it as \`after\`. It is in every answer, also in one without
   events.
3. While \`has_more\` is true, ask again at once. Else ask with \`wait=25\`: the answer comes with the next event.

A program that dies between dealing with events and storing the cursor gets them again: at least once, so act on each
\`id\` once. Events of one lead or conversation come in the order of its changes, and none ever appears before a cursor
that was given out. A cursor that is too old is 410 \`CURSOR_EXPIRED\`: start anew, and read leads and conversations for
what was missed.

### Limits

Answers of limited routes carry \`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\`. Over the limit the
status is 429 with \`Retry-After\` in seconds. 503 also says when to try again.

### Versions

v1 only grows: expect new optional fields, codes and events. What is removed or tightened is announced beforehand by
\`Deprecation\` and \`Sunset\` headers.`

const securitySchemes = {
  apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of the workspace, `plk_…`.' },
  teamToken: { type: 'http', scheme: 'bearer', description: "The operator's token for automation." },
  session: { type: 'apiKey', in: 'cookie', name: 'parley_session', description: "A signed-in member's session." },
} as const

const methods = new Set(['get', 'post', 'put', 'patch', 'delete'])

/** Starts to note routes for the contract. Await it before the first route: what is registered earlier is missing. */
export async function describeApi(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Parley', description: guide, ...documentInfo },
      servers: [{ url: '/', description: 'The server that this document comes from' }],
      tags,
      components: { securitySchemes },
    },
    transform: ({ schema, url }) => ({ schema: keepQueryPatterns(schema), url }),
  })
}

// The generator lists a query's named properties only, so its patterns (`k_*`) travel beside them. Where a query has
// nothing but patterns, it would take the keywords for names.
function keepQueryPatterns<S>(schema: S): S {
  const { querystring } = (schema ?? {}) as { querystring?: { patternProperties?: object } }
  const patterns = querystring?.patternProperties
  if (patterns === undefined) return schema
  return { ...schema, querystring: { properties: {}, ...querystring }, 'x-query-patterns': patterns }
}

/** The OpenAPI 3.1 document of the routes of an app that is ready. */
export function openapiDocument(app: App): OpenApiDocument {
  return polish(routesOf(app))
}

/** The same document before it is polished: inline schemas, with the hints for the Postman collection. */
export function routesOf(app: App): RouteDocument {
  const document = structuredClone(app.swagger()) as unknown as RouteDocument
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of Object.keys(item)) if (!methods.has(method)) delete item[method]
    if (Object.keys(item).length === 0) delete document.paths[path]
  }
  const used = new Set([...operationsOf(document)].flatMap(({ operation }) => operation.tags ?? []))
  document.tags = (document.tags ?? []).filter((tag) => used.has(tag.name))
  document['x-tagGroups'] = tagGroups
    .map((group) => ({ ...group, tags: group.tags.filter((tag) => used.has(tag)) }))
    .filter((group) => group.tags.length > 0)
  return document
}

export function* operationsOf<O>(
  document: Pick<Document<O>, 'paths'>,
): Generator<{ path: string; method: string; operation: O }> {
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) yield { path, method, operation }
  }
}
