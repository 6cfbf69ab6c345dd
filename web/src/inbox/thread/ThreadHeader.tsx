import { ActionIcon } from '@mantine/core'
import { IconArrowLeft, IconLayoutSidebarRight } from '@tabler/icons-react'
import type { Conversation, Person } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { formatShortTime } from '../../ui/format/time.ts'
import { Tip } from '../../ui/overlay/Tip.tsx'
import { useNow } from '../list/ConversationRows.tsx'
import { LabelList, useConversationLabels } from '../parts/ConversationLabels.tsx'
import { GoalChip } from '../parts/GoalChip.tsx'
import { useInboxContext } from '../parts/inbox-context.ts'
import { customerName, phoneLabel } from '../parts/inbox-texts.ts'
import { PresenceAvatars } from '../parts/presence.tsx'
import styles from '../ThreadPane.module.css'
import { ThreadActions } from './ThreadActions.tsx'

interface ThreadHeaderProps {
  conversation: Conversation
  people: readonly Person[]
  showsCustomer: boolean
  toggleCustomer(): void
}

export function ThreadHeader(props: ThreadHeaderProps) {
  const { conversation, people, showsCustomer, toggleCustomer } = props
  const { close } = useInboxContext()
  const labels = useConversationLabels(conversation.labelIds)
  const facts = factsOf(conversation)
  const now = useNow()
  const customerLabel = showsCustomer ? t.inbox.hideCustomer : t.inbox.showCustomer
  return (
    <header className={styles.head}>
      <div className={styles.header}>
        <ActionIcon
          className={styles.back}
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={t.inbox.backToList}
          onClick={showsCustomer ? toggleCustomer : close}
        >
          <IconArrowLeft size={20} stroke={1.6} />
        </ActionIcon>
        <div className={styles.who}>
          <h2 className={styles.name} dir="auto">
            {customerName(conversation)}
          </h2>
          {/* Facts that do not fit are hidden completely; the panel shows all of them. */}
          <div className={styles.facts} title={facts.join(' · ')}>
            {conversation.goal !== null && <GoalChip goal={conversation.goal} now={now} />}
            {[...new Set(facts)].map((fact) => (
              <span key={fact}>{fact}</span>
            ))}
          </div>
        </div>
        <PresenceAvatars people={people} />
        <ThreadActions conversation={conversation} />
        <Tip label={customerLabel}>
          <ActionIcon
            className={`${styles.customerButton} ${styles.act}`}
            variant="subtle"
            color="gray"
            size="lg"
            aria-label={customerLabel}
            aria-expanded={showsCustomer}
            onClick={toggleCustomer}
          >
            <IconLayoutSidebarRight size={18} stroke={1.6} />
            <span>{t.inbox.customer}</span>
          </ActionIcon>
        </Tip>
      </div>
      {labels.length > 0 && <LabelList labels={labels} />}
    </header>
  )
}

/** Returns the facts, most actionable first. */
function factsOf(conversation: Conversation): string[] {
  const { contact, connectionName, status, snoozedUntil, assignedToName, teamName, priority } = conversation
  const phone = contact.name === null ? null : phoneLabel(contact.phone)
  const until =
    snoozedUntil === null ? t.inbox.snoozedOpen : t.inbox.snoozedUntil({ moment: formatShortTime(snoozedUntil) })
  const state = status === 'snoozed' ? until : t.inbox.statuses[status]
  const priorityName = priority === null ? null : t.inbox.priorities[priority]
  const facts = [status === 'open' ? null : state, priorityName, assignedToName, teamName, phone, connectionName]
  return facts.filter((fact) => fact !== null)
}
