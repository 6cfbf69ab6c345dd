import { Button, Group, Stack, Text } from '@mantine/core'
import type { Scope } from '../data/keys.ts'
import { t } from '../text/index.ts'
import { Copyable } from '../ui/Copyable.tsx'
import { Dialog } from '../ui/overlay/Dialog.tsx'

interface KeyValueProps {
  name: string
  value: string
  scopes: readonly Scope[]
  close(): void
}

/** Shows the value of a key, once. Only its button closes it. */
export function KeyValue({ name, value, scopes, close }: KeyValueProps) {
  return (
    <Dialog
      close={close}
      title={t.keys.valueOf({ name })}
      size={600}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack gap="md">
        <Text size="md">{t.keys.valueHelp}</Text>
        <Copyable value={value} label={t.keys.value} />
        <Text size="md">{t.keys.tryIt}</Text>
        <Copyable value={curlLine(value, scopes)} label={t.keys.curl} />
        <Group justify="flex-end">
          <Button onClick={close} data-autofocus>
            {t.keys.savedIt}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}

function curlLine(value: string, scopes: readonly Scope[]): string {
  const place = scopes.some((scope) => scope.startsWith('leads.')) ? 'leads?limit=5' : 'inbox/conversations?limit=5'
  return `curl '${window.location.origin}/api/v1/${place}' -H 'Authorization: Bearer ${value}'`
}
