import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, type RequestOf, type Schemas } from '../api/client.ts'
import { useIsLiveReady } from '../api/live.ts'
import { workspaceKey } from './workspace.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/lead-fields'
const onePath = `${path}/{fieldId}` as const
// Changes are announced by an event.
const staleMs = 5 * 60_000

export type LeadField = Schemas['LeadField']
export type LeadFieldPlace = LeadField['shownIn'][number]
export type NewLeadField = Schemas['NewLeadField']
export type LeadFieldPatch = RequestOf<typeof onePath, 'patch'>

/** Under the key of the workspace, so that its events refetch the fields too. */
export const leadFieldsKey = (workspaceId: string) => [...workspaceKey(workspaceId), 'lead-fields'] as const

const fieldsQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: leadFieldsKey(workspaceId),
    queryFn: async () => (await api.GET(path, { workspaceId })).fields,
  })

export const useLeadFieldList = (workspaceId: string) => useQuery(fieldsQuery(workspaceId))

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
  (await api.POST(path, { workspaceId, body: field })).field

export const changeLeadField = async (workspaceId: string, fieldId: string, patch: LeadFieldPatch) =>
  (await api.PATCH(onePath, { workspaceId, fieldId, body: patch })).field

export const orderLeadFields = async (workspaceId: string, ids: string[]) =>
  (await api.PUT(`${path}/order`, { workspaceId, body: { ids } })).fields
