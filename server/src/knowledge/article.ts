import { decodeCursor, encodeCursor } from '../base/cursor.ts'
import type { Fragment, Sql, Tx } from '../base/db.ts'
import { type ApiError, conflict, invalid, notFound } from '../base/errors.ts'
import { isUuid } from '../base/id.ts'
import type { OwnedList } from '../workspaces/owned-list.ts'

/** `answer`: a short text that can be sent as it is. */
export const articleKinds = ['article', 'answer'] as const
export type ArticleKind = (typeof articleKinds)[number]
export const articleStatuses = ['draft', 'published', 'archived'] as const
export type ArticleStatus = (typeof articleStatuses)[number]
export const articleSources = ['app', 'api', 'import', 'site', 'conversation'] as const
export type ArticleSource = (typeof articleSources)[number]

export const limits = { title: 200, body: 50_000, tags: 20, tag: 50, keys: 100, address: 1000 } as const
export const maxVersions = 20

export const articleList: OwnedList = {
  item: 'knowledge_article',
  table: (sql) => sql`knowledge_articles`,
  maxItems: 20_000,
  fullMessage: 'A workspace has at most 20000 articles. Delete some first.',
  notFoundMessage: 'Article not found',
}

/** What each version records. */
export interface ArticleText {
  /** Two or three letters, such as `pt`. */
  language: string
  title: string
  /** Markdown. */
  body: string
  tags: string[]
}

export interface ArticleFields extends ArticleText {
  kind: ArticleKind
  /** Keys that can read it; null: all with the scope. */
  keyIds: string[] | null
  validFrom: Date | null
  validUntil: Date | null
}

export interface ArticleAuthor {
  type: 'user' | 'token' | 'agent'
  id: string
}

/** An article without its text. */
export interface ArticleHead extends Omit<ArticleFields, 'body'> {
  id: string
  status: ArticleStatus
  source: ArticleSource
  sourceAddress: string | null
  version: number
  createdAt: Date
  updatedAt: Date
  publishedAt: Date | null
  actor: ArticleAuthor
}

export type Article = ArticleHead & { body: string }

export interface ArticleVersion extends ArticleText {
  version: number
  createdAt: Date
  actor: ArticleAuthor
}

export const articleNotFound = (): ApiError => notFound(articleList.notFoundMessage)

/** Someone else has changed it. */
export const articleChanged = (version: number): ApiError =>
  conflict('Someone else has changed this article. Load it again.', { version })

export const headColumns = (sql: Sql): Fragment => sql`
  a.id, a.kind, a.status, a.language, a.title, a.tags, a.key_ids as "keyIds", a.valid_from as "validFrom",
  a.valid_until as "validUntil", a.source, a.source_address as "sourceAddress", a.version, a.created_at as "createdAt",
  a.updated_at as "updatedAt", a.published_at as "publishedAt",
  json_build_object('type', a.actor_type, 'id', a.actor_id) as actor`

/** Returns an article; `condition` is SQL after that of its id. */
export async function findArticle(
  sql: Sql,
  workspaceId: string,
  id: string,
  condition: Fragment = sql``,
): Promise<Article | undefined> {
  const [article] = await sql<Article[]>`
    select ${headColumns(sql)}, a.body
    from knowledge_articles a
    where a.workspace_id = ${workspaceId}
      and a.id = ${id}
      ${condition}`
  return article
}

/** Returns an article, locked until the transaction ends. Throws 404. */
export async function lockArticle(tx: Tx, workspaceId: string, id: string): Promise<Article> {
  const article = await findArticle(tx, workspaceId, id, tx`for update`)
  if (article === undefined) throw articleNotFound()
  return article
}

/** Conditions on a list; absent for any. */
export interface ArticleFilter {
  status?: ArticleStatus | undefined
  kind?: ArticleKind | undefined
  language?: string | undefined
}

export const matchesFilter = (sql: Sql, { status, kind, language }: ArticleFilter): Fragment => sql`
  (${status ?? null}::text is null or a.status = ${status ?? null})
  and (${kind ?? null}::text is null or a.kind = ${kind ?? null})
  and (${language ?? null}::text is null or a.language = ${language ?? null})`

export interface ArticlePage {
  articles: ArticleHead[]
  /** Null at the end. */
  next: string | null
}

