import {
  IconAlertCircle,
  IconArrowsExchange,
  IconBrandWhatsapp,
  IconClockPause,
  IconPencilCheck,
  IconPlugConnected,
  IconQrcode,
  IconRobot,
  IconUser,
  IconUsers,
  IconWorld,
} from '@tabler/icons-react'
import { type MouseEvent, memo } from 'react'
import { useWaitingDrafts } from '../../data/inbox/agent-drafts.ts'
import type { Conversation } from '../../data/inbox/types.ts'
import type { Label } from '../../data/labels.ts'
import { useAnswerGoalMs } from '../../data/workspace.ts'
import { t } from '../../text/index.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { formatDateTime, formatShortTime, formatSpan } from '../../ui/format/time.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { RowLabels } from '../parts/ConversationLabels.tsx'
import { GoalChip, PriorityChip } from '../parts/GoalChip.tsx'
import { customerName, lastMessageLine, snoozeText } from '../parts/inbox-texts.ts'
import { Mark } from '../parts/Mark.tsx'
import styles from './ConversationRows.module.css'

export const rowHeight = 64
const channelIcons = { waba: IconBrandWhatsapp, unofficial: IconQrcode, partner: IconPlugConnected, website: IconWorld }

interface ConversationRowProps {
  row: Conversation
  index: number
  start: number
  /** Total number of rows; -1 if unknown. */
  total: number
  isOpen: boolean
  isSelected: boolean
  /** Whether a tap selects rows instead of opening them. */
  isTouchMode: boolean
  /** Whether the row is the tab stop of the list; arrow keys move on from there. */
  isTabStop: boolean
  labels: ReadonlyMap<string, Label>
  now: number
  open(id: string): void
  /** `isRange` selects all rows from the previous one. */
  select(id: string, isRange: boolean): void
  peek(id: string): void
}

export const ConversationRow = memo(function ConversationRow(props: ConversationRowProps) {
  const workspaceId = useWorkspaceId()
  const { row, index, start, total, isOpen, isSelected, isTouchMode, isTabStop, labels, now } = props
  const { open, select, peek } = props
  const name = customerName(row)
  const go = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.button !== 0) return
    event.preventDefault()
    if (isTouchMode || event.shiftKey) select(row.id, event.shiftKey)
    else open(row.id)
  }
  return (
    <li
      className={styles.item}
      style={{ transform: `translateY(${start}px)` }}
      aria-posinset={index + 1}
      aria-setsize={total}
      data-chosen={isSelected || undefined}
    >
      <input
        type="checkbox"
        className={styles.check}
        // The X key does the same; the tab order contains rows only.
        tabIndex={-1}
        aria-label={t.inbox.bulk.choose({ name })}
        checked={isSelected}
        onClick={(event) => select(row.id, event.shiftKey)}
        onChange={noop}
      />
      <a
        href={`/w/${workspaceId}/inbox/${row.id}`}
        className={styles.row}
        data-row={row.id}
        tabIndex={isTabStop ? 0 : -1}
        data-open={isOpen || undefined}
        data-unread={row.unreadCount > 0 || undefined}
        aria-current={isOpen ? 'true' : undefined}
        onClick={go}
        onPointerEnter={() => peek(row.id)}
        onFocus={() => peek(row.id)}
      >
        <CustomerAvatar name={name} channel={row.channel} />
        <span className={styles.body}>
          <span className={styles.line}>
            <span className={styles.name} dir="auto">
              {name}
            </span>
            <time className={styles.time} dateTime={row.lastMessageAt} title={formatDateTime(row.lastMessageAt)}>
              {formatShortTime(row.lastMessageAt)}
            </time>
          </span>
          <span className={styles.line}>
            <span className={styles.text} dir="auto">
              {lastMessageLine(row)}
            </span>
            <RowBadge row={row} now={now} />
          </span>
          <RowDetails row={row} labels={labels} now={now} />
        </span>
      </a>
    </li>
  )
})

// The click handler knows whether it is a range.
const noop = () => {}

