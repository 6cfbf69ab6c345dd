import { useParams } from '@tanstack/react-router'

/** The workspace that the address names. */
export function useWorkspaceId(): string {
  const { workspaceId } = useParams({ strict: false })
  if (workspaceId === undefined) throw new Error('This page is not within a workspace')
  return workspaceId
}
