import type { ReactNode } from 'react'
import { useWorkspace, type Workspace } from '../../data/workspace.ts'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'

/** Shows the settings of the workspace once they are loaded. */
export function WorkspaceBoundary({ children }: { children: (workspace: Workspace) => ReactNode }) {
  return <QueryBoundary query={useWorkspace(useWorkspaceId())}>{children}</QueryBoundary>
}
