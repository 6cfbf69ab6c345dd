import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api, type RequestOf, type Schemas } from '../../api/client.ts'
import { useLiveRefetch } from '../../api/live-refetch.ts'
import { pagedBy } from '../../api/paged-by.ts'
import { refetchedAfter } from '../../api/refetch.ts'
import type { paths } from '../../api/schema.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/tasks' as const
const onePath = `${path}/{taskId}` as const

export type Task = Schemas['Task']

export type TaskFilter = Omit<NonNullable<paths[typeof path]['get']['parameters']['query']>, 'limit' | 'cursor'>

export type NewTask = Schemas['NewTask']

const tasksKey = (workspaceId: string) => [workspaceId, 'tasks'] as const

const liveEvents = ['team.task.changed']
const intervalMs = 500

/** Returns tasks page by page, kept fresh. */
export function useTasks(workspaceId: string, filter: TaskFilter) {
  useLiveRefetch(tasksKey(workspaceId), liveEvents, intervalMs)
  return useInfiniteQuery({
    queryKey: [...tasksKey(workspaceId), filter],
    queryFn: ({ pageParam: cursor }) => api.GET(path, { workspaceId, query: { ...filter, cursor } }),
    ...pagedBy('cursor'),
  })
}

/** Returns actions on tasks; each refetches them. */
export function useTaskActions(workspaceId: string) {
  const queries = useQueryClient()
  return useMemo(() => {
    const refetched = refetchedAfter(queries, tasksKey(workspaceId))
    return {
      create: (body: NewTask) => refetched(api.POST(path, { workspaceId, body })),
      change: (taskId: string, body: RequestOf<typeof onePath, 'patch'>) =>
        refetched(api.PATCH(onePath, { workspaceId, taskId, body })),
      remove: (taskId: string) => refetched(api.DELETE(onePath, { workspaceId, taskId })),
    }
  }, [queries, workspaceId])
}
