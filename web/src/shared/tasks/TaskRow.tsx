import { Checkbox } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Task } from '../../data/team/tasks.ts'
import { t } from '../../text/index.ts'
import { formatDateTime } from '../../ui/format/time.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './Tasks.module.css'

interface TaskRowProps {
  task: Task
  /** Shows the lead or the customer. */
  showsSubject?: boolean
  isActive?: boolean
  toggle(task: Task): void
  edit(task: Task): void
}

/** A task: its box completes or reopens it, its title opens it. */
export function TaskRow({ task, showsSubject, isActive, toggle, edit }: TaskRowProps) {
  const { title, dueAt, doneAt, assignedTo } = task
  const isDone = doneAt !== null
  const isOverdue = !isDone && new Date(dueAt) <= new Date()
  return (
    <li className={styles.row} data-active={isActive || undefined} data-done={isDone || undefined}>
      <Checkbox
        checked={isDone}
        onChange={() => toggle(task)}
        aria-label={isDone ? t.tasks.reopenOf({ title }) : t.tasks.completeOf({ title })}
      />
      <div className={styles.what}>
        <button type="button" className={styles.title} dir="auto" onClick={() => edit(task)}>
          {title}
        </button>
        <span className={styles.facts}>
          <time dateTime={dueAt} data-overdue={isOverdue || undefined}>
            {isOverdue ? t.tasks.overdueSince({ time: formatDateTime(dueAt) }) : formatDateTime(dueAt)}
          </time>
          <span>{assignedTo === null ? t.tasks.anyone : (assignedTo.name ?? t.common.unknown)}</span>
          {showsSubject && <Subject task={task} />}
        </span>
      </div>
    </li>
  )
}

function Subject({ task: { lead, conversation } }: { task: Task }) {
  const workspaceId = useWorkspaceId()
  if (conversation !== null) {
    return (
      <Link to={`/w/${workspaceId}/inbox/${conversation.id}` as '/'} dir="auto">
        {conversation.name ?? conversation.phone ?? t.inbox.noName}
      </Link>
    )
  }
  if (lead === null) return null
  return lead.name === null ? (
    <span>{t.common.unknown}</span>
  ) : (
    <Link to={`/w/${workspaceId}/leads/${lead.id}` as '/'} dir="auto">
      {lead.name}
    </Link>
  )
}
