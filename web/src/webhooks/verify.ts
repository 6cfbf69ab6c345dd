/** Lines for a receiver that checks signatures with the library of Standard Webhooks in its language. */
export const verifySnippets = {
  'Node.js': (secret: string) => `import { Webhook } from 'standardwebhooks' // npm install standardwebhooks

const webhook = new Webhook('${secret}')
// body: the raw text of the request, not JSON that was parsed and written again
const event = webhook.verify(body, headers) // throws when it is not from here`,
  Python: (secret: string) => `from standardwebhooks import Webhook  # pip install standardwebhooks

webhook = Webhook("${secret}")
# body: the raw bytes of the request
event = webhook.verify(body, headers)  # raises when it is not from here`,
  PHP: (secret: string) => `<?php // composer require standard-webhooks/standard-webhooks

$webhook = new \\StandardWebhooks\\Webhook('${secret}');
// $body: the raw text of the request
$event = $webhook->verify($body, $headers); // throws when it is not from here`,
} as const

export type SnippetLanguage = keyof typeof verifySnippets
