import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { Suspense, useState } from 'react'
import { type Task, type TaskFilter, useTaskActions, useTasks } from '../../data/team/tasks.ts'
import { t, withTexts } from '../../text/index.ts'
import { lazyComponent } from '../../ui/overlay/lazy.ts'
import { showError, showUndoToast } from '../../ui/overlay/toasts.tsx'
import { MoreButton } from '../../ui/page/MoreButton.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { TaskRow } from './TaskRow.tsx'
import styles from './Tasks.module.css'

export const TaskDialog = lazyComponent(() => withTexts(() => import('./TaskDialog.tsx')))

/** Returns a function that completes or reopens a task, with an undo. */
export function useToggleTask(workspaceId: string): (task: Task) => void {
  const { change } = useTaskActions(workspaceId)
  return ({ id, title, doneAt }) => {
    const isDone = doneAt === null
    const set = (done: boolean) => change(id, { done })
    void set(isDone).then(() => isDone && showUndoToast(t.tasks.completed({ title }), () => void set(false)), showError)
  }
}

/** Open tasks about a lead or a conversation, with a button for a new one. */
export function TaskList({ about }: { about: Pick<TaskFilter, 'leadId' | 'conversationId'> }) {
  const workspaceId = useWorkspaceId()
  const query = useTasks(workspaceId, about)
  const toggle = useToggleTask(workspaceId)
  // `new`, or the task that is changed.
  const [opened, setOpened] = useState<Task | 'new' | null>(null)
  const tasks = query.data?.pages.flatMap((page) => page.tasks) ?? []
  return (
    <>
      <ul className={styles.list} aria-label={t.tasks.title}>
        {tasks.map((task) => (
          <TaskRow key={task.id} task={task} toggle={toggle} edit={setOpened} />
        ))}
      </ul>
      <MoreButton query={query} variant="subtle" size="compact-sm">
        {t.tasks.more}
      </MoreButton>
      <Button
        variant="subtle"
        color="gray"
        size="compact-sm"
        mt={4}
        leftSection={<IconPlus size={14} />}
        onClick={() => setOpened('new')}
      >
        {t.tasks.create}
      </Button>
      {opened !== null && (
        <Suspense>
          <TaskDialog task={opened === 'new' ? null : opened} about={about} close={() => setOpened(null)} />
        </Suspense>
      )}
    </>
  )
}
