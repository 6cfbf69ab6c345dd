import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, type Schemas } from '../api/client.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/labels'
const onePath = `${path}/{labelId}` as const
// Changes are rare and announced by an event.
const staleMs = 5 * 60_000

export type Label = Schemas['Label']
type LabelInput = Pick<Label, 'name' | 'color'>

export const labelsKey = (workspaceId: string) => [workspaceId, 'labels'] as const

const labelsQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: labelsKey(workspaceId),
    queryFn: async () => (await api.GET(path, { workspaceId })).labels,
  })

export const useLabels = (workspaceId: string) => useQuery(labelsQuery(workspaceId))

/** Returns the labels of conversations by id. */
export function useLabelsById(workspaceId: string): ReadonlyMap<string, Label> {
  return useQuery({ ...labelsQuery(workspaceId), staleTime: staleMs, select: byId }).data ?? noLabels
}

const noLabels: ReadonlyMap<string, Label> = new Map()
const byId = (labels: Label[]): ReadonlyMap<string, Label> => new Map(labels.map((label) => [label.id, label]))

export const createLabel = (workspaceId: string, label: LabelInput) => api.POST(path, { workspaceId, body: label })

export const changeLabel = (workspaceId: string, labelId: string, label: LabelInput) =>
  api.PATCH(onePath, { workspaceId, labelId, body: label })

export const deleteLabel = (workspaceId: string, labelId: string) => api.DELETE(onePath, { workspaceId, labelId })