function CustomerAvatar({ name, channel }: { name: string; channel: Conversation['channel'] }) {
  const Icon = channelIcons[channel]
  return (
    <span className={styles.face} title={t.inbox.channels[channel]}>
      <Avatar name={name} />
      <span className={styles.badge}>
        <Icon size={11} stroke={2} aria-hidden="true" />
      </span>
    </span>
  )
}

/** Number of unread messages, otherwise the customer's waiting time. */
function RowBadge({ row: { unreadCount, unansweredSince, owner }, now }: { row: Conversation; now: number }) {
  if (unreadCount > 0) {
    return (
      <span
        className={styles.unread}
        data-agents={owner !== 'human' || undefined}
        title={t.inbox.unreadCount({ n: unreadCount })}
      >
        {unreadCount > 99 ? '99+' : unreadCount}
      </span>
    )
  }
  return unansweredSince !== null && owner === 'human' && <Waiting since={unansweredSince} now={now} />
}

/** Colored by the response time goal of the workspace, if any. */
function Waiting({ since, now }: { since: string; now: number }) {
  const goalMs = useAnswerGoalMs(useWorkspaceId())
  const waitedMs = now - Date.parse(since)
  const late = goalMs === null || waitedMs < goalMs ? 0 : waitedMs < 2 * goalMs ? 1 : 2
  return (
    <span className={styles.waiting} data-late={late} title={t.inbox.waitingSince({ moment: formatDateTime(since) })}>
      {t.inbox.waiting({ span: formatSpan(waitedMs) })}
    </span>
  )
}

/** Rendered only if there is something to show. */
function RowDetails({ row, labels, now }: { row: Conversation; labels: ReadonlyMap<string, Label>; now: number }) {
  const hasDraft = useWaitingDrafts(useWorkspaceId()).some(({ conversationId }) => conversationId === row.id)
  const { ownerName, owner, status, snoozedUntil, lastMessage, labelIds, assignedToName, teamName, handover } = row
  const { goal, priority } = row
  const isFailed = lastMessage?.status === 'failed'
  const isAgents = owner !== 'human'
  const isSnoozed = status === 'snoozed'
  const isPlain = !isFailed && !isAgents && !isSnoozed && handover === null && goal === null && priority === null
  if (isPlain && labelIds.length === 0 && assignedToName === null && teamName === null) return null
  const agent = ownerName ?? t.inbox.byAiOnly
  return (
    <span className={styles.meta}>
      {goal !== null && <GoalChip goal={goal} now={now} />}
      {priority !== null && <PriorityChip priority={priority} />}
      {handover !== null && <HandoverChip handover={handover} />}
      {hasDraft && (
        <Mark icon={IconPencilCheck} className={styles.handover} data-urgency="normal">
          {t.inbox.toApprove}
        </Mark>
      )}
      {isAgents && (
        <Mark icon={IconRobot} className={styles.agent} title={t.inbox.answeredBy({ name: agent })}>
          <b>{agent}</b>
        </Mark>
      )}
      {!isAgents && assignedToName !== null && (
        <Mark icon={IconUser} iconSize={12} className={styles.who}>
          {assignedToName}
        </Mark>
      )}
      {teamName !== null && (
        <Mark icon={IconUsers} iconSize={12} className={styles.who}>
          {teamName}
        </Mark>
      )}
      {isFailed && (
        <Mark icon={IconAlertCircle} className={styles.failed}>
          {t.inbox.failed}
        </Mark>
      )}
      {isSnoozed && (
        <Mark icon={IconClockPause} title={snoozeText(snoozedUntil)}>
          {snoozedUntil === null ? t.inbox.statuses.snoozed : formatShortTime(snoozedUntil)}
        </Mark>
      )}
      {labelIds.length > 0 && <RowLabels labelIds={labelIds} labels={labels} />}
    </span>
  )
}

function HandoverChip({ handover: { urgency, reason, at } }: { handover: NonNullable<Conversation['handover']> }) {
  const texts = t.inbox.handover
  const title = reason ?? texts.since({ moment: formatDateTime(at) })
  return (
    <Mark icon={IconArrowsExchange} className={styles.handover} data-urgency={urgency} title={title}>
      {urgency === 'normal' ? texts.open : texts.urgencies[urgency]}
    </Mark>
  )
}
