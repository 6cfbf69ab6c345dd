import { TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type Connection, useConnectionActions, useSimulatorUrl } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { PanelButtons } from '../../ui/page/PanelButtons.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import type { FormProps } from '../add/form-props.ts'
import { blankWidget, draftOf, type WidgetDraft, WidgetFields, widgetOf } from './WidgetFields.tsx'

/** Connects a website; there is no platform that must answer. */
export function WebsiteForm({ back, close, onCreated }: FormProps) {
  const workspaceId = useWorkspaceId()
  const simulatorUrl = useSimulatorUrl(workspaceId)
  const origins = simulatorUrl === null ? '' : simulatorUrl
  const draft = useDraft<WidgetDraft>({ name: '', widget: { ...blankWidget, origins } })
  const { create } = useConnectionActions(workspaceId)
  const save = useMutation({
    mutationFn: () => create({ channel: 'website', name: draft.value.name.trim(), widget: widgetOf(draft.value) }),
    onSuccess: onCreated,
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <SidePanel
      title={t.connections.channels.website.name}
      close={close}
      submit={() => save.mutate()}
      footer={<PanelButtons close={back} leave={t.common.back} isBusy={save.isPending} action={t.connections.add} />}
    >
      <NameField draft={draft} />
      <WidgetFields draft={draft} />
    </SidePanel>
  )
}

/** Changes the settings of a website. */
export function WebsiteSettings({ connection, close }: { connection: Connection; close(): void }) {
  const draft = useDraft<WidgetDraft>(draftOf(connection))
  const { change } = useConnectionActions(useWorkspaceId())
  const save = useMutation({
    mutationFn: () => change(connection.id, { name: draft.value.name.trim(), widget: widgetOf(draft.value) }),
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
      <NameField draft={draft} />
      <WidgetFields draft={draft} />
    </SidePanel>
  )
}

function NameField({ draft: { value, set, errorOf } }: { draft: ReturnType<typeof useDraft<WidgetDraft>> }) {
  return (
    <TextInput
      label={t.connections.fields.name}
      description={t.connections.fields.nameHelp}
      data-autofocus
      required
      value={value.name}
      onChange={(event) => set({ name: event.currentTarget.value })}
      error={errorOf('name')}
      autoComplete="off"
    />
  )
}
