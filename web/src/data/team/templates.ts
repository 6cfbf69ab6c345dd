import { type QueryClient, useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { api, type Schemas } from '../../api/client.ts'
import { useLive } from '../../api/live.ts'
import { refetchQueries } from '../../api/refetch.ts'
import { uploadWithProgress } from '../../api/upload.ts'
import { type Connection, type Template, templatesQuery } from '../connections.ts'
import { connectionKey } from '../workspace-updates.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/template-drafts'
const onePath = `${path}/{draftId}` as const
const templatePath = '/api/team/v1/workspaces/{workspaceId}/connections/{connectionId}/templates/{templateId}'

export type TemplateDraft = Schemas['TemplateDraft']
export type TemplateContent = Schemas['TemplateContent']
export type TemplateButton = Schemas['TemplateContentButton']
export type TemplateLimits = Schemas['TemplateLimits']

const draftsKey = (workspaceId: string) => [workspaceId, 'template-drafts'] as const

/** A template with the connection that has it. */
export type ListedTemplate = Template & { connectionId: string }

/** Returns the templates of several connections, and whether all are loaded; the error of one that could not be read. */
export function useAllTemplates(workspaceId: string, connections: readonly Connection[]) {
  return useQueries({
    queries: connections.map(({ id }) => templatesQuery(workspaceId, id)),
    combine: (results) => ({
      templates: results.flatMap(({ data = [] }, n) =>
        data.map((one): ListedTemplate => ({ ...one, connectionId: connections[n]?.id ?? '' })),
      ),
      isPending: results.some((one) => one.isPending),
      error: results.find((one) => one.error !== null)?.error ?? null,
      refetch: () => void Promise.all(results.map((one) => one.refetch())),
    }),
  })
}

/** Returns drafts and limits; admins only. */
export function useTemplateDrafts(workspaceId: string, enabled: boolean) {
  return useQuery({ queryKey: draftsKey(workspaceId), queryFn: () => api.GET(path, { workspaceId }), enabled })
}

/** Returns a draft as it was opened: the editor keeps its own state. */
export function useTemplateDraft(workspaceId: string, id: string) {
  return useQuery({
    queryKey: [...draftsKey(workspaceId), id],
    queryFn: async () => (await api.GET(onePath, { workspaceId, draftId: id })).draft,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  })
}

export type DraftStart = Schemas['NewTemplateDraft']

export async function beginDraft(queries: QueryClient, workspaceId: string, body: DraftStart): Promise<TemplateDraft> {
  const { draft } = await api.POST(path, { workspaceId, body })
  void queries.invalidateQueries({ queryKey: draftsKey(workspaceId), exact: true })
  return draft
}

export const saveDraft = async (workspaceId: string, id: string, body: { content: TemplateContent; version: number }) =>
  (await api.PUT(onePath, { workspaceId, draftId: id, body })).draft

export async function deleteDraft(queries: QueryClient, workspaceId: string, id: string): Promise<void> {
  await api.DELETE(onePath, { workspaceId, draftId: id })
  await queries.invalidateQueries({ queryKey: draftsKey(workspaceId), exact: true })
}

export async function submitDraft(queries: QueryClient, workspaceId: string, draft: TemplateDraft): Promise<void> {
  await api.POST(`${onePath}/submit`, { workspaceId, draftId: draft.id })
  void queries.invalidateQueries({ queryKey: draftsKey(workspaceId), exact: true })
  await queries.invalidateQueries({ queryKey: connectionKey(workspaceId, draft.connectionId) })
}

/** Uploads the sample file of a header; the platform keeps it. */
export async function uploadSample(
  workspaceId: string,
  id: string,
  file: File,
  onProgress: (fraction: number) => void,
): Promise<TemplateDraft> {
  const query = new URLSearchParams({ type: file.type, name: file.name.slice(0, 240) })
  const url = `${onePath.replace('{workspaceId}', workspaceId).replace('{draftId}', id)}/sample?${query}`
  const { signal } = new AbortController()
  const { draft } = (await uploadWithProgress(url, file, { onProgress, signal })) as { draft: TemplateDraft }
  return draft
}

export async function deleteTemplate(queries: QueryClient, workspaceId: string, one: ListedTemplate): Promise<void> {
  const { connectionId, id: templateId } = one
  await api.DELETE(templatePath, { workspaceId, connectionId, templateId })
  await queries.invalidateQueries({ queryKey: connectionKey(workspaceId, connectionId) })
}

const changes = ['team.connection.changed'] as const

/** Keeps the list of drafts fresh: a submission by someone else changes the connection too. */
export function useLiveDrafts(workspaceId: string): void {
  const queries = useQueryClient()
  useLive(
    changes,
    useCallback(() => void refetchQueries(queries, draftsKey(workspaceId)), [queries, workspaceId]),
  )
}
