import { keepPreviousData, type QueryClient, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../../api/client.ts'
import type { components } from '../../api/schema.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/knowledge' as const
const articlesPath = `${path}/articles` as const
const onePath = `${path}/articles/{articleId}` as const
const draftsPath = `${path}/drafts` as const
const draftPath = `${path}/drafts/{draftId}` as const

type Schemas = components['schemas']
export type ArticleHead = Schemas['KnowledgeArticleHead']
export type Article = Schemas['KnowledgeArticle']
export type FoundArticle = Schemas['FoundKnowledge']
export type ArticleVersionHead = Schemas['KnowledgeVersionHead']
export type ArticleVersion = Schemas['KnowledgeVersion']
export type ArticleDraft = Schemas['KnowledgeDraft']
export type ImportResult = Schemas['KnowledgeImportResult']

export const articleKinds = ['article', 'answer'] as const
export const articleStatuses = ['draft', 'published', 'archived'] as const

/** Fields that people edit; times as ISO texts. */
export type ArticleInput = Pick<
  Article,
  'kind' | 'language' | 'title' | 'body' | 'tags' | 'keyIds' | 'validFrom' | 'validUntil'
>

export interface ArticleFilters {
  status?: ArticleHead['status']
  kind?: ArticleHead['kind']
  language?: string
}

const knowledgeKey = (workspaceId: string) => [workspaceId, 'knowledge'] as const
const at = (workspaceId: string) => ({ path: { workspaceId } })
const atOne = (workspaceId: string, articleId: string) => ({ path: { workspaceId, articleId } })

/** Returns articles by pages, the last changed first; with words, the best of all that match on one page. */
export function useArticles(workspaceId: string, words: string, filters: ArticleFilters) {
  return useInfiniteQuery({
    queryKey: [...knowledgeKey(workspaceId), 'list', words, filters],
    queryFn: async ({ pageParam }): Promise<{ articles: ArticleHead[]; next: string | null }> => {
      if (words === '') {
        const query = { ...filters, ...(pageParam !== null && { cursor: pageParam }) }
        return unwrap(api.GET(articlesPath, { params: { ...at(workspaceId), query } }))
      }
      const query = { ...filters, query: words, all: true, limit: 50 }
      const { articles } = await unwrap(api.GET(`${path}/search`, { params: { ...at(workspaceId), query } }))
      return { articles, next: null }
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
  })
}

/** Searches what agents and people can use now. */
export function useKnowledgeSearch(workspaceId: string, words: string) {
  return useQuery({
    queryKey: [...knowledgeKey(workspaceId), 'search', words],
    queryFn: async () => {
      const query = { query: words, limit: 8 }
      return (await unwrap(api.GET(`${path}/search`, { params: { ...at(workspaceId), query } }))).articles
    },
    enabled: words !== '',
    placeholderData: keepPreviousData,
  })
}

export const readArticle = (workspaceId: string, id: string) =>
  unwrap(api.GET(onePath, { params: atOne(workspaceId, id) }))

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
    queryFn: async () => {
      const params = { path: { workspaceId, articleId, version: version ?? 1 } }
      return (await unwrap(api.GET(`${onePath}/versions/{version}`, { params }))).version
    },
    enabled: version !== null,
    staleTime: Number.POSITIVE_INFINITY,
  })
}

const changed = (queries: QueryClient, workspaceId: string) =>
  queries.invalidateQueries({ queryKey: knowledgeKey(workspaceId) })

export async function createArticle(
  queries: QueryClient,
  workspaceId: string,
  body: ArticleInput & { status: Article['status'] },
): Promise<Article> {
  const { article } = await unwrap(api.POST(articlesPath, { params: at(workspaceId), body }))
  await changed(queries, workspaceId)
  return article
}

export async function changeArticle(
  queries: QueryClient,
  workspaceId: string,
  id: string,
  body: Partial<ArticleInput> & { version: number; status?: Article['status'] },
): Promise<Article> {
  const { article } = await unwrap(api.PATCH(onePath, { params: atOne(workspaceId, id), body }))
  await changed(queries, workspaceId)
  return article
}

export async function deleteArticle(queries: QueryClient, workspaceId: string, id: string): Promise<void> {
  await unwrap(api.DELETE(onePath, { params: atOne(workspaceId, id) }))
  await changed(queries, workspaceId)
}

/** Returns the drafts made of conversations, newest first. */
export function useArticleDrafts(workspaceId: string) {
  return useQuery({
    queryKey: [...knowledgeKey(workspaceId), 'drafts'],
    queryFn: async () => (await unwrap(api.GET(draftsPath, { params: at(workspaceId) }))).drafts,
  })
}

/** Returns a draft as it was opened: the editor keeps its own state. */
export function useArticleDraft(workspaceId: string, draftId: string) {
  return useQuery({
    queryKey: [...knowledgeKey(workspaceId), 'draft', draftId],
    queryFn: async () => (await unwrap(api.GET(draftPath, { params: { path: { workspaceId, draftId } } }))).draft,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
}

export async function createArticleDraft(
  queries: QueryClient,
  workspaceId: string,
  conversationId: string,
): Promise<ArticleDraft> {
  const { draft } = await unwrap(api.POST(draftsPath, { params: at(workspaceId), body: { conversationId } }))
  void changed(queries, workspaceId)
  return draft
}

export async function publishArticleDraft(
  queries: QueryClient,
  workspaceId: string,
  draftId: string,
  body: ArticleInput,
): Promise<Article> {
  const params = { path: { workspaceId, draftId } }
  const { article } = await unwrap(api.POST(`${draftPath}/publish`, { params, body }))
  await changed(queries, workspaceId)
  return article
}

export async function discardArticleDraft(queries: QueryClient, workspaceId: string, draftId: string): Promise<void> {
  await unwrap(api.DELETE(draftPath, { params: { path: { workspaceId, draftId } } }))
  await changed(queries, workspaceId)
}

/** What was said in a conversation, beside a draft that is made of it. */
export function useConversationText(workspaceId: string, id: string) {
  return useQuery({
    queryKey: [...knowledgeKey(workspaceId), 'conversation', id],
    queryFn: async () => {
      const params = { path: { workspaceId, id }, query: { limit: 100 } }
      const { items } = await unwrap(
        api.GET('/api/team/v1/workspaces/{workspaceId}/inbox/conversations/{id}/timeline', { params }),
      )
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
  const { results } = await unwrap(api.POST(`${path}/import-files`, { params: at(workspaceId), body }))
  if (!options.dryRun) await changed(queries, workspaceId)
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
  const params = at(workspaceId)
  const { addresses } = await unwrap(api.POST(`${path}/read-site-map`, { params, body: { siteMap } }))
  const results: ImportResult[] = []
  for (let from = 0; from < addresses.length && !signal.aborted; from += pagesAtOnce) {
    const body = { siteMap, addresses: addresses.slice(from, from + pagesAtOnce), ...options }
    results.push(...(await unwrap(api.POST(`${path}/import-pages`, { params, body }))).results)
    onProgress(results, addresses.length)
  }
  if (!options.dryRun) await changed(queries, workspaceId)
  return results
}
