import { useParams } from '@tanstack/react-router'

/** The workspace that the address names: where every component has it from. */
export function useWorkspaceId(): string {
  const workspaceId = useParams({ strict: false, select: (params) => params.workspaceId })
  if (workspaceId === undefined) throw new Error('This page is not within a workspace')
  return workspaceId
}