/** Lists articles, the last changed first. Throws 400 for an invalid cursor. */
export async function listArticles(
  sql: Sql,
  workspaceId: string,
  filter: ArticleFilter,
  { limit, cursor }: { limit: number; cursor: string | undefined },
): Promise<ArticlePage> {
  const after = cursor === undefined ? null : parsePosition(cursor)
  const found = await sql<ArticleHead[]>`
    select ${headColumns(sql)}
    from knowledge_articles a
    where a.workspace_id = ${workspaceId}
      and ${matchesFilter(sql, filter)}
      ${after === null ? sql`` : sql`and (a.updated_at, a.id) < (${after.at}::timestamptz, ${after.id}::uuid)`}
    order by a.updated_at desc, a.id desc
    limit ${limit + 1}`
  const articles = found.slice(0, limit)
  const last = articles.at(-1)
  const next = found.length > limit && last !== undefined ? encodeCursor([last.updatedAt.getTime(), last.id]) : null
  return { articles, next }
}

function parsePosition(cursor: string): { at: Date; id: string } {
  const [ms, id] = decodeCursor(cursor) ?? []
  if (typeof ms !== 'number' || typeof id !== 'string' || !isUuid(id) || Number.isNaN(new Date(ms).getTime())) {
    throw invalid('cursor', 'must be `next` of the previous page', 'query')
  }
  return { at: new Date(ms), id }
}

/** Returns the newest versions, newest first, without their texts. */
export function listVersions(
  sql: Sql,
  workspaceId: string,
  articleId: string,
): PromiseLike<Omit<ArticleVersion, 'body'>[]> {
  return sql<Omit<ArticleVersion, 'body'>[]>`
    select v.version, v.language, v.title, v.tags, v.created_at as "createdAt",
      json_build_object('type', v.actor_type, 'id', v.actor_id) as actor
    from knowledge_versions v
    where v.workspace_id = ${workspaceId}
      and v.article_id = ${articleId}
    order by v.version desc`
}

export async function findVersion(
  sql: Sql,
  workspaceId: string,
  articleId: string,
  version: number,
): Promise<ArticleVersion | undefined> {
  const [found] = await sql<ArticleVersion[]>`
    select v.version, v.language, v.title, v.body, v.tags, v.created_at as "createdAt",
      json_build_object('type', v.actor_type, 'id', v.actor_id) as actor
    from knowledge_versions v
    where v.workspace_id = ${workspaceId}
      and v.article_id = ${articleId}
      and v.version = ${version}`
  return found
}

/** Who reads: an API key, or people (null), who read articles for any key. */
export interface Reader {
  workspaceId: string
  keyId: string | null
  now: Date
}

/** SQL: whether the reader can use the article `a` now. */
export const isReadable = (sql: Sql, { keyId, now }: Reader): Fragment => sql`
  a.status = 'published'
  and (a.valid_from is null or a.valid_from <= ${now})
  and (a.valid_until is null or a.valid_until > ${now})
  and (${keyId}::uuid is null or a.key_ids is null or ${keyId}::uuid = any (a.key_ids))`

/** Returns an article that the reader can use now. */
export const readArticle = (sql: Sql, reader: Reader, id: string): Promise<Article | undefined> =>
  findArticle(sql, reader.workspaceId, id, sql`and ${isReadable(sql, reader)}`)

/** A version of an article that an answer used. */
export interface Citation {
  id: string
  version: number
  title: string
}

/** Returns the cited versions with their titles. Throws 400 for one that the reader cannot read. */
export async function citeArticles(
  sql: Sql,
  reader: Reader,
  sources: readonly { article_id: string; version: number }[],
): Promise<Citation[]> {
  const found = await sql<Citation[]>`
    select a.id, v.version, v.title
    from unnest(
      ${sources.map((one) => one.article_id)}::uuid[],
      ${sources.map((one) => one.version)}::integer[]
    ) as s (id, version)
    join knowledge_articles a on a.workspace_id = ${reader.workspaceId} and a.id = s.id
    join knowledge_versions v
      on v.workspace_id = ${reader.workspaceId} and v.article_id = a.id and v.version = s.version
    where ${isReadable(sql, reader)}`
  return sources.map(({ article_id, version }, n) => {
    const cited = found.find((one) => one.id === article_id.toLowerCase() && one.version === version)
    if (cited === undefined) {
      throw invalid(`sources[${n}]`, 'must be the id and version of an article that search_knowledge returned')
    }
    return cited
  })
}
