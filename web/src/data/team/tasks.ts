import { type QueryClient, useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api, type Schemas, unwrap } from '../../api/client.ts'
import { useLive, useOnStreamOpen } from '../../api/live.ts'
import { refetchQueries } from '../../api/refetch.ts'
import { throttle } from '../../api/throttle.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/tasks' as const
const onePath = `${path}/{taskId}` as const

export type Task = Schemas['Task']

export interface TaskFilter {
  state?: 'open' | 'overdue' | 'done'
  mine?: boolean
  leadId?: string
  conversationId?: string
}

export interface NewTask {
  title: string
  dueAt: string
  assignedTo: string | null
  leadId?: string | null
  conversationId?: string | null
}

const tasksKey = (workspaceId: string) => [workspaceId, 'tasks'] as const

const refetchTasks = (queries: QueryClient, workspaceId: string) => refetchQueries(queries, tasksKey(workspaceId))

const liveEvents = ['team.task.changed']
const intervalMs = 500

/** Returns tasks page by page, kept fresh. */
export function useTasks(workspaceId: string, filter: TaskFilter) {
  const queries = useQueryClient()
  const reload = useMemo(() => throttle(intervalMs, () => refetchTasks(queries, workspaceId)), [queries, workspaceId])
  useLive(liveEvents, reload)
  useOnStreamOpen(reload)
  return useInfiniteQuery({
    queryKey: [...tasksKey(workspaceId), filter],
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET(path, {
          params: { path: { workspaceId }, query: { ...filter, ...(pageParam !== null && { cursor: pageParam }) } },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ cursor }) => cursor,
  })
}

/** Returns actions on tasks; each refetches them. */
export function useTaskActions(workspaceId: string) {
  const queries = useQueryClient()
  return useMemo(() => {
    const refetched = async <T>(work: Promise<T>): Promise<T> => {
      const done = await work
      await refetchTasks(queries, workspaceId)
      return done
    }
    const at = (taskId: string) => ({ params: { path: { workspaceId, taskId } } })
    return {
      create: (body: NewTask) => refetched(unwrap(api.POST(path, { params: { path: { workspaceId } }, body }))),
      change: (taskId: string, body: Partial<Omit<NewTask, 'leadId' | 'conversationId'>> & { done?: boolean }) =>
        refetched(unwrap(api.PATCH(onePath, { ...at(taskId), body }))),
      remove: (taskId: string) => refetched(unwrap(api.DELETE(onePath, at(taskId)))),
    }
  }, [queries, workspaceId])
}
