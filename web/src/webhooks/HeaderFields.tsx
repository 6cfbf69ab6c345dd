import { ActionIcon, Button, Group, Input, Text, TextInput } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { t } from '../text/index.ts'
import styles from './Endpoint.module.css'

export interface HeaderLine {
  id: string
  name: string
  value: string
}

interface HeaderFieldsProps {
  /** Null: keeps the stored headers. */
  value: HeaderLine[] | null
  savedNames: readonly string[]
  /** Whether the address is on another server, for which stored headers are not valid. */
  isElsewhere: boolean
  change(to: HeaderLine[] | null): void
  error: string | undefined
}

export function HeaderFields({ value, savedNames, isElsewhere, change, error }: HeaderFieldsProps) {
  const lines = value ?? []
  const add = () => change([...lines, { id: crypto.randomUUID(), name: '', value: '' }])
  const edit = (id: string, changes: Partial<HeaderLine>) =>
    change(lines.map((line) => (line.id === id ? { ...line, ...changes } : line)))
  return (
    <Input.Wrapper label={t.webhooks.headers} description={t.webhooks.headersHelp} error={error} labelElement="div">
      {value === null && (
        <Group gap="xs" mt={6}>
          <Text size="sm">
            {(isElsewhere ? t.webhooks.headersReenter : t.webhooks.headersKept)({ names: savedNames.join(', ') })}
          </Text>
          <Button variant="default" size="compact-sm" onClick={add}>
            {t.webhooks.headersReplace}
          </Button>
        </Group>
      )}
      {lines.map((line) => (
        <div key={line.id} className={styles.headerLine}>
          <TextInput
            aria-label={t.webhooks.headerName}
            placeholder="Authorization"
            value={line.name}
            onChange={(event) => edit(line.id, { name: event.currentTarget.value })}
          />
          <TextInput
            aria-label={t.webhooks.headerValue}
            placeholder="Bearer …"
            autoComplete="off"
            value={line.value}
            onChange={(event) => edit(line.id, { value: event.currentTarget.value })}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            aria-label={t.webhooks.headerRemove({ name: line.name })}
            onClick={() => change(lines.filter(({ id }) => id !== line.id))}
          >
            <IconX size={16} />
          </ActionIcon>
        </div>
      ))}
      {value !== null && (
        <Button mt={6} variant="subtle" size="compact-sm" leftSection={<IconPlus size={14} />} onClick={add}>
          {t.webhooks.headerAdd}
        </Button>
      )}
    </Input.Wrapper>
  )
}

/** Skips lines without a name. */
export const headersOf = (lines: readonly HeaderLine[]): Record<string, string> =>
  Object.fromEntries(lines.filter(({ name }) => name.trim() !== '').map(({ name, value }) => [name.trim(), value]))
