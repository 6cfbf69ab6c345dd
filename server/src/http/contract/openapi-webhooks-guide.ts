/** The text in front of the routes of webhooks. */
export const webhooksGuide = `Parley sends events by POST to addresses of yours, signed by
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
