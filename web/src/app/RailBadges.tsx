import { useConnectionBadge } from '../connections/use-connection-badge.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { useWebhookBadge } from '../webhooks/use-webhook-badge.ts'

/** Sets the badges of problems in the rail. Loaded after the page. */
export default function RailBadges() {
  const workspaceId = useWorkspaceId()
  useWebhookBadge(workspaceId)
  useConnectionBadge(workspaceId)
  return null
}
