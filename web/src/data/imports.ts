import { type QueryClient, useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, type RequestOf, type ResponseOf, type Schemas } from '../api/client.ts'
import { refetchQueries } from '../api/refetch.ts'
import { useAfterEvents } from '../ui/use-after-events.ts'
import type { LeadFilters } from './leads.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/lead-imports'
const onePath = `${path}/{importId}` as const

export type Import = Schemas['Import']
export type Preview = ResponseOf<`${typeof onePath}/preview`>
/** How the bytes of the file are parsed. */
export type ParseOptions = Required<Pick<StartImportInput, 'encoding' | 'delimiter'>>
export type StartImportInput = RequestOf<`${typeof onePath}/start`, 'post'>
export type Matcher = StartImportInput['match']
const listKey = (workspaceId: string) => [workspaceId, 'imports'] as const
const oneKey = (workspaceId: string, id: string) => [workspaceId, 'import', id] as const

export function useImports(workspaceId: string) {
  return useQuery({
    queryKey: listKey(workspaceId),
    queryFn: async () => (await api.GET(path, { workspaceId })).imports,
  })
}

export async function readImport(workspaceId: string, id: string): Promise<Import> {
  return (await api.GET(onePath, { workspaceId, importId: id })).import
}

export function useImport(workspaceId: string, id: string) {
  return useQuery({ queryKey: oneKey(workspaceId, id), queryFn: () => readImport(workspaceId, id) })
}

export function usePreview(workspaceId: string, id: string, reading: Partial<ParseOptions>) {
  return useQuery({
    queryKey: [workspaceId, 'import-preview', id, reading],
    queryFn: () => api.GET(`${onePath}/preview`, { workspaceId, importId: id, query: reading }),
    placeholderData: (before: Preview | undefined) => before,
  })
}

export type ColumnValues = Schemas['ImportColumnValues']
export type ChosenField = keyof NonNullable<StartImportInput['values']>

/** Returns the values of columns mapped to fields with few values, in column order; undefined while one is loading. */
export function useColumnValues(
  workspaceId: string,
  importId: string,
  columns: readonly { column: string; target: string }[],
  reading: Partial<ParseOptions>,
): (ColumnValues | undefined)[] {
  const answers = useQueries({
    queries: columns.map(({ column, target }) => ({
      queryKey: [workspaceId, 'import-values', importId, column, target, reading],
      queryFn: () =>
        api.GET(`${onePath}/values`, { workspaceId, importId, query: { ...reading, column, field: target } }),
    })),
  })
  // If they cannot be read, the import itself reports why.
  return answers.map(({ data, isError }) => data ?? (isError ? { values: [], isWhole: false } : undefined))
}

export function cacheImport(queries: QueryClient, workspaceId: string, one: Import): Import {
  queries.setQueryData(oneKey(workspaceId, one.id), one)
  void queries.invalidateQueries({ queryKey: listKey(workspaceId) })
  return one
}

/** Returns actions on imports. Each rejects with the error of the server. */
export function useImportActions(workspaceId: string) {
  const queries = useQueryClient()
  const kept = async (response: Promise<{ import: Import }>) =>
    cacheImport(queries, workspaceId, (await response).import)
  return {
    create: (file: { fileName: string; size: number; format: 'csv' | 'ndjson' }) =>
      kept(api.POST(path, { workspaceId, body: file })),
    start: (id: string, input: StartImportInput) =>
      kept(api.POST(`${onePath}/start`, { workspaceId, importId: id, body: input })),
    cancel: (id: string) => kept(api.POST(`${onePath}/cancel`, { workspaceId, importId: id })),
    undo: (id: string) => kept(api.POST(`${onePath}/undo`, { workspaceId, importId: id })),
    keep: (one: Import) => cacheImport(queries, workspaceId, one),
  }
}

const liveEvents = ['team.lead_import.changed'] as const
const pollMs = 300

/** Refetches imports as they progress, at a limited rate. */
export function useLiveImports(workspaceId: string): void {
  const queries = useQueryClient()
  useAfterEvents(liveEvents, pollMs, (events) => {
    const ids = new Set(events.map(({ payload }) => String(payload.importId)))
    for (const id of ids) void refetchQueries(queries, oneKey(workspaceId, id))
    void refetchQueries(queries, listKey(workspaceId))
  })
}

const here = (workspaceId: string) => `/api/team/v1/workspaces/${workspaceId}`

export const uploadUrl = (workspaceId: string, id: string, offset: number): string =>
  `${here(workspaceId)}/lead-imports/${id}/content?offset=${offset}`

export const rejectedRowsUrl = (workspaceId: string, id: string): string =>
  `${here(workspaceId)}/lead-imports/${id}/refused`

/** Address of an export, which the browser streams to a file. */
export function exportUrl(workspaceId: string, format: 'csv' | 'ndjson', filters: LeadFilters): string {
  const query = new URLSearchParams({ format })
  for (const [name, value] of Object.entries(filters)) if (value !== undefined) query.set(name, String(value))
  return `${here(workspaceId)}/leads/export?${query}`
}
