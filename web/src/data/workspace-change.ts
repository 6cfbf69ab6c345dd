import { useMutation, useQueryClient } from '@tanstack/react-query'
import { refreshSession } from '../session/session.ts'
import { showToast } from '../ui/overlay/toasts.tsx'
import { statsKey } from './stats.ts'
import { changeWorkspace, type Workspace, type WorkspacePatch, workspaceKey } from './workspace.ts'

/** Changes settings of the workspace and confirms with `done`. */
export function useWorkspaceChange({ id, name }: Workspace, done: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (patch: WorkspacePatch) => changeWorkspace(id, patch),
    onSuccess: (changed) => {
      queries.setQueryData(workspaceKey(id), changed)
      void queries.invalidateQueries({ queryKey: statsKey(id) })
      showToast(done)
      if (changed.name !== name) void refreshSession()
    },
  })
}
