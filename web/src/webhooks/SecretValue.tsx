import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { t } from '../text/index.ts'
import { CodeBlock } from '../ui/CodeBlock.tsx'
import { Copyable } from '../ui/Copyable.tsx'
import { Dialog } from '../ui/overlay/Dialog.tsx'
import { Segments } from '../ui/page/Segments.tsx'

/** The only sight of a signing secret, with what a receiver does with it. Nothing but its button closes it. */
export function SecretValue({ name, secret, close }: { name: string; secret: string; close(): void }) {
  const [language, setLanguage] = useState<SnippetLanguage>('Node.js')
  return (
    <Dialog
      close={close}
      title={t.webhooks.secretOf({ name })}
      size={640}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack gap="md">
        <Text size="md">{t.webhooks.secretHelp}</Text>
        <Copyable value={secret} label={t.webhooks.secret} />
        <Group justify="space-between">
          <Text size="md">{t.webhooks.verify}</Text>
          <Segments
            label={t.webhooks.verify}
            data={snippetLanguages.map((value) => ({ value, label: value }))}
            value={language}
            onChange={setLanguage}
          />
        </Group>
        <CodeBlock label={t.webhooks.verify} value={verifySnippets[language](secret)} />
        <Group justify="flex-end">
          <Button onClick={close} data-autofocus>
            {t.webhooks.kept}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}

/** Lines for a receiver that checks signatures with the library of Standard Webhooks in its language. */
const verifySnippets = {
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
const snippetLanguages = Object.keys(verifySnippets) as SnippetLanguage[]
