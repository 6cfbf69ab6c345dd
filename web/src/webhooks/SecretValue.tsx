import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { t } from '../text/index.ts'
import { CodeBlock } from '../ui/CodeBlock.tsx'
import { Copyable } from '../ui/Copyable.tsx'
import { Dialog } from '../ui/overlay/Dialog.tsx'
import { Segments } from '../ui/page/Segments.tsx'

/** Shows a signing secret, once, with code to verify signatures. Only its button closes it. */
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
            {t.webhooks.savedIt}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}

/** Code that verifies signatures with the Standard Webhooks libraries. */
const verifySnippets = {
  'Node.js': (secret: string) => `import { Webhook } from 'standardwebhooks' // npm install standardwebhooks

const webhook = new Webhook('${secret}')
// body: the raw text of the request, not JSON that was parsed and serialized again
const event = webhook.verify(body, headers) // throws if the signature is invalid`,
  Python: (secret: string) => `from standardwebhooks import Webhook  # pip install standardwebhooks

webhook = Webhook("${secret}")
# body: the raw bytes of the request
event = webhook.verify(body, headers)  # raises if the signature is invalid`,
  PHP: (secret: string) => `<?php // composer require standard-webhooks/standard-webhooks

$webhook = new \\StandardWebhooks\\Webhook('${secret}');
// $body: the raw text of the request
$event = $webhook->verify($body, $headers); // throws if the signature is invalid`,
} as const

type SnippetLanguage = keyof typeof verifySnippets
const snippetLanguages = Object.keys(verifySnippets) as SnippetLanguage[]
