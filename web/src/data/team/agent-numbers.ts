import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api, type ResponseOf, type Schemas } from '../../api/client.ts'
import { pagedBy } from '../../api/paged-by.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/agent-numbers'
const freshMs = 60_000

export type AgentNumbers = ResponseOf<typeof path>
export type Agent = AgentNumbers['agents'][number]
export type Outcomes = Agent['outcomes']
export type CountedNumber = Schemas['CountedNumber']

/** Days of a period; `to` is today unless it is given. */
export interface Days {
  days: number
  to?: string
}

const numbersKey = (workspaceId: string) => [workspaceId, 'agent numbers'] as const

/** Returns the numbers of all agents in a period; null waits. An expensive query, refetched at most once a minute. */
export function useAgentNumbers(workspaceId: string, period: Days | null) {
  return useQuery({
    queryKey: [...numbersKey(workspaceId), period],
    queryFn: () => api.GET(path, { workspaceId, query: { ...(period ?? { days: 1 }) } }),
    enabled: period !== null,
    staleTime: freshMs,
  })
}

/** Returns the conversations that a number counts, newest first, page by page. */
export function useCounted(workspaceId: string, keyId: string, number: CountedNumber, period: Days) {
  return useInfiniteQuery({
    queryKey: [...numbersKey(workspaceId), keyId, number, period],
    queryFn: ({ pageParam: cursor }) =>
      api.GET(`${path}/{keyId}/conversations`, { workspaceId, keyId, query: { ...period, number, cursor } }),
    ...pagedBy('nextCursor'),
    staleTime: freshMs,
  })
}

/** Returns why the agent handed over, and why its drafts were rejected. */
export function useAgentReasons(workspaceId: string, keyId: string, period: Days) {
  return useQuery({
    queryKey: [...numbersKey(workspaceId), keyId, 'reasons', period],
    queryFn: () => api.GET(`${path}/{keyId}/reasons`, { workspaceId, keyId, query: { ...period } }),
    staleTime: freshMs,
  })
}
