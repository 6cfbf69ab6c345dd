import { Button, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import {
  deleteMacro,
  type Macro,
  type MacroDraft,
  macrosKey,
  saveMacro,
  useMacros,
} from '../../data/team/automation.ts'
import { t } from '../../text/index.ts'
import { showError, showUndoToast } from '../../ui/overlay/toasts.tsx'
import { PanelButtons } from '../../ui/page/PanelButtons.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { ActionFields } from './ActionFields.tsx'
import { newAction } from './rule-draft.ts'
import { useChoices } from './use-choices.ts'

interface MacroPanelProps {
  /** Null for a new macro. */
  macro: Macro | null
  close(): void
}

export function MacroPanel({ macro, close }: MacroPanelProps) {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.automation
  const queries = useQueryClient()
  const { refetch } = useMacros(workspaceId)
  const choices = useChoices()
  const draft = useDraft<MacroDraft>({ name: macro?.name ?? '', actions: macro?.actions ?? [newAction('reply')] })
  const { value, set, errorOf } = draft
  const save = useMutation({
    mutationFn: () => saveMacro(workspaceId, macro?.id ?? null, value),
    onSuccess: async () => {
      await refetch()
      close()
    },
    onError: (error) => draft.applyError(error) || showError(error),
  })
  const remove = async ({ id, name, actions }: Macro) => {
    close()
    await deleteMacro(workspaceId, id).catch(showError)
    await refetch()
    showUndoToast(texts.macroDeleted({ name }), () => {
      void saveMacro(workspaceId, null, { name, actions }).then(
        () => queries.invalidateQueries({ queryKey: macrosKey(workspaceId) }),
        showError,
      )
    })
  }
  return (
    <SidePanel
      title={macro === null ? texts.createMacro : texts.changeMacro({ name: macro.name })}
      close={close}
      size={640}
      submit={() => save.mutate()}
      footer={
        <>
          {macro !== null && (
            <Button variant="default" c="var(--bad)" mr="auto" onClick={() => void remove(macro)}>
              {t.common.delete}
            </Button>
          )}
          <PanelButtons close={close} action={t.common.save} isBusy={save.isPending} />
        </>
      }
    >
      <TextInput
        label={texts.name}
        value={value.name}
        maxLength={100}
        onChange={(event) => set({ name: event.currentTarget.value })}
        error={errorOf('name')}
        data-autofocus
      />
      <ActionFields
        trigger={null}
        actions={value.actions}
        set={(actions) => set({ actions })}
        choices={choices}
        error={errorOf('actions')}
      />
    </SidePanel>
  )
}
