import { IconPhone, IconPhoneX } from '@tabler/icons-react'
import { memo, Suspense, useMemo } from 'react'
import type { Activity, Message, Note } from '../../data/inbox/types.ts'
import { useLabelsById } from '../../data/labels.ts'
import { useMemberList } from '../../data/team/members.ts'
import { t } from '../../text/index.ts'
import { formatDateTime, formatDay, formatTime } from '../../ui/format/time.ts'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { activityLine, authorCaption } from '../parts/inbox-texts.ts'
import { parseSystemMessage } from '../parts/system-message.ts'
import { Tick } from '../parts/Tick.tsx'
import { Bubble } from './Bubble.tsx'
import { type Block, showsTicks } from './blocks.ts'
import { MessageText } from './MessageText.tsx'
import styles from './Thread.module.css'

const HandoverCard = prefetchedComponent(() => import('./HandoverCard.tsx'))

export function Blocks({ blocks }: { blocks: readonly Block[] }) {
  return blocks.map((block) => <BlockView key={block.key} block={block} />)
}

function BlockView({ block }: { block: Block }) {
  switch (block.type) {
    case 'day':
      return <h3 className={styles.day}>{formatDay(block.at)}</h3>
    case 'time':
      return <p className={styles.line}>{formatTime(block.at)}</p>
    case 'unread':
      return (
        <p className={styles.unreadLine} data-unread-line>
          <span>{t.inbox.unreadLine}</span>
        </p>
      )
    case 'group':
      return <BubbleGroup group={block} />
    case 'notice':
      return <SystemMessageLine message={block.message} />
    case 'note':
      return <NoteBubble note={block.note} />
    case 'reaction':
      return (
        <p className={styles.line} title={formatDateTime(block.at)}>
          {t.media.reactedElsewhere({ emoji: block.emoji })}
        </p>
      )
    case 'activity':
      return <ActivityLine activity={block.activity} />
    case 'handover':
      return (
        <Suspense>
          <HandoverCard handover={block.handover} />
        </Suspense>
      )
    case 'waiting':
      return (
        <div className={styles.group} data-side="ours">
          <div className={styles.bubble} data-by="user">
            <MessageText text={block.entry.text} />
          </div>
          <p className={styles.caption}>
            {block.entry.state === 'waiting' ? t.inbox.waitingForConnection : t.inbox.you} <Tick status="pending" />
          </p>
        </div>
      )
    default:
      return block satisfies never
  }
}

type Group = Extract<Block, { type: 'group' }>

/** Consecutive messages of one author, with the author below. */
const BubbleGroup = memo(
  function BubbleGroup({ group: { side, author, messages } }: { group: Group }) {
    const caption = authorCaption(author)
    const last = messages.at(-1)
    return (
      <div className={styles.group} data-side={side}>
        {messages.map((message, n) => (
          <Bubble key={message.id} message={message} hasTick={n < messages.length - 1 && showsTicks(messages, n)} />
        ))}
        {last !== undefined && (caption !== null || last.direction === 'outbound') && (
          <p className={styles.caption} data-by={author.type}>
            {caption} <time title={formatDateTime(last.occurredAt)}>{formatTime(last.occurredAt)}</time>
            {last.direction === 'outbound' && <Tick status={last.status} />}
          </p>
        )}
      </div>
    )
  },
  ({ group: before }, { group: next }) =>
    before.messages.length === next.messages.length &&
    before.messages.every((message, n) => message === next.messages[n]),
)

/** A call or other notice of the platform, without an author. */
function SystemMessageLine({ message: { id, kind, text, occurredAt } }: { message: Message }) {
  const { content, call } = parseSystemMessage(text)
  const Icon = call === 'missed' ? IconPhoneX : IconPhone
  return (
    <p className={styles.line} id={`message-${id}`} tabIndex={-1} title={formatDateTime(occurredAt)} data-kind={kind}>
      {call !== null && <Icon size={14} stroke={1.8} aria-hidden="true" />}
      {content}
      {call !== null && ` · ${formatTime(occurredAt)}`}
    </p>
  )
}

const NoteBubble = memo(function NotePaper({ note: { id, text, mentions, actor, createdAt } }: { note: Note }) {
  const workspaceId = useWorkspaceId()
  const members = useMemberList(workspaceId)
  const names = useMemo(
    () => members.filter(({ userId }) => mentions.includes(userId)).map(({ name }) => name),
    [members, mentions],
  )
  return (
    <section className={styles.note} id={`message-${id}`} tabIndex={-1}>
      <p className={styles.noteBy}>
        {t.inbox.note({ name: actor.name ?? t.inbox.teammate })} ·{' '}
        <time title={formatDateTime(createdAt)}>{formatTime(createdAt)}</time>
      </p>
      <MessageText text={text} names={names} />
    </section>
  )
})

function ActivityLine({ activity }: { activity: Activity }) {
  const workspaceId = useWorkspaceId()
  const labels = useLabelsById(workspaceId)
  return (
    <p className={styles.line} title={formatDateTime(activity.createdAt)}>
      {activityLine(activity, (id) => labels.get(id)?.name ?? t.common.unknown)}
      {activity.kind === 'owner' && ` · ${formatTime(activity.createdAt)}`}
    </p>
  )
}
