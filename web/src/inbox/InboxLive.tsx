import { useEffect } from 'react'
import { useInboxLive } from '../data/inbox/live.ts'
import { useCounts } from '../data/inbox/queries.ts'
import { t } from '../text/index.ts'
import { setRailBadge } from '../ui/rail-badges.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

/** Keeps the inbox fresh, and its number at the rail, on whatever page one is. */
export default function InboxLive() {
  const workspaceId = useWorkspaceId()
  useInboxLive(workspaceId)
  const { data: counts } = useCounts(workspaceId)
  const unread = counts === undefined ? 0 : counts.mine.unread + counts.unassigned.unread
  useEffect(() => {
    setRailBadge('inbox', { count: unread, tone: 'accent', label: t.inbox.unreadBadge(unread) })
  }, [unread])
  return null
}
