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

/** Returns the path of the conversation or lead that a task is about, within its workspace. */
export function subjectPath({ lead, conversation }: Task): string | null {
  if (conversation !== null) return `inbox/${conversation.id}`
  return lead === null ? null : `leads/${lead.id}`
}

function Subject({ task }: { task: Task }) {
  const workspaceId = useWorkspaceId()
  const { lead, conversation } = task
  const path = subjectPath(task)
  if (path === null) return null
  const name = conversation === null ? lead?.name : (conversation.name ?? conversation.phone ?? t.inbox.noName)
  if (name == null) return <span>{t.common.unknown}</span>
  return (
    <Link to={`/w/${workspaceId}/${path}` as '/'} dir="auto">
      {name}
    </Link>
  )
}
