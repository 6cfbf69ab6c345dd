import { useInfiniteQuery } from '@tanstack/react-query'
import { api, unwrap } from '../../api/client.ts'
import type { paths } from '../../api/schema.ts'
import { auditKey } from '../workspace.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/audit'
const pageSize = 50
const filePageSize = 100
const maxFileLines = 10_000

export type AuditEntry = Awaited<ReturnType<typeof readAudit>>['entries'][number]
/** An omitted field matches anything. */
export type AuditFilter = Omit<NonNullable<paths[typeof path]['get']['parameters']['query']>, 'limit' | 'before'>

function readAudit(workspaceId: string, filter: AuditFilter, before: string | null, limit: number) {
  const query = { ...filter, limit, ...(before !== null && { before }) }
  return unwrap(api.GET(path, { params: { path: { workspaceId }, query } }))
}

/** Returns entries, newest first. Refetched when the page is opened, since no event announces entries. */
export function useAudit(workspaceId: string, filter: AuditFilter) {
  return useInfiniteQuery({
    queryKey: [...auditKey(workspaceId), filter],
    queryFn: ({ pageParam }) => readAudit(workspaceId, filter, pageParam, pageSize),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextBefore }) => nextBefore,
    staleTime: 0,
    gcTime: 0,
  })
}

/** Loads all matching entries for a file, newest first, up to a limit. */
export async function readAllAudit(workspaceId: string, filter: AuditFilter): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = []
  for (let before: string | null = null; ; ) {
    const page = await readAudit(workspaceId, filter, before, filePageSize)
    entries.push(...page.entries)
    before = page.nextBefore
    if (before === null || entries.length >= maxFileLines) return entries
  }
}
