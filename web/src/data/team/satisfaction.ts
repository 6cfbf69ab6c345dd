import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api, type Schemas } from '../../api/client.ts'
import { pagedBy } from '../../api/paged-by.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/ratings'
const settingsPath = '/api/team/v1/workspaces/{workspaceId}/satisfaction-settings'

export type SatisfactionSettings = Schemas['SatisfactionSettings']
export type ListedRating = Schemas['ListedRating']

/** Empty: all. */
export interface RatingFilter {
  score: string
  /** `agent:<id>` or `user:<id>`. */
  who: string
}

export const satisfactionKey = (workspaceId: string) => [workspaceId, 'satisfaction'] as const

export function useSatisfactionSettings(workspaceId: string) {
  return useQuery({
    queryKey: satisfactionKey(workspaceId),
    queryFn: () => api.GET(settingsPath, { workspaceId }),
  })
}

export const changeSatisfaction = (workspaceId: string, body: Partial<SatisfactionSettings>) =>
  api.PATCH(settingsPath, { workspaceId, body })

/** Returns ratings page by page, with a summary. */
export function useRatings(workspaceId: string, { score, who }: RatingFilter) {
  const [type, id = ''] = who.split(':')
  const filter = {
    ...(score !== '' && { score: Number(score) }),
    ...(type === 'agent' && { keyId: id }),
    ...(type === 'user' && { userId: id }),
  }
  return useInfiniteQuery({
    queryKey: [...satisfactionKey(workspaceId), 'ratings', filter],
    queryFn: ({ pageParam: cursor }) => api.GET(path, { workspaceId, query: { ...filter, cursor } }),
    ...pagedBy('nextCursor'),
    staleTime: 0,
  })
}
