import { Checkbox, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type Endpoint, enableEndpoint } from '../../data/webhooks.ts'
import { t } from '../../text/index.ts'
import { localInput, readLocalInput } from '../../ui/format/local-time.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { PanelButtons } from '../../ui/page/PanelButtons.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'

interface EnablePanelProps {
  endpoint: Endpoint
  close(): void
  onEnabled(response: Endpoint): void
}

/** Enables an endpoint, and optionally redelivers events since it stopped or started to fail. */
export function EnablePanel({ endpoint, close, onEnabled }: EnablePanelProps) {
  const workspaceId = useWorkspaceId()
  const since = endpoint.health.failingSince ?? endpoint.stateChangedAt
  const draft = useDraft({ isMissed: true, sendSince: localInput(since) })
  const { value, set, errorOf } = draft
  const enable = useMutation({
    mutationFn: () =>
      enableEndpoint(workspaceId, endpoint.id, value.isMissed ? readLocalInput(value.sendSince, since) : null),
    onSuccess: (response) => onEnabled(response.endpoint),
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <SidePanel
      title={t.webhooks.enableConfirm}
      close={close}
      submit={() => enable.mutate()}
      footer={<PanelButtons close={close} action={t.webhooks.enable} isBusy={enable.isPending} />}
    >
      <Text size="sm">{t.webhooks.enableHelp}</Text>
      <Checkbox
        label={t.webhooks.enableMissed}
        checked={value.isMissed}
        onChange={(event) => set({ isMissed: event.currentTarget.checked })}
      />
      <TextInput
        type="datetime-local"
        step={1}
        aria-label={t.webhooks.enableMissed}
        disabled={!value.isMissed}
        value={value.sendSince}
        onChange={(event) => set({ sendSince: event.currentTarget.value })}
        error={errorOf('sendSince')}
      />
    </SidePanel>
  )
}
