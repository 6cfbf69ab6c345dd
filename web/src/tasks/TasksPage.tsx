import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { Suspense, useMemo, useState } from 'react'
import { type Task, type TaskFilter, useTasks } from '../data/team/tasks.ts'
import { TaskDialog, useToggleTask } from '../shared/tasks/TaskList.tsx'
import { subjectPath, TaskRow } from '../shared/tasks/TaskRow.tsx'
import styles from '../shared/tasks/Tasks.module.css'
import { t } from '../text/index.ts'
import { EmptyState } from '../ui/page/EmptyState.tsx'
import { MoreButton } from '../ui/page/MoreButton.tsx'
import { PageBody, QueryBoundary } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { Segments } from '../ui/page/Segments.tsx'
import { useShortcuts } from '../ui/shortcuts.ts'
import { useCreate } from '../ui/use-create.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

const views = ['mine', 'all', 'overdue', 'done'] as const
type View = (typeof views)[number]

const filters: Record<View, TaskFilter> = {
  mine: { mine: true },
  all: {},
  overdue: { state: 'overdue' },
  done: { state: 'done' },
}

/** What people want to come back to. */
export function TasksPage() {
  const workspaceId = useWorkspaceId()
  const texts = t.tasks
  const [view, setView] = useState<View>('mine')
  const query = useTasks(workspaceId, filters[view])
  const tasks = useMemo(() => query.data?.pages.flatMap((page) => page.tasks) ?? [], [query.data])
  const toggle = useToggleTask(workspaceId)
  const [isCreating, setCreating] = useCreate()
  const [edited, setEdited] = useState<Task | null>(null)
  const activeId = useTaskKeys(tasks, toggle, () => setCreating(true))
  return (
    <>
      <PageHeader
        title={texts.title}
        action={
          <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
            {texts.create}
          </Button>
        }
      />
      <PageBody narrow>
        <Segments
          label={texts.show}
          data={views.map((value) => ({ value, label: texts.views[value] }))}
          value={view}
          onChange={setView}
        />
        <QueryBoundary query={query} rows={6}>
          {() =>
            tasks.length === 0 ? (
              <EmptyState title={texts.empty[view]} help={texts.emptyHelp} />
            ) : (
              <ul className={styles.list} aria-label={texts.title}>
                {tasks.map((task) => (
                  <TaskRow
                    key={task.id}
                    task={task}
                    showsSubject
                    isActive={task.id === activeId}
                    toggle={toggle}
                    edit={setEdited}
                  />
                ))}
              </ul>
            )
          }
        </QueryBoundary>
        <MoreButton query={query}>{texts.more}</MoreButton>
      </PageBody>
      {(isCreating || edited !== null) && (
        <Suspense>
          <TaskDialog
            task={edited}
            close={() => {
              setCreating(false)
              setEdited(null)
            }}
          />
        </Suspense>
      )}
    </>
  )
}

/** J and K move, E completes or reopens, O opens the conversation or lead. Returns the id of the active task. */
function useTaskKeys(tasks: readonly Task[], toggle: (task: Task) => void, create: () => void): string | null {
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  const [at, setAt] = useState(-1)
  const place = Math.min(at, tasks.length - 1)
  const active = tasks[place]
  const move = (to: number) => setAt(Math.max(0, Math.min(to, tasks.length - 1)))
  const open = () => {
    const path = active === undefined ? null : subjectPath(active)
    if (path !== null) void navigate({ to: `/w/${workspaceId}/${path}` as '/' })
  }
  const texts = t.tasks
  // Stable while nothing that they use changes.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the functions use only these values
  const keys = useMemo(
    () => [
      { keys: 'j', label: texts.keys.next, run: () => move(place + 1) },
      { keys: 'k', label: texts.keys.previous, run: () => move(place - 1) },
      { keys: 'e', label: texts.keys.toggle, run: () => active !== undefined && toggle(active) },
      { keys: 'o', label: texts.keys.open, run: open },
      { keys: 'c', label: texts.create, run: create },
    ],
    [tasks, place, workspaceId],
  )
  useShortcuts(texts.title, keys)
  return active?.id ?? null
}
