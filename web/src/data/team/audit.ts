import { useInfiniteQuery } from '@tanstack/react-query'
import { api, type Schemas } from '../../api/client.ts'
import { pagedBy } from '../../api/paged-by.ts'
import type { paths } from '../../api/schema.ts'
import { auditKey } from '../workspace.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/audit'
const pageSize = 50
const filePageSize = 100
const maxFileLines = 10_000

export type AuditEntry = Schemas['AuditEntries']['entries'][number]
/** An omitted field matches anything. */
export type AuditFilter = Omit<NonNullable<paths[typeof path]['get']['parameters']['query']>, 'limit' | 'before'>

/** Returns entries, newest first. Refetched when the page is opened, since no event announces entries. */
export function useAudit(workspaceId: string, filter: AuditFilter) {
  return useInfiniteQuery({
    queryKey: [...auditKey(workspaceId), filter],
    queryFn: ({ pageParam: before }) => api.GET(path, { workspaceId, query: { ...filter, limit: pageSize, before } }),
    ...pagedBy('nextBefore'),
    staleTime: 0,
    gcTime: 0,
  })
}

/** Loads all matching entries for a file, newest first, up to a limit. */
export async function readAllAudit(workspaceId: string, filter: AuditFilter): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = []
  let before: string | null = null
  do {
    const query = { ...filter, limit: filePageSize, before }
    const page: Schemas['AuditEntries'] = await api.GET(path, { workspaceId, query })
    entries.push(...page.entries)
    before = page.nextBefore
  } while (before !== null && entries.length < maxFileLines)
  return entries
}
