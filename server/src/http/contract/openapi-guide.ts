/** The text in front of the reference. */
export const guide = `Parley keeps a team's leads and its chat inbox in one place, shared by people and AI agents.

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

export const securitySchemes = {
  apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of the workspace, `plk_…`.' },
  teamToken: { type: 'http', scheme: 'bearer', description: "The operator's token for automation." },
  session: { type: 'apiKey', in: 'cookie', name: 'parley_session', description: "A signed-in member's session." },
} as const
