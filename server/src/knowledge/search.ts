import type { Db, Fragment, Sql } from '../base/db.ts'
import { foldText } from '../base/text/search-text.ts'
import type { ArticleFilter, ArticleHead, ArticleText, Reader } from './article.ts'
import { headColumns, isReadable, matchesFilter } from './article.ts'
import { type Embedder, rankByMeaning } from './embeddings.ts'

/** Text search configurations of PostgreSQL 15 and later. Other languages are searched by whole words. */
const configs: Readonly<Record<string, string>> = {
  ...{ ar: 'arabic', hy: 'armenian', eu: 'basque', ca: 'catalan', da: 'danish', nl: 'dutch', en: 'english' },
  ...{ fi: 'finnish', fr: 'french', de: 'german', el: 'greek', hi: 'hindi', hu: 'hungarian', id: 'indonesian' },
  ...{ ga: 'irish', it: 'italian', lt: 'lithuanian', ne: 'nepali', nb: 'norwegian', no: 'norwegian' },
  ...{ pt: 'portuguese', ro: 'romanian', ru: 'russian', sr: 'serbian', es: 'spanish', sv: 'swedish', ta: 'tamil' },
  ...{ tr: 'turkish', yi: 'yiddish' },
}

const configOf = (language: string): string =>
  `pg_catalog.${Object.hasOwn(configs, language) ? configs[language] : 'simple'}`

/** No word of a text has this form. */
const workspaceWord = (workspaceId: string): string => `w:${workspaceId}`

/** Returns SQL of the values of the columns `search` and `title_search` of an article. */
export function searchVectors(
  sql: Sql,
  workspaceId: string,
  { language, title, body, tags }: ArticleText,
): { search: Fragment; titleSearch: Fragment } {
  const config = configOf(language)
  const workspace = sql`array_to_tsvector(array[${workspaceWord(workspaceId)}])`
  const words = (text: string, weight: 'A' | 'B' | 'D') =>
    sql`setweight(to_tsvector(${config}::regconfig, ${withPlainWords(text)}), ${weight}::"char")`
  return {
    search: sql`${workspace} || ${words(title, 'A')} || ${words(tags.join('\n'), 'B')} || ${words(body, 'D')}`,
    titleSearch: sql`${workspace} || ${words(title, 'A')}`,
  }
}

/** Returns the text, followed by its accented words without accents, which people often do not type. */
function withPlainWords(text: string): string {
  const plain = new Set<string>()
  for (const [word] of text.matchAll(/[\p{L}\p{M}]+/gu)) {
    const folded = foldText(word)
    if (folded !== word.toLowerCase()) plain.add(folded)
  }
  return plain.size === 0 ? text : `${text}\n${[...plain].join(' ')}`
}

export const maxQuery = 500

interface SearchRequest {
  query: string
  language?: string | undefined
  kind?: ArticleFilter['kind']
  limit: number
}

interface FoundArticle extends ArticleHead {
  snippet: string
}

/** Which articles a search may find: those that a reader can use now, or for the page of articles all that match. */
type SearchScope = Reader & { filter?: ArticleFilter }

export interface SearchDeps {
  db: Db
  /** Searches also by meaning, if an endpoint is set. */
  embedder: Embedder | null
}

/** Length of the two rankings that are combined. */
const pool = 50
/** A person or a model waits for it. */
const queryTimeoutMs = 2_000

/**
 * Finds articles, the best first: by their words, and where the service has vectors, also by meaning. While their
 * endpoint fails, words alone decide.
 */
export async function searchKnowledge(
  { db: { sql }, embedder }: SearchDeps,
  scope: SearchScope,
  request: SearchRequest,
): Promise<FoundArticle[]> {
  const { workspaceId, filter, ...reader } = scope
  const { query, limit } = request
  if (embedder === null || filter !== undefined || !(await embedder.isUsable())) {
    return loadFound(sql, workspaceId, await rankByWords(sql, scope, request), query)
  }
  const wider = { ...request, limit: pool }
  const [byWords, byMeaning] = await Promise.all([
    rankByWords(sql, scope, wider),
    embedder.embed([query], queryTimeoutMs).then((vectors) => {
      const vector = vectors?.[0]
      if (vector === undefined) return []
      return rankByMeaning(sql, { workspaceId, ...reader }, { model: embedder.model, vector }, wider)
    }),
  ])
  return loadFound(sql, workspaceId, fuseRankings([byWords, byMeaning]).slice(0, limit), query)
}

/** Weight of the first ranks, from the paper on reciprocal rank fusion (Cormack 2009). */
const smoothing = 60

/** Combines rankings: each gives an id the more, the higher it ranks there. */
export function fuseRankings(rankings: readonly (readonly string[])[]): string[] {
  const scores = new Map<string, number>()
  for (const ranking of rankings) {
    for (const [n, id] of ranking.entries()) scores.set(id, (scores.get(id) ?? 0) + 1 / (smoothing + n + 1))
  }
  return [...scores].sort(([, a], [, b]) => b - a).map(([id]) => id)
}

/**
 * Returns ids of articles by their words: first those with all words of the query, then those with some, and if there
 * are none, those with words that begin like them. The query can have `or` and `-`, as in search engines.
 */
