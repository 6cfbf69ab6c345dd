import { useQueryClient } from '@tanstack/react-query'
import { type Lead, leadKey } from '../../data/leads.ts'
import { StartPanel } from '../../shared/start/StartPanel.tsx'
import { t } from '../../text/index.ts'
import { dialablePhone } from '../../ui/format/phone.ts'
import { EmptyState } from '../../ui/page/EmptyState.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { nameOf } from '../fields/lead.ts'
import { goTo } from './InboxLink.tsx'

/** Starts a conversation with a lead. */
export default function StartConversation({ lead, close }: { lead: Lead; close(): void }) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const title = t.start.title({ name: nameOf(lead) })
  if (lead.phone === null) {
    return (
      <SidePanel title={title} close={close}>
        <EmptyState title={t.start.noPhone} />
      </SidePanel>
    )
  }
  const open = (conversationId: string) => {
    void queries.invalidateQueries({ queryKey: leadKey(workspaceId, lead.id) })
    goTo(`/w/${workspaceId}/inbox/${conversationId}`)
  }
  const recipient = { name: nameOf(lead), firstName: lead.firstName, phone: dialablePhone(lead.phone) }
  return <StartPanel title={title} recipient={recipient} open={open} close={close} />
}
