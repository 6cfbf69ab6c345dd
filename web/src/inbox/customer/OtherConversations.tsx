import { Link } from '@tanstack/react-router'
import { useConversationsWith } from '../../data/inbox/customer.ts'
import { currentUser } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { Chip } from '../../ui/Chip.tsx'
import { formatShortTime } from '../../ui/format/time.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { lastMessageLine } from '../parts/inbox-texts.ts'
import styles from './Customer.module.css'
import { Section } from './Section.tsx'

interface OtherConversationsProps {
  conversationId: string
  phone: string
}

/** Conversations of the customer with other connections. */
export function OtherConversations({ conversationId, phone }: OtherConversationsProps) {
  const workspaceId = useWorkspaceId()
  const { data: conversations } = useConversationsWith(workspaceId, phone)
  if (conversations === undefined) return null
  const others = conversations.filter(({ id }) => id !== conversationId)
  return (
    <Section title={t.customer.others}>
      {others.length === 0 && <p className={styles.muted}>{t.customer.noOthers}</p>}
      <ul className={styles.list}>
        {others.map((one) => (
          <li key={one.id}>
            <Link
              className={styles.other}
              to="/w/$workspaceId/inbox/{-$conversationId}"
              params={{ workspaceId, conversationId: one.id }}
              search={true}
            >
              <span className={styles.otherLine} dir="auto">
                {lastMessageLine(one, currentUser().id) || t.inbox.emptyThread}
              </span>
              <span className={styles.meta}>
                {[
                  one.connectionName ?? t.common.unknown,
                  t.inbox.statuses[one.status],
                  formatShortTime(one.lastMessageAt),
                ].join(' · ')}
              </span>
              {one.unreadCount > 0 && <Chip tone="accent">{t.inbox.unreadCount({ n: one.unreadCount })}</Chip>}
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  )
}
