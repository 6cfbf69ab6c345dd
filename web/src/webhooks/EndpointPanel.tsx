import { ActionIcon, Button, Checkbox, Group, Input, Radio, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import {
  changeEndpoint,
  createEndpoint,
  type Endpoint,
  type EndpointSettings,
  type EventPattern,
  useEventCatalog,
} from '../data/webhooks.ts'
import { t } from '../text/index.ts'
import { isOtherServer } from '../ui/other-server.ts'
import { showError } from '../ui/overlay/toasts.tsx'
import { PanelButtons } from '../ui/page/PanelButtons.tsx'
import { SidePanel } from '../ui/page/SidePanel.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Endpoint.module.css'
import { type EventGroup, groups, optInEvents, toggleEvent } from './event-choice.ts'
import { patternName } from './webhook-texts.ts'

interface EndpointPanelProps {
  /** The endpoint to edit; without one, a new one. */
  endpoint?: Endpoint
  close(): void
  /** Includes the secret of a new endpoint. */
  onSaved(endpoint: Endpoint, secret: string | null): void
}

interface EndpointDraft {
  url: string
  description: string
  events: EventPattern[]
  phoneVisibility: 'full' | 'masked'
  /** Null if unchanged. */
  headers: HeaderLine[] | null
}

const blank: EndpointDraft = {
  url: '',
  description: '',
  events: ['lead.*', 'inbox.*'],
  phoneVisibility: 'full',
  headers: [],
}

export function EndpointPanel({ endpoint, close, onSaved }: EndpointPanelProps) {
  const workspaceId = useWorkspaceId()
  const draft = useDraft(endpoint === undefined ? blank : draftOf(endpoint))
  const { value, set, errorOf } = draft
  const action = endpoint === undefined ? t.common.create : t.common.save
  const save = useMutation({
    mutationFn: async () => {
      if (endpoint === undefined) return createEndpoint(workspaceId, settingsOf(value))
      return { ...(await changeEndpoint(workspaceId, endpoint.id, settingsOf(value))), secret: null }
    },
    onSuccess: (response) => onSaved(response.endpoint, response.secret),
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <SidePanel
      title={endpoint === undefined ? t.webhooks.create : t.webhooks.edit}
      close={close}
      submit={() => save.mutate()}
      footer={<PanelButtons close={close} action={action} isBusy={save.isPending} />}
    >
      <TextInput
        label={t.webhooks.url}
        description={t.webhooks.urlHelp}
        placeholder="https://hooks.example.com/parley"
        inputMode="url"
        value={value.url}
        onChange={(event) => set({ url: event.currentTarget.value })}
        error={errorOf('url')}
        data-autofocus
      />
      <Textarea
        label={t.webhooks.description}
        description={t.webhooks.descriptionHelp}
        autosize
        maxLength={200}
        value={value.description}
        onChange={(event) => set({ description: event.currentTarget.value })}
        error={errorOf('description')}
      />
      <EventFields value={value.events} change={(events) => set({ events })} error={errorOf('events')} />
      <Radio.Group
        label={t.webhooks.phones}
        value={value.phoneVisibility}
        onChange={(chosen) => set({ phoneVisibility: chosen as EndpointDraft['phoneVisibility'] })}
      >
        <Stack gap={6} mt={4}>
          <Radio value="full" label={t.webhooks.phonesFull} />
          <Radio value="masked" label={t.webhooks.phonesMasked} />
        </Stack>
      </Radio.Group>
      <HeaderFields
        value={value.headers}
        savedNames={endpoint?.headerNames ?? []}
        isElsewhere={isOtherServer(endpoint?.url ?? '', value.url.trim())}
        change={(headers) => set({ headers })}
        error={errorOf('headers')}
      />
    </SidePanel>
  )
}

const draftOf = ({ url, description, events, phoneVisibility, headerNames }: Endpoint): EndpointDraft => ({
  url,
  description: description ?? '',
  events,
  phoneVisibility,
  headers: headerNames.length === 0 ? [] : null,
})

function settingsOf({ url, description, events, phoneVisibility, headers }: EndpointDraft): EndpointSettings {
  return {
    url: url.trim(),
    description: description.trim() || null,
    events,
    phoneVisibility,
    ...(headers !== null && { headers: headersOf(headers) }),
  }
}

interface EventFieldsProps {
  value: readonly EventPattern[]
  change(to: EventPattern[]): void
  error: string | undefined
}

/** Events of both groups, and those of none; a whole group is one choice above its events. */
function EventFields({ value, change, error }: EventFieldsProps) {
  const workspaceId = useWorkspaceId()
  const { data: catalog = [] } = useEventCatalog(workspaceId)
  const firesOf = (name: EventPattern) => catalog.find((one) => one.name === name)?.fires
  const box = (pattern: EventPattern, { isIn, isPart = false }: { isIn: boolean; isPart?: boolean }) => (
    <Checkbox
      key={pattern}
      label={patternName(pattern)}
      checked={isIn || value.includes(pattern)}
      indeterminate={isPart}
      disabled={isIn}
      title={firesOf(pattern)}
      onChange={() => change(toggleEvent(value, pattern))}
    />
  )
  return (
    <Input.Wrapper label={t.webhooks.events} description={t.webhooks.eventsHelp} error={error} labelElement="div">
      {(Object.keys(groups) as EventGroup[]).map((group) => {
        const isWhole = value.includes(group)
        const isPart = !isWhole && groups[group].some((name) => value.includes(name))
        return (
          <fieldset key={group} className={styles.group} aria-label={patternName(group)}>
            {box(group, { isIn: false, isPart })}
            <div className={styles.names}>{groups[group].map((name) => box(name, { isIn: isWhole }))}</div>
          </fieldset>
        )
      })}
      <fieldset className={styles.group}>
        <legend className={styles.legend}>{t.webhooks.optIn}</legend>
        <div className={styles.names}>{optInEvents.map((name) => box(name, { isIn: false }))}</div>
      </fieldset>
    </Input.Wrapper>
  )
}

interface HeaderLine {
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

function HeaderFields({ value, savedNames, isElsewhere, change, error }: HeaderFieldsProps) {
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
const headersOf = (lines: readonly HeaderLine[]): Record<string, string> =>
  Object.fromEntries(lines.filter(({ name }) => name.trim() !== '').map(({ name, value }) => [name.trim(), value]))
