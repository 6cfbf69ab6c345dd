import { keepPreviousData, queryOptions, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, type ResponseOf, type Schemas } from '../api/client.ts'
import { pagedBy } from '../api/paged-by.ts'
import { refetchQueries } from '../api/refetch.ts'
import { useAfterEvents } from '../ui/use-after-events.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/forms'
const onePath = `${path}/{formId}` as const

export type Form = Schemas['Form']
/** Includes the number of submissions. */
export type ListedForm = Schemas['ListedForm']
export type FormField = Form['fields'][number]
export type FieldType = FormField['type']
/** Settings of a form that the team edits. */
export type FormSettings = Omit<Form, 'id' | 'url' | 'embedHtml' | 'createdAt' | 'updatedAt'>

const queryKeys = {
  all: (workspaceId: string) => [workspaceId, 'forms'] as const,
  list: (workspaceId: string) => [workspaceId, 'forms', 'list'] as const,
}

const formsQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: queryKeys.list(workspaceId),
    queryFn: async () => (await api.GET(path, { workspaceId })).forms,
  })

export const useForms = (workspaceId: string) => useQuery(formsQuery(workspaceId))

/** Returns the number of forms, for the getting-started list. */
export function useFormCount(workspaceId: string, enabled: boolean) {
  return useQuery({ ...formsQuery(workspaceId), enabled, select: ({ length }) => length })
}

const pageSize = 50
const filePageSize = 100
const maxFileRows = 10_000

export type Submission = ResponseOf<`${typeof onePath}/submissions`>['submissions'][number]

const readSubmissions = (workspaceId: string, formId: string, cursor: string | null, limit: number) =>
  api.GET(`${onePath}/submissions`, { workspaceId, formId, query: { limit, cursor } })

/** Loads all submissions of a form for a file, newest first, up to a limit. */
export async function readAllSubmissions(workspaceId: string, formId: string): Promise<Submission[]> {
  const all: Submission[] = []
  for (let cursor: string | null = null; ; ) {
    const page = await readSubmissions(workspaceId, formId, cursor, filePageSize)
    all.push(...page.submissions)
    cursor = page.nextCursor
    if (cursor === null || all.length >= maxFileRows) return all
  }
}

export function useSubmissions(workspaceId: string, formId: string) {
  return useInfiniteQuery({
    queryKey: [...queryKeys.all(workspaceId), formId, 'submissions'],
    queryFn: ({ pageParam }) => readSubmissions(workspaceId, formId, pageParam, pageSize),
    ...pagedBy('nextCursor'),
  })
}

const unsent = { submissionCount: 0, lastSubmissionAt: null }

/** Caches a form from a response, then refetches the rest. */
export function useUpdateFormCache(workspaceId: string): (form: Form) => void {
  const queries = useQueryClient()
  return (form) => {
    queries.setQueryData<ListedForm[]>(queryKeys.list(workspaceId), (before) => {
      if (before === undefined) return before
      const isKnown = before.some(({ id }) => id === form.id)
      return isKnown
        ? before.map((one) => (one.id === form.id ? { ...one, ...form } : one))
        : [{ ...unsent, ...form }, ...before]
    })
    void queries.invalidateQueries({ queryKey: queryKeys.all(workspaceId) })
  }
}

/** Removes a deleted form from the list. */
export function useRemoveFormFromCache(workspaceId: string): (formId: string) => void {
  const queries = useQueryClient()
  return (formId) => {
    queries.setQueryData<ListedForm[]>(queryKeys.list(workspaceId), (before) =>
      before?.filter(({ id }) => id !== formId),
    )
    void queries.invalidateQueries({ queryKey: queryKeys.list(workspaceId) })
  }
}

const newLeads = ['lead.created'] as const
const pollMs = 500

/** Keeps counts and submissions up to date; each submission has a lead. */
export function useLiveForms(workspaceId: string): void {
  const queries = useQueryClient()
  useAfterEvents(newLeads, pollMs, () => void refetchQueries(queries, queryKeys.all(workspaceId)))
}

/** Creates a form. Without a slug, the server chooses one. */
export async function createForm(workspaceId: string, { slug, ...form }: FormSettings): Promise<Form> {
  const settings = slug.trim() === '' ? form : { slug, ...form }
  return (await api.POST(path, { workspaceId, body: settings })).form
}

export const changeForm = async (workspaceId: string, formId: string, body: Partial<FormSettings>): Promise<Form> =>
  (await api.PATCH(onePath, { workspaceId, formId, body })).form

export const removeForm = (workspaceId: string, formId: string) => api.DELETE(onePath, { workspaceId, formId })

/** Returns a preview of the public pages for unsaved settings. The previous one stays until it is rendered. */
export function useFormPreview(workspaceId: string, settings: FormSettings) {
  return useQuery({
    queryKey: [workspaceId, 'form-preview', settings],
    queryFn: () => api.POST(`${path}/preview`, { workspaceId, body: settings }),
    placeholderData: keepPreviousData,
    gcTime: 10_000,
    retry: false,
  })
}