async function rankByWords(sql: Sql, scope: SearchScope, request: SearchRequest): Promise<string[]> {
  const { limit } = request
  // A phrase of frequent words would read every text that has them. The ranking prefers words that are close anyway.
  const query = request.query.replaceAll('"', ' ')
  const used =
    request.language === undefined ? await listLanguages(sql, scope.workspaceId) : [request.language.toLowerCase()]
  const folded = foldText(query)
  const forms = folded === query.toLowerCase() ? [query] : [query, folded]
  const each = (make: (config: string, form: string) => Fragment) =>
    [...new Set(used.map(configOf))]
      .flatMap((config) => forms.map((form) => make(config, form)))
      .reduce((either, one) => sql`${either} || ${one}`)
  if (used.length === 0) return []
  const all = each((config, form) => sql`websearch_to_tsquery(${config}::regconfig, ${form})`)
  const ids = await rank(sql, scope, request, all, sql`ts_rank_cd`)
  if (ids.length >= limit) return ids
  // As text, a query of plain words has ' & ' only between them.
  const some = each(
    (config, form) => sql`replace(plainto_tsquery(${config}::regconfig, ${form})::text, ' & ', ' | ')::tsquery`,
  )
  const more = await rank(sql, scope, request, some, sql`ts_rank`)
  const found = [...new Set([...ids, ...more])].slice(0, limit)
  const beginnings = beginningsOf(folded)
  if (found.length > 0 || beginnings.length === 0) return found
  const begin = sql`to_tsquery('pg_catalog.simple', ${beginnings.map((word) => `${word}:*`).join(' | ')})`
  return rank(sql, scope, request, begin, sql`ts_rank`)
}

/** Returns how words begin: their ends are inflected, mistyped or not typed yet. */
const beginningsOf = (folded: string): string[] =>
  [...new Set([...folded.matchAll(/[\p{L}\p{N}]+/gu)].map(([word]) => [...word].slice(0, 5).join('')))]
    .filter((word) => word.length >= 3)
    .slice(0, 10)

/** The ranking reads the words of so many articles at most, those with a match in the title first. */
const maxRanked = 200

function rank(
  sql: Sql,
  { workspaceId, filter, ...reader }: SearchScope,
  { language, kind, limit }: SearchRequest,
  query: Fragment,
  by: Fragment,
): Promise<string[]> {
  const usable = filter === undefined ? isReadable(sql, { workspaceId, ...reader }) : matchesFilter(sql, filter)
  const matching = (column: Fragment) => sql`
    select a.id
    from knowledge_articles a
    where a.workspace_id = ${workspaceId}
      and ${column} @@ ${`'${workspaceWord(workspaceId)}'`}::tsquery
      and ${column} @@ (${query})
      and ${usable}
      and ${matchesFilter(sql, { language: language?.toLowerCase(), kind })}
    limit ${maxRanked}`
  return sql<{ id: string }[]>`
    select a.id
    from (
      (${matching(sql`a.title_search`)})
      union
      (${matching(sql`a.search`)})
    ) as m
    join knowledge_articles a on a.workspace_id = ${workspaceId} and a.id = m.id
    order by ${by}(a.search, ${query}, 1) desc, a.updated_at desc, a.id
    limit ${limit}`.then((rows) => rows.map(({ id }) => id))
}

/** Returns the languages of the workspace's articles; reads one index entry for each. */
async function listLanguages(sql: Sql, workspaceId: string): Promise<string[]> {
  const rows = await sql<{ language: string }[]>`
    with recursive used as (
      (
        select language
        from knowledge_articles
        where workspace_id = ${workspaceId}
        order by language
        limit 1
      )
      union all
      select (
        select a.language
        from knowledge_articles a
        where a.workspace_id = ${workspaceId}
          and a.language > used.language
        order by a.language
        limit 1
      )
      from used
      where used.language is not null
    )
    select language
    from used
    where language is not null
    limit 30`
  return rows.map(({ language }) => language)
}

/** A snippet is made of the beginning of an article. */
const maxSearchedText = 20_000

/** Returns these articles in this order, with the part of each that fits the query. */
async function loadFound(sql: Sql, workspaceId: string, ids: readonly string[], query: string) {
  if (ids.length === 0) return []
  const rows = await sql<(ArticleHead & { body: string })[]>`
    select ${headColumns(sql)}, left(a.body, ${maxSearchedText}) as body
    from unnest(${[...ids]}::uuid[]) with ordinality as w (id, place)
    join knowledge_articles a on a.workspace_id = ${workspaceId} and a.id = w.id
    order by w.place`
  const beginnings = beginningsOf(foldText(query))
  return rows.map(({ body, ...head }) => ({ ...head, snippet: snippetOf(body, beginnings) }))
}

export const maxSnippet = 300

/** Returns a short text whole; of others, the line with most of the words and those after it. */
export function snippetOf(body: string, beginnings: readonly string[]): string {
  if (body.length <= maxSnippet) return body
  const lines = body.split('\n').filter((line) => line.trim() !== '')
  let [best, most] = [0, 0]
  for (const [n, line] of lines.entries()) {
    const folded = foldText(line)
    const count = beginnings.filter((word) => folded.includes(word)).length
    if (count > most) [best, most] = [n, count]
  }
  const line = lines[best] ?? ''
  const folded = line.toLowerCase()
  const places = beginnings.map((word) => folded.indexOf(word)).filter((place) => place >= 0)
  const first = places.length === 0 ? 0 : Math.min(...places)
  const from = line.length <= maxSnippet || first < maxSnippet / 2 ? 0 : first - 60
  const text = [line.slice(from), ...lines.slice(best + 1, best + 5)].join('\n').trim()
  const isCut = text.length > maxSnippet
  return `${from > 0 ? '…' : ''}${text.slice(0, maxSnippet - 2)}${isCut ? '…' : ''}`.toWellFormed()
}
