import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../api/client.ts'
import { useIsLiveReady } from '../api/live.ts'
import type { paths } from '../api/schema.ts'
import { workspaceKey } from './workspace.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/lead-fields'
const onePath = `${path}/{fieldId}` as const
const at = (workspaceId: string) => ({ params: { path: { workspaceId } } })
// Changes are announced by an event.
const staleMs = 5 * 60_000

export type LeadField = Schemas['LeadField']
export type LeadFieldType = LeadField['type']
export type LeadFieldPlace = LeadField['shownIn'][number]
export type NewLeadField = paths[typeof path]['post']['requestBody']['content']['application/json']
export type LeadFieldPatch = paths[typeof onePath]['patch']['requestBody']['content']['application/json']

/** Under the key of the workspace, so that its events refetch the fields too. */
export const leadFieldsKey = (workspaceId: string) => [...workspaceKey(workspaceId), 'lead-fields'] as const

const fieldsQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: leadFieldsKey(workspaceId),
    queryFn: async () => (await unwrap(api.GET(path, at(workspaceId)))).fields,
  })

export function useLeadFieldList(workspaceId: string) {
  return useQuery(fieldsQuery(workspaceId))
}

/** Returns the custom fields of the workspace in order, including archived ones; empty until loaded. */
export const useLeadFields = (workspaceId: string): readonly LeadField[] => useLoadedFields(workspaceId) ?? noFields

/** Returns like `useLeadFields`, but undefined while loading; empty if loading failed. */
export function useLoadedFields(workspaceId: string): readonly LeadField[] | undefined {
  const enabled = useIsLiveReady()
  const { data, isError } = useQuery({ ...fieldsQuery(workspaceId), staleTime: staleMs, enabled })
  return data ?? (isError ? noFields : undefined)
}

const noFields: readonly LeadField[] = []

export const createLeadField = async (workspaceId: string, field: NewLeadField) =>
  (await unwrap(api.POST(path, { ...at(workspaceId), body: field }))).field

export const changeLeadField = async (workspaceId: string, fieldId: string, patch: LeadFieldPatch) =>
  (await unwrap(api.PATCH(onePath, { params: { path: { workspaceId, fieldId } }, body: patch }))).field

export const orderLeadFields = async (workspaceId: string, ids: string[]) =>
  (await unwrap(api.PUT(`${path}/order`, { ...at(workspaceId), body: { ids } }))).fields
