import { Button } from '@mantine/core'
import type { Workspace, WorkspacePatch } from '../../data/workspace.ts'
import { useWorkspaceChange } from '../../data/workspace-change.ts'
import { hasRole } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { type Draft, useDraft } from '../../ui/use-draft.ts'

export interface WorkspaceDraft<T> extends Draft<T> {
  mayChange: boolean
  isSaving: boolean
  save(): void
  cancel(): void
}

/** Returns workspace settings that are saved together. Errors are shown beside their fields. */
export function useWorkspaceDraft<T extends object>(
  workspace: Workspace,
  draftOf: (workspace: Workspace) => T,
  patchOf: (value: T) => WorkspacePatch,
): WorkspaceDraft<T> {
  const draft = useDraft(draftOf(workspace))
  const change = useWorkspaceChange(workspace, t.settings.saved)
  return {
    ...draft,
    mayChange: hasRole(workspace.id, 'admin'),
    isSaving: change.isPending,
    save: () =>
      change.mutate(patchOf(draft.value), {
        onSuccess: (changed) => draft.reset(draftOf(changed)),
        onError: (error) => draft.applyError(error) || showError(error),
      }),
    cancel: () => draft.reset(draftOf(workspace)),
  }
}

interface ButtonsProps {
  draft: Pick<WorkspaceDraft<object>, 'isChanged' | 'isSaving' | 'cancel'>
  isComplete?: boolean
}

/** Save and discard buttons. */
export function DraftButtons({ draft, isComplete = true }: ButtonsProps) {
  return (
    <>
      <Button variant="default" disabled={!draft.isChanged} onClick={draft.cancel}>
        {t.common.cancel}
      </Button>
      <Button type="submit" disabled={!draft.isChanged || !isComplete} loading={draft.isSaving}>
        {t.common.save}
      </Button>
    </>
  )
}
