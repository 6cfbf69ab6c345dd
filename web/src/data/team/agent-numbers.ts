import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../../api/client.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/agent-numbers'
const freshMs = 60_000

export type AgentNumbers = Awaited<ReturnType<typeof readNumbers>>
export type Agent = AgentNumbers['agents'][number]
export type Outcomes = Agent['outcomes']
export type CountedNumber = Schemas['CountedNumber']

/** Days of a period; `to` is today unless it is given. */
export interface Days {
  days: number
  to?: string
}

const readNumbers = (workspaceId: string, period: Days) =>
  unwrap(api.GET(path, { params: { path: { workspaceId }, query: { ...period } } }))

const numbersKey = (workspaceId: string) => [workspaceId, 'agent numbers'] as const

/** Returns the numbers of all agents in a period; null waits. An expensive query, refetched at most once a minute. */
export function useAgentNumbers(workspaceId: string, period: Days | null) {
  return useQuery({
    queryKey: [...numbersKey(workspaceId), period],
    queryFn: () => readNumbers(workspaceId, period ?? { days: 1 }),
    enabled: period !== null,
    staleTime: freshMs,
  })
}

/** Returns the conversations that a number counts, newest first, page by page. */
export function useCounted(workspaceId: string, keyId: string, number: CountedNumber, period: Days) {
  return useInfiniteQuery({
    queryKey: [...numbersKey(workspaceId), keyId, number, period],
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET(`${path}/{keyId}/conversations`, {
          params: {
            path: { workspaceId, keyId },
            query: { ...period, number, ...(pageParam !== null && { cursor: pageParam }) },
          },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    staleTime: freshMs,
  })
}

/** Returns why the agent handed over, and why its drafts were rejected. */
export function useAgentReasons(workspaceId: string, keyId: string, period: Days) {
  return useQuery({
    queryKey: [...numbersKey(workspaceId), keyId, 'reasons', period],
    queryFn: () =>
      unwrap(api.GET(`${path}/{keyId}/reasons`, { params: { path: { workspaceId, keyId }, query: { ...period } } })),
    staleTime: freshMs,
  })
}
