import { useInfiniteQuery } from '@tanstack/react-query'
import { api, body } from '../api/client.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/audit'
const pageSize = 50

export type AuditEntry = Awaited<ReturnType<typeof readAudit>>[number]

async function readAudit(workspaceId: string, before: string | null) {
  const query = { limit: pageSize, ...(before !== null && { before }) }
  return (await body(api.GET(path, { params: { path: { workspaceId }, query } }))).entries
}

/** Newest first. Read again each time that the page is opened: no event announces its lines. */
export function useAudit(workspaceId: string) {
  return useInfiniteQuery({
    queryKey: [workspaceId, 'audit'],
    queryFn: ({ pageParam }) => readAudit(workspaceId, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => (last.length < pageSize ? null : (last.at(-1)?.id ?? null)),
    staleTime: 0,
    gcTime: 0,
  })
}
