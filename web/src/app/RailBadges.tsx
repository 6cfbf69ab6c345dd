import { useConnectionBadge } from '../connections/use-connection-badge.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { useWebhookBadge } from '../webhooks/use-webhook-badge.ts'

/** Sets the numbers of trouble at the rail. They may come a moment after the page. */
export default function RailBadges() {
  const workspaceId = useWorkspaceId()
  useWebhookBadge(workspaceId)
  useConnectionBadge(workspaceId)
  return null
}
