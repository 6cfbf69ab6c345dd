import { Button, Group, Modal, SegmentedControl, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { t } from '../text/index.ts'
import { CodeBlock } from '../ui/CodeBlock.tsx'
import { Copyable } from '../ui/Copyable.tsx'
import { type SnippetLanguage, verifySnippets } from './verify.ts'

/** The only sight of a signing secret, with what a receiver does with it. Nothing but its button closes it. */
export function SecretValue({ name, secret, close }: { name: string; secret: string; close(): void }) {
  const [language, setLanguage] = useState<SnippetLanguage>('Node.js')
  return (
    <Modal
      opened
      onClose={close}
      title={t.webhooks.secretOf(name)}
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
          <SegmentedControl
            size="xs"
            aria-label={t.webhooks.verify}
            data={Object.keys(verifySnippets)}
            value={language}
            onChange={(chosen) => setLanguage(chosen as SnippetLanguage)}
          />
        </Group>
        <CodeBlock label={t.webhooks.verify} value={verifySnippets[language](secret)} />
        <Group justify="flex-end">
          <Button onClick={close} data-autofocus>
            {t.webhooks.kept}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
