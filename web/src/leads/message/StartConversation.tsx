import { useQueryClient } from '@tanstack/react-query'
import { type Lead, leadKey } from '../../data/leads.ts'
import { StartPanel } from '../../shared/start/StartPanel.tsx'
import { t } from '../../text/index.ts'
import { plainPhone } from '../../ui/format/phone.ts'
import { Empty } from '../../ui/page/Empty.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { nameOf } from '../fields/lead.ts'
import { goTo } from './InboxLink.tsx'

interface StartConversationProps {
  lead: Lead
  close(): void
}

/** Writes to a lead who has not written. */
export default function StartConversation({ lead, close }: StartConversationProps) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const title = t.start.title({ name: nameOf(lead) })
  if (lead.phone === null) {
    return (
      <SidePanel title={title} close={close}>
        <Empty title={t.start.noPhone} />
      </SidePanel>
    )
  }
  const open = (conversationId: string) => {
    void queries.invalidateQueries({ queryKey: leadKey(workspaceId, lead.id) })
    goTo(`/w/${workspaceId}/inbox/${conversationId}`)
  }
  const whom = { name: nameOf(lead), firstName: lead.firstName, phone: plainPhone(lead.phone) }
  return <StartPanel title={title} whom={whom} open={open} close={close} />
}
