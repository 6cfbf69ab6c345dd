import { IconArrowLeft, IconLayoutSidebarRight } from '@tabler/icons-react'
import type { Conversation, Person } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { Tip } from '../../ui/overlay/Tip.tsx'
import { useNow } from '../list/ConversationRows.tsx'
import { LabelList, useConversationLabels } from '../parts/ConversationLabels.tsx'
import { GoalChip } from '../parts/GoalChip.tsx'
import { IconButton } from '../parts/IconButton.tsx'
import { useInboxContext } from '../parts/inbox-context.ts'
import { customerName, phoneLabel, snoozeText } from '../parts/inbox-texts.ts'
import { PresenceAvatars } from '../parts/presence.tsx'
import styles from '../ThreadPane.module.css'
import { ThreadActions } from './ThreadActions.tsx'

interface ThreadHeaderProps {
  conversation: Conversation
  people: readonly Person[]
  showsCustomer: boolean
  toggleCustomer(): void
}

export function ThreadHeader({ conversation, people, showsCustomer, toggleCustomer }: ThreadHeaderProps) {
  const { close } = useInboxContext()
  const labels = useConversationLabels(conversation.labelIds)
  const facts = factsOf(conversation)
  const now = useNow()
  const customerLabel = showsCustomer ? t.inbox.hideCustomer : t.inbox.showCustomer
  return (
    <header className={styles.head}>
      <div className={styles.header}>
        <IconButton
          icon={IconArrowLeft}
          iconSize={20}
          stroke={1.6}
          size="lg"
          label={t.inbox.backToList}
          title={undefined}
          className={styles.back}
          onClick={showsCustomer ? toggleCustomer : close}
        />
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
          <IconButton
            icon={IconLayoutSidebarRight}
            stroke={1.6}
            size="lg"
            label={customerLabel}
            title={undefined}
            className={`${styles.customerButton} ${styles.act}`}
            aria-expanded={showsCustomer}
            onClick={toggleCustomer}
          >
            <span>{t.inbox.customer}</span>
          </IconButton>
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
  const state = status === 'snoozed' ? snoozeText(snoozedUntil) : t.inbox.statuses[status]
  const priorityName = priority === null ? null : t.inbox.priorities[priority]
  const facts = [status === 'open' ? null : state, priorityName, assignedToName, teamName, phone, connectionName]
  return facts.filter((fact) => fact !== null)
}
