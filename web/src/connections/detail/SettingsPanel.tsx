import { PasswordInput, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type Connection, type ConnectionChanges, useConnectionActions } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { PanelButtons } from '../../ui/page/PanelButtons.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { changesOf, fieldsOf, isSecret, mustReenter, type SettingsDraft, settingsOf } from '../parts/settings-fields.ts'

interface SettingsPanelProps {
  connection: Connection
  close(): void
}

/** Edits the settings of a connection. Secrets are never shown: an empty field leaves one unchanged. */
export function SettingsPanel({ connection, close }: SettingsPanelProps) {
  const workspaceId = useWorkspaceId()
  const draft = useDraft<SettingsDraft>(settingsOf(connection))
  const { value, set, errorOf } = draft
  const { change } = useConnectionActions(workspaceId)
  const texts = t.connections
  const save = useMutation({
    mutationFn: async () => {
      const changes = changesOf(connection, value)
      if (Object.keys(changes).length > 0) await change(connection.id, changes as ConnectionChanges)
    },
    onSuccess: () => {
      showToast(texts.saved)
      close()
    },
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <SidePanel
      title={texts.settingsOf({ name: connection.name })}
      close={close}
      submit={() => save.mutate()}
      footer={<PanelButtons close={close} action={t.common.save} isBusy={save.isPending} />}
    >
      {fieldsOf(connection.channel).map((field, n) => {
        const Field = isSecret(field) ? PasswordInput : TextInput
        const isNeeded = mustReenter(field, connection, value)
        return (
          <Field
            key={field}
            label={texts.fields[field]}
            required={isNeeded}
            {...(isSecret(field) && { description: isNeeded ? texts.fields.secretAgain : texts.fields.keepSecret })}
            value={value[field]}
            onChange={(event) => set({ [field]: event.currentTarget.value })}
            error={errorOf(field)}
            autoComplete="off"
            {...(n === 0 && { 'data-autofocus': true })}
          />
        )
      })}
    </SidePanel>
  )
}
