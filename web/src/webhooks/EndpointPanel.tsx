import { Radio, Stack, Textarea, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import {
  changeEndpoint,
  createEndpoint,
  type Endpoint,
  type EndpointSettings,
  type EventPattern,
} from '../data/webhooks.ts'
import { t } from '../text/index.ts'
import { isOtherServer } from '../ui/other-server.ts'
import { showError } from '../ui/overlay/toasts.tsx'
import { PanelButtons } from '../ui/page/PanelButtons.tsx'
import { SidePanel } from '../ui/page/SidePanel.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { EventFields } from './EventFields.tsx'
import { HeaderFields, type HeaderLine, headersOf } from './HeaderFields.tsx'

interface EndpointPanelProps {
  /** The endpoint to edit; without one, a new one. */
  endpoint?: Endpoint
  close(): void
  /** Includes the secret of a new endpoint. */
  onSaved(endpoint: Endpoint, secret: string | null): void
}

export interface EndpointDraft {
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
