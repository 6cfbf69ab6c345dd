import { useMutation } from '@tanstack/react-query'
import { useConnectionActions, useSimulatorUrl } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { PanelButtons } from '../../ui/page/PanelButtons.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { blankWidget, type WidgetDraft, WidgetFields, widgetOf } from '../website/WidgetFields.tsx'
import type { FormProps } from './form-props.ts'

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
      <WidgetFields draft={draft} />
    </SidePanel>
  )
}
