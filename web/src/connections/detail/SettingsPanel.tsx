import { PasswordInput, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { type Connection, type ConnectionChanges, useConnectionActions } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { PanelButtons } from '../../ui/page/PanelButtons.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { type Draft, useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { changesOf, fieldsOf, isSecret, mustReenter, type SettingsDraft, settingsOf } from '../parts/settings-fields.ts'
import { draftOf, WidgetFields, widgetOf } from '../website/WidgetFields.tsx'

interface SettingsPanelProps {
  connection: Connection
  close(): void
}

/** Edits the settings of a connection. */
export const SettingsPanel = (props: SettingsPanelProps) =>
  props.connection.channel === 'website' ? <WebsiteSettings {...props} /> : <PlatformSettings {...props} />

interface EditPanelProps<T> extends SettingsPanelProps {
  draft: Draft<T>
  changesOf(value: T): ConnectionChanges
  children: ReactNode
}

function EditPanel<T>({ connection, close, draft, changesOf, children }: EditPanelProps<T>) {
  const { change } = useConnectionActions(useWorkspaceId())
  const save = useMutation({
    mutationFn: async () => {
      const changes = changesOf(draft.value)
      if (Object.keys(changes).length > 0) await change(connection.id, changes)
    },
    onSuccess: () => {
      showToast(t.connections.saved)
      close()
    },
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <SidePanel
      title={t.connections.settingsOf({ name: connection.name })}
      close={close}
      submit={() => save.mutate()}
      footer={<PanelButtons close={close} action={t.common.save} isBusy={save.isPending} />}
    >
      {children}
    </SidePanel>
  )
}

function WebsiteSettings(props: SettingsPanelProps) {
  const draft = useDraft(draftOf(props.connection))
  return (
    <EditPanel {...props} draft={draft} changesOf={(value) => ({ name: value.name.trim(), widget: widgetOf(value) })}>
      <WidgetFields draft={draft} />
    </EditPanel>
  )
}

/** Secrets are never shown: an empty field leaves one unchanged. */
function PlatformSettings(props: SettingsPanelProps) {
  const { connection } = props
  const draft = useDraft<SettingsDraft>(settingsOf(connection))
  const { value, set, errorOf } = draft
  const { fields } = t.connections
  return (
    <EditPanel {...props} draft={draft} changesOf={(to) => changesOf(connection, to) as ConnectionChanges}>
      {fieldsOf(connection.channel).map((field, n) => {
        const Field = isSecret(field) ? PasswordInput : TextInput
        const isNeeded = mustReenter(field, connection, value)
        return (
          <Field
            key={field}
            label={fields[field]}
            required={isNeeded}
            {...(isSecret(field) && { description: isNeeded ? fields.secretAgain : fields.keepSecret })}
            value={value[field]}
            onChange={(event) => set({ [field]: event.currentTarget.value })}
            error={errorOf(field)}
            autoComplete="off"
            {...(n === 0 && { 'data-autofocus': true })}
          />
        )
      })}
    </EditPanel>
  )
}
