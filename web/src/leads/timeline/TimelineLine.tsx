import {
  IconArchive,
  IconArrowBackUp,
  IconArrowMerge,
  IconCheckbox,
  IconForms,
  IconMessage,
  IconMessageReply,
  IconNote,
  IconPencil,
  IconPlus,
  IconProgress,
} from '@tabler/icons-react'
import type { TimelineEntry } from '../../data/lead/timeline.ts'
import type { People } from '../../data/people.ts'
import { t } from '../../text/index.ts'
import { formatDateTime, timeAgo } from '../../ui/format/time.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { useFieldFormat } from '../fields/use-field-format.ts'
import { InboxLink } from '../message/InboxLink.tsx'
import { actorText, changeText, fileText } from './entry-texts.ts'
import { MergedLine } from './MergedLine.tsx'
import styles from './Timeline.module.css'

const icons = {
  message: IconMessage,
  note: IconNote,
  status: IconProgress,
  fields: IconPencil,
  created: IconPlus,
  deleted: IconArchive,
  restored: IconArrowBackUp,
  merged: IconArrowMerge,
  submission: IconForms,
  task: IconCheckbox,
}

interface TimelineLineProps {
  entry: TimelineEntry
  people: People
}

/** A message, note or change. */
export function TimelineLine({ entry, people }: TimelineLineProps) {
  const isOurs = entry.message?.direction === 'outbound'
  const Icon = isOurs ? IconMessageReply : icons[entry.kind]
  const who = actorText(entry, people)
  const when = timeAgo(entry.at)
  return (
    <li className={styles.entry} data-kind={entry.kind} data-agent={entry.actor?.type === 'agent' || undefined}>
      <span className={styles.icon} aria-hidden>
        <Icon size={14} />
      </span>
      <div className={styles.what}>
        <Content entry={entry} people={people} />
        <span className={styles.muted} title={formatDateTime(entry.at)}>
          {who === null ? when : t.leadPage.said({ who, when })}
        </span>
      </div>
    </li>
  )
}

function Content({ entry, people }: TimelineLineProps) {
  const { kind, changes, text, form, answers } = entry
  const { leadPage } = t
  const words = useFieldFormat()
  switch (kind) {
    case 'message':
      return <MessageEntry entry={entry} />
    case 'note':
      return (
        <p className={styles.text} dir="auto">
          {text}
        </p>
      )
    case 'status':
    case 'fields':
      return changes.map((change) => (
        <span key={change.field} className={styles.change} dir="auto">
          {changeText(change, people, words)}
        </span>
      ))
    case 'merged':
      return <MergedLine entry={entry} people={people} fieldFormat={words} />
    case 'task':
      return <TaskEntry entry={entry} />
    case 'submission':
      return (
        <>
          <span>{leadPage.submitted({ form: form?.name ?? '' })}</span>
          {answers.length > 0 && (
            <dl className={styles.answers}>
              {answers.map(({ label, value }) => (
                <div key={label}>
                  <dt>{label}</dt>
                  <dd dir="auto">{typeof value === 'boolean' ? (value ? leadPage.yes : leadPage.no) : value}</dd>
                </div>
              ))}
            </dl>
          )}
        </>
      )
    default:
      return <span>{leadPage[kind]}</span>
  }
}

function TaskEntry({ entry: { text, task } }: { entry: TimelineEntry }) {
  if (task === null) return null
  const time = formatDateTime(task.doneAt ?? task.dueAt)
  return (
    <>
      <span dir="auto">{t.leadPage.task({ title: text ?? '' })}</span>
      <span className={styles.muted}>
        {task.doneAt === null ? t.leadPage.taskDue({ time }) : t.leadPage.taskDone({ time })}
      </span>
    </>
  )
}

function MessageEntry({ entry: { text, message, conversationId } }: { entry: TimelineEntry }) {
  const workspaceId = useWorkspaceId()
  if (message === null || conversationId === null) return null
  return (
    <InboxLink
      className={styles.message}
      href={`/w/${workspaceId}/inbox/${conversationId}`}
      label={t.leadPage.openConversation}
      isOutbound={message.direction === 'outbound'}
    >
      {message.file !== null && <em>{fileText(message.file)}</em>}
      {text !== null && text !== '' && <span dir="auto">{text}</span>}
      {message.status === 'failed' && <strong className={styles.failed}>{t.leadPage.unanswered}</strong>}
    </InboxLink>
  )
}
