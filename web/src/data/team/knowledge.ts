import { keepPreviousData, type QueryClient, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api, type Schemas } from '../../api/client.ts'
import { pagedBy } from '../../api/paged-by.ts'
import { refetchedAfter } from '../../api/refetch.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/knowledge' as const
const articlesPath = `${path}/articles` as const
const onePath = `${path}/articles/{articleId}` as const
const draftsPath = `${path}/drafts` as const
const draftPath = `${path}/drafts/{draftId}` as const
const timelinePath = '/api/team/v1/workspaces/{workspaceId}/inbox/conversations/{id}/timeline'

export type ArticleHead = Schemas['KnowledgeArticleHead']
export type Article = Schemas['KnowledgeArticle']
export type FoundArticle = Schemas['FoundKnowledge']
export type ArticleVersionHead = Schemas['KnowledgeVersionHead']
export type ArticleDraft = Schemas['KnowledgeDraft']
export type ImportResult = Schemas['KnowledgeImportResult']

export const articleKinds = ['article', 'answer'] as const
export const articleStatuses = ['draft', 'published', 'archived'] as const

/** Fields that people edit; times as ISO texts. */
export type ArticleInput = Pick<
  Article,
  'kind' | 'language' | 'title' | 'body' | 'tags' | 'keyIds' | 'validFrom' | 'validUntil'
>

export type ArticleFilters = Partial<Pick<ArticleHead, 'status' | 'kind' | 'language'>>

const knowledgeKey = (workspaceId: string) => [workspaceId, 'knowledge'] as const

/** Returns articles by pages, the last changed first; with words, the best of all that match on one page. */
export function useArticles(workspaceId: string, words: string, filters: ArticleFilters) {
  return useInfiniteQuery({
    queryKey: [...knowledgeKey(workspaceId), 'list', words, filters],
    queryFn: async ({ pageParam: cursor }): Promise<{ articles: ArticleHead[]; next: string | null }> => {
      if (words === '') return api.GET(articlesPath, { workspaceId, query: { ...filters, cursor } })
      const query = { ...filters, query: words, all: true, limit: 50 }
      const { articles } = await api.GET(`${path}/search`, { workspaceId, query })
      return { articles, next: null }
    },
    ...pagedBy('next'),
    placeholderData: keepPreviousData,
  })
}

/** Searches what agents and people can use now. */
export function useKnowledgeSearch(workspaceId: string, words: string) {
  return useQuery({
    queryKey: [...knowledgeKey(workspaceId), 'search', words],
    queryFn: async () => (await api.GET(`${path}/search`, { workspaceId, query: { query: words, limit: 8 } })).articles,
    enabled: words !== '',
    placeholderData: keepPreviousData,
  })
}

export const readArticle = (workspaceId: string, id: string) => api.GET(onePath, { workspaceId, articleId: id })

/** Returns an article with its versions. The editor keeps its own state. */
export function useArticle(workspaceId: string, id: string, enabled = true) {
  return useQuery({
    queryKey: [...knowledgeKey(workspaceId), 'one', id],
    queryFn: () => readArticle(workspaceId, id),
    enabled,
  })
}

export function useArticleVersion(workspaceId: string, articleId: string, version: number | null) {
  return useQuery({
    queryKey: [...knowledgeKey(workspaceId), 'one', articleId, version],
    queryFn: async () =>
      (await api.GET(`${onePath}/versions/{version}`, { workspaceId, articleId, version: version ?? 1 })).version,
    enabled: version !== null,
    staleTime: Number.POSITIVE_INFINITY,
  })
}

const changed = <T>(queries: QueryClient, workspaceId: string, change: Promise<T>): Promise<T> =>
  refetchedAfter(queries, knowledgeKey(workspaceId))(change)

export const createArticle = async (
  queries: QueryClient,
  workspaceId: string,
  body: ArticleInput & { status: Article['status'] },
): Promise<Article> => (await changed(queries, workspaceId, api.POST(articlesPath, { workspaceId, body }))).article

