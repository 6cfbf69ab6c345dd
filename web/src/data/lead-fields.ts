import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../api/client.ts'
import { useIsLiveReady } from '../api/live.ts'
import type { paths } from '../api/schema.ts'
import { workspaceKey } from './workspace.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/lead-fields'
const onePath = `${path}/{fieldId}` as const
const at = (workspaceId: string) => ({ params: { path: { workspaceId } } })
// What changes them says so.
const staleMs = 5 * 60_000

/** A custom field that the workspace defines for its leads. */
export type LeadField = Schemas['LeadField']
export type LeadFieldType = LeadField['type']
export type LeadFieldPlace = LeadField['shownIn'][number]
export type NewLeadField = paths[typeof path]['post']['requestBody']['content']['application/json']
export type LeadFieldPatch = paths[typeof onePath]['patch']['requestBody']['content']['application/json']

/** Below the workspace's own key: its news are theirs. */
export const leadFieldsKey = (workspaceId: string) => [...workspaceKey(workspaceId), 'lead-fields'] as const

const fieldsQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: leadFieldsKey(workspaceId),
    queryFn: async () => (await unwrap(api.GET(path, at(workspaceId)))).fields,
  })

export function useLeadFieldList(workspaceId: string) {
  return useQuery(fieldsQuery(workspaceId))
}

/** The fields that the workspace defines, in its order, archived ones included; none until they are there. */
export const useLeadFields = (workspaceId: string): readonly LeadField[] => useKnownFields(workspaceId) ?? noFields

/** The same; undefined while they are on their way, and none when they cannot be had. */
export function useKnownFields(workspaceId: string): readonly LeadField[] | undefined {
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
