import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../api/client.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/labels'
const onePath = `${path}/{labelId}` as const
const at = (workspaceId: string) => ({ params: { path: { workspaceId } } })
// Changes are rare and announced by an event.
const staleMs = 5 * 60_000

export type Label = Awaited<ReturnType<typeof listLabels>>[number]
type LabelInput = Pick<Label, 'name' | 'color'>

export const labelsKey = (workspaceId: string) => [workspaceId, 'labels'] as const

const listLabels = async (workspaceId: string) => (await unwrap(api.GET(path, at(workspaceId)))).labels

const labelsQuery = (workspaceId: string) =>
  queryOptions({ queryKey: labelsKey(workspaceId), queryFn: () => listLabels(workspaceId) })

export function useLabels(workspaceId: string) {
  return useQuery(labelsQuery(workspaceId))
}

/** Returns the labels of conversations by id. */
export function useLabelsById(workspaceId: string): ReadonlyMap<string, Label> {
  return useQuery({ ...labelsQuery(workspaceId), staleTime: staleMs, select: byId }).data ?? noLabels
}

const noLabels: ReadonlyMap<string, Label> = new Map()
const byId = (labels: Label[]): ReadonlyMap<string, Label> => new Map(labels.map((label) => [label.id, label]))

export const createLabel = (workspaceId: string, label: LabelInput) =>
  unwrap(api.POST(path, { ...at(workspaceId), body: label }))

export const changeLabel = (workspaceId: string, labelId: string, label: LabelInput) =>
  unwrap(api.PATCH(onePath, { params: { path: { workspaceId, labelId } }, body: label }))

export const deleteLabel = (workspaceId: string, labelId: string) =>
  unwrap(api.DELETE(onePath, { params: { path: { workspaceId, labelId } } }))
