import { useParams } from '@tanstack/react-router'

/** Returns the workspace of the address. */
export function useWorkspaceId(): string {
  const workspaceId = useParams({ strict: false, select: (params) => params.workspaceId })
  if (workspaceId === undefined) throw new Error('This page is not within a workspace')
  return workspaceId
}
