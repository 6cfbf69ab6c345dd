import type { Db } from '../base/db.ts'
import { type Embedder, rankByMeaning } from './embeddings.ts'
import { type FoundArticle, loadFound, rankByWords, type SearchRequest, type SearchScope } from './search.ts'

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