export const changeArticle = async (
  queries: QueryClient,
  workspaceId: string,
  articleId: string,
  body: Partial<ArticleInput> & { version: number; status?: Article['status'] },
): Promise<Article> =>
  (await changed(queries, workspaceId, api.PATCH(onePath, { workspaceId, articleId, body }))).article

export const deleteArticle = (queries: QueryClient, workspaceId: string, articleId: string) =>
  changed(queries, workspaceId, api.DELETE(onePath, { workspaceId, articleId }))

/** Returns the drafts made of conversations, newest first. */
export function useArticleDrafts(workspaceId: string) {
  return useQuery({
    queryKey: [...knowledgeKey(workspaceId), 'drafts'],
    queryFn: async () => (await api.GET(draftsPath, { workspaceId })).drafts,
  })
}

/** Returns a draft as it was opened: the editor keeps its own state. */
export function useArticleDraft(workspaceId: string, draftId: string) {
  return useQuery({
    queryKey: [...knowledgeKey(workspaceId), 'draft', draftId],
    queryFn: async () => (await api.GET(draftPath, { workspaceId, draftId })).draft,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
}

export async function createArticleDraft(
  queries: QueryClient,
  workspaceId: string,
  conversationId: string,
): Promise<ArticleDraft> {
  const { draft } = await api.POST(draftsPath, { workspaceId, body: { conversationId } })
  void queries.invalidateQueries({ queryKey: knowledgeKey(workspaceId) })
  return draft
}

export const publishArticleDraft = async (
  queries: QueryClient,
  workspaceId: string,
  draftId: string,
  body: ArticleInput,
): Promise<Article> =>
  (await changed(queries, workspaceId, api.POST(`${draftPath}/publish`, { workspaceId, draftId, body }))).article

export const discardArticleDraft = (queries: QueryClient, workspaceId: string, draftId: string) =>
  changed(queries, workspaceId, api.DELETE(draftPath, { workspaceId, draftId }))

/** What was said in a conversation, beside a draft that is made of it. */
export function useConversationText(workspaceId: string, id: string) {
  return useQuery({
    queryKey: [...knowledgeKey(workspaceId), 'conversation', id],
    queryFn: async () => {
      const { items } = await api.GET(timelinePath, { workspaceId, id, query: { limit: 100 } })
      return items.flatMap(({ message }) => (message === undefined || message.text === '' ? [] : message))
    },
  })
}

export interface ImportOptions {
  language: string
  publish: boolean
  dryRun: boolean
}

export async function importFiles(
  queries: QueryClient,
  workspaceId: string,
  files: readonly { path: string; text: string }[],
  options: ImportOptions,
): Promise<ImportResult[]> {
  const body = { files: [...files], ...options }
  const { results } = await api.POST(`${path}/import-files`, { workspaceId, body })
  if (!options.dryRun) await queries.invalidateQueries({ queryKey: knowledgeKey(workspaceId) })
  return results
}

/** Pages that one request reads. */
const pagesAtOnce = 5

/** Imports the pages of a site map, a few at once; `onProgress` gets what has been read so far, of how many. */
export async function importSite(
  queries: QueryClient,
  workspaceId: string,
  siteMap: string,
  options: ImportOptions,
  { onProgress, signal }: { onProgress(results: readonly ImportResult[], total: number): void; signal: AbortSignal },
): Promise<ImportResult[]> {
  const { addresses } = await api.POST(`${path}/read-site-map`, { workspaceId, body: { siteMap } })
  const results: ImportResult[] = []
  for (let from = 0; from < addresses.length && !signal.aborted; from += pagesAtOnce) {
    const body = { siteMap, addresses: addresses.slice(from, from + pagesAtOnce), ...options }
    results.push(...(await api.POST(`${path}/import-pages`, { workspaceId, body })).results)
    onProgress(results, addresses.length)
  }
  if (!options.dryRun) await queries.invalidateQueries({ queryKey: knowledgeKey(workspaceId) })
  return results
}
