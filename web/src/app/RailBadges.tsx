import { useConnectionBadge } from '../connections/use-connection-badge.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { useTroubleBadge } from '../webhooks/use-trouble-badge.ts'

/** Sets the numbers of trouble at the rail. They may come a moment after the page. */
export default function RailBadges() {
  const workspaceId = useWorkspaceId()
  useTroubleBadge(workspaceId)
  useConnectionBadge(workspaceId)
  return null
}
