import { Radio, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type Endpoint, type Replay, replay } from '../../data/webhooks.ts'
import { t } from '../../text/index.ts'
import { localInput, readLocalInput } from '../../ui/format/local-time.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { PanelButtons } from '../../ui/page/PanelButtons.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'

interface ReplayPanelProps {
  endpoint: Endpoint
  close(): void
  onStarted(): void
}

const dayMs = 24 * 3_600_000

/** Redelivers events of a time range, for receivers that lost or missed them. */
export function ReplayPanel({ endpoint, close, onStarted }: ReplayPanelProps) {
  const workspaceId = useWorkspaceId()
  const dayAgo = new Date(Date.now() - dayMs).toISOString()
  const draft = useDraft({ from: localInput(dayAgo), to: '', scope: 'undelivered' as Replay['scope'] })
  const { value, set, errorOf } = draft
  const start = useMutation({
    mutationFn: () => {
      const to = value.to === '' ? {} : { to: readLocalInput(value.to, value.to) }
      return replay(workspaceId, endpoint.id, { from: readLocalInput(value.from, dayAgo), scope: value.scope, ...to })
    },
    onSuccess: onStarted,
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <SidePanel
      title={t.webhooks.replay}
      close={close}
      submit={() => start.mutate()}
      footer={<PanelButtons close={close} action={t.webhooks.replayAction} isBusy={start.isPending} />}
    >
      <Text size="sm">{t.webhooks.replayHelp}</Text>
      <TextInput
        type="datetime-local"
        label={t.webhooks.replayFrom}
        value={value.from}
        onChange={(event) => set({ from: event.currentTarget.value })}
        error={errorOf('from')}
      />
      <TextInput
        type="datetime-local"
        label={t.webhooks.replayTo}
        description={t.webhooks.replayToHelp}
        value={value.to}
        onChange={(event) => set({ to: event.currentTarget.value })}
        error={errorOf('to')}
      />
      <Radio.Group
        label={t.webhooks.replayScope}
        value={value.scope}
        onChange={(scope) => set({ scope: scope as Replay['scope'] })}
      >
        <Stack gap={6} mt={4}>
          <Radio value="undelivered" label={t.webhooks.replayScopes.undelivered} />
          <Radio value="all" label={t.webhooks.replayScopes.all} />
        </Stack>
      </Radio.Group>
    </SidePanel>
  )
}
