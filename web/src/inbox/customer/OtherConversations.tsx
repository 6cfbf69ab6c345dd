import { Link } from '@tanstack/react-router'
import { t } from '../../text/index.ts'
import { shortMoment } from '../../ui/time.ts'
import styles from './Customer.module.css'
import { useConversationsWith } from './queries.ts'
import { Section } from './Section.tsx'

interface OtherConversationsProps {
  workspaceId: string
  conversationId: string
  phone: string
}

/** What else the customer has written, to other numbers of ours. */
export function OtherConversations({ workspaceId, conversationId, phone }: OtherConversationsProps) {
  const { data: conversations } = useConversationsWith(workspaceId, phone)
  if (conversations === undefined) return null
  const others = conversations.filter(({ id }) => id !== conversationId)
  return (
    <Section title={t.customer.others}>
      {others.length === 0 && <p className={styles.quiet}>{t.customer.noOthers}</p>}
      <ul className={styles.list}>
        {others.map(({ id, connectionName, lastMessage, lastMessageAt }) => (
          <li key={id}>
            <Link
              className={styles.other}
              to="/w/$workspaceId/inbox/{-$conversationId}"
              params={{ workspaceId, conversationId: id }}
              search={true}
            >
              {lastMessage?.text || t.common.unknown}
              <div className={styles.meta}>
                {connectionName ?? t.common.unknown} · {shortMoment(lastMessageAt)}
              </div>
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  )
}
