import { useConnections } from '../../data/connections.ts'
import { type Lead, useConversations } from '../../data/leads.ts'
import type { People } from '../../data/people.ts'
import { t } from '../../text/index.ts'
import { Chip } from '../../ui/Chip.tsx'
import { formatShortTime } from '../../ui/format/time.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './LeadPanel.module.css'

interface LeadConversationsProps {
  lead: Lead
  people: People
}

/** Conversations with the lead's number. */
export function LeadConversations({ lead, people }: LeadConversationsProps) {
  const workspaceId = useWorkspaceId()
  const { data } = useConversations(workspaceId, lead.id, lead.phone)
  const { data: connections = [] } = useConnections(workspaceId)
  return (
    <section>
      <h3 className={styles.heading}>{t.leads.panel.conversations}</h3>
      {data?.length === 0 && <p className={styles.muted}>{t.leads.panel.conversationsEmpty}</p>}
      {data?.map(({ id, connectionId, owner, lastMessage, lastMessageAt }) => (
        <a
          key={id}
          className={styles.conversation}
          href={`/w/${workspaceId}/inbox/${id}`}
          onClick={(event) => {
            if (event.metaKey || event.ctrlKey || event.shiftKey) return
            event.preventDefault()
            // The router listens to history changes.
            window.history.pushState({}, '', event.currentTarget.href)
          }}
        >
          <span className={styles.line}>
            <strong>{connections.find((one) => one.id === connectionId)?.name ?? t.common.unknown}</strong>
            {owner.startsWith('agent:') && <Chip tone="agent">{people.nameOf(owner.slice('agent:'.length))}</Chip>}
            <time className={styles.muted} dateTime={lastMessageAt}>
              {formatShortTime(lastMessageAt)}
            </time>
          </span>
          {lastMessage !== null && (
            <span className={styles.muted} dir="auto">
              {lastMessage.direction === 'outbound' ? t.leads.panel.you({ text: lastMessage.text }) : lastMessage.text}
            </span>
          )}
        </a>
      ))}
    </section>
  )
}
