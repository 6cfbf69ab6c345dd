import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Workspace, WorkspacePatch } from '../../data/workspace.ts'
import { useWorkspaceChange } from '../../data/workspace-change.ts'
import { hasRole } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { useSave } from '../../ui/draft-fields.ts'
import { Section } from '../../ui/page/Section.tsx'
import { type Draft, useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'

export interface SectionDraft<T> extends Draft<T> {
  mayChange: boolean
  isSaving: boolean
  save(): void
  cancel(): void
}

/** Returns settings that admins save together. `send` returns what was stored, which is edited next. */
export function useSectionDraft<T extends object>(initial: T, send: (value: T) => Promise<T>): SectionDraft<T> {
  const draft = useDraft(initial)
  const mayChange = hasRole(useWorkspaceId(), 'admin')
  const save = useSave(draft, () => send(draft.value), draft.reset)
  return {
    ...draft,
    mayChange,
    isSaving: save.isPending,
    save: () => save.mutate(),
    cancel: () => draft.reset(initial),
  }
}

/** Returns such settings of the workspace. */
export function useWorkspaceDraft<T extends object>(
  workspace: Workspace,
  draftOf: (workspace: Workspace) => T,
  patchOf: (value: T) => WorkspacePatch,
): SectionDraft<T> {
  const change = useWorkspaceChange(workspace, t.settings.saved)
  return useSectionDraft(draftOf(workspace), async (value) => draftOf(await change.mutateAsync(patchOf(value))))
}

interface DraftSectionProps {
  title: string
  help?: string | undefined
  draft: Omit<SectionDraft<object>, keyof Draft<object>> & Pick<Draft<object>, 'isChanged'>
  /** Whether everything that is required has been entered. */
  isComplete?: boolean
  children: ReactNode
}

/** Form of such settings, with save and discard buttons. */
export function DraftSection({ title, help, draft, isComplete = true, children }: DraftSectionProps) {
  return (
    <Section
      title={title}
      help={help}
      submit={draft.save}
      footer={
        draft.mayChange && (
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
    >
      {children}
    </Section>
  )
}
