import { useMutation } from '@tanstack/react-query'
import { type Connection, useConnectionActions } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { PanelButtons } from '../../ui/page/PanelButtons.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { draftOf, type WidgetDraft, WidgetFields, widgetOf } from './WidgetFields.tsx'

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
      <WidgetFields draft={draft} />
    </SidePanel>
  )
}
