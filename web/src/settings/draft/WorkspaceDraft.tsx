import { Button } from '@mantine/core'
import type { Workspace, WorkspacePatch } from '../../data/workspace.ts'
import { useWorkspaceChange } from '../../data/workspace-change.ts'
import { mayIn } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { complain } from '../../ui/overlay/notices.tsx'
import { type Draft, useDraft } from '../../ui/use-draft.ts'

export interface WorkspaceDraft<T> extends Draft<T> {
  mayChange: boolean
  isSaving: boolean
  save(): void
  cancel(): void
}

/** Settings of the workspace that are filled in and saved together. A refusal of one of them is said beside its field. */
export function useWorkspaceDraft<T extends object>(
  workspace: Workspace,
  draftOf: (workspace: Workspace) => T,
  patchOf: (value: T) => WorkspacePatch,
): WorkspaceDraft<T> {
  const draft = useDraft(draftOf(workspace))
  const change = useWorkspaceChange(workspace, t.settings.saved)
  return {
    ...draft,
    mayChange: mayIn(workspace.id, 'admin'),
    isSaving: change.isPending,
    save: () =>
      change.mutate(patchOf(draft.value), {
        onSuccess: (changed) => draft.reset(draftOf(changed)),
        onError: (error) => draft.refuse(error) || complain(error),
      }),
    cancel: () => draft.reset(draftOf(workspace)),
  }
}

interface ButtonsProps {
  draft: Pick<WorkspaceDraft<object>, 'isChanged' | 'isSaving' | 'cancel'>
  isWhole?: boolean
}

/** The buttons below such settings. */
export function DraftButtons({ draft, isWhole = true }: ButtonsProps) {
  return (
    <>
      <Button variant="default" disabled={!draft.isChanged} onClick={draft.cancel}>
        {t.common.cancel}
      </Button>
      <Button type="submit" disabled={!draft.isChanged || !isWhole} loading={draft.isSaving}>
        {t.common.save}
      </Button>
    </>
  )
}
