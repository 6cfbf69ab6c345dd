import type { Clock } from '../base/clock.ts'
import type { Db, Sql } from '../base/db.ts'
import type { Log } from '../base/log.ts'
import type { Outgoing } from '../base/outgoing/guarded-fetch.ts'
import { isReadable, type Reader } from './article.ts'

/** Endpoint that computes vectors of texts, with the interface of OpenAI. */
export interface EmbeddingSettings {
  /** Without `/embeddings`. */
  url: string
  model: string
  key: string | null
}

export interface Embedder {
  model: string
  /** Returns the vectors of texts; null if the endpoint fails, which pauses it for a while. */
  embed(texts: readonly string[], timeoutMs: number): Promise<number[][] | null>
  /** Whether the database can compare vectors: it has the extension pgvector. */
  isUsable(): Promise<boolean>
}

interface EmbedderDeps {
  db: Db
  clock: Clock
  log: Log
  outgoing: Outgoing
}

/** After a failure, searches use words alone for so long instead of waiting again. */
const pauseMs = 30_000
const checkExtensionEveryMs = 600_000
const maxAnswerBytes = 32 * 1024 * 1024
const maxDimensions = 4096

export function createEmbedder({ db, clock, log, outgoing }: EmbedderDeps, settings: EmbeddingSettings): Embedder {
  const { url, model, key } = settings
  let pausedUntilMs = 0
  let extension = { isThere: false, untilMs: 0 }
  return {
    model,
    isUsable: async () => {
      const nowMs = clock.now().getTime()
      if (nowMs >= extension.untilMs) {
        const [row] = await db.sql<{ isThere: boolean }[]>`
          select exists (select 1 from pg_extension where extname = 'vector') as "isThere"`
        extension = { isThere: row?.isThere === true, untilMs: nowMs + checkExtensionEveryMs }
      }
      return extension.isThere
    },
    embed: async (texts, timeoutMs) => {
      if (clock.now().getTime() < pausedUntilMs) return null
      const answer = await outgoing.call({
        method: 'POST',
        url: `${url}/embeddings`,
        headers: {
          ...{ 'content-type': 'application/json', accept: 'application/json' },
          ...(key !== null && { authorization: `Bearer ${key}` }),
        },
        body: JSON.stringify({ model, input: texts }),
        ...{ timeoutMs, maxAnswerBytes, canRepeat: true },
      })
      const vectors =
        answer.outcome === 'answered' && answer.status === 200 ? parseVectors(answer.body, texts.length) : null
      if (vectors !== null) return vectors
      pausedUntilMs = clock.now().getTime() + pauseMs
      const problem = answer.outcome === 'failed' ? { code: answer.code } : { status: answer.status }
      log.warn('failed to compute embeddings; searching by words alone', problem)
      return null
    },
  }
}

function parseVectors(body: Buffer, count: number): number[][] | null {
  try {
    const { data } = JSON.parse(body.toString('utf8')) as { data: { index: number; embedding: number[] }[] }
    const vectors = data.toSorted((a, b) => a.index - b.index).map(({ embedding }) => embedding)
    const size = vectors[0]?.length ?? 0
    const isVector = (one: unknown) =>
      Array.isArray(one) && one.length === size && one.every((number) => Number.isFinite(number))
    return vectors.length === count && size > 0 && size <= maxDimensions && vectors.every(isVector) ? vectors : null
  } catch {
    return null
  }
}

/** Returns ids of articles that the reader can use now, the nearest in meaning first. */
export async function rankByMeaning(
  sql: Sql,
  reader: Reader,
  { model, vector }: { model: string; vector: readonly number[] },
  { language, kind, limit }: { language?: string | undefined; kind?: string | undefined; limit: number },
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select a.id
    from knowledge_embeddings e
    join knowledge_articles a on a.workspace_id = e.workspace_id and a.id = e.article_id
    where e.workspace_id = ${reader.workspaceId}
      and e.model = ${model}
      and cardinality(e.embedding) = ${vector.length}
      and ${isReadable(sql, reader)}
      and (${language ?? null}::text is null or a.language = ${language ?? null})
      and (${kind ?? null}::text is null or a.kind = ${kind ?? null})
    order by e.embedding::vector <=> ${[...vector]}::real[]::vector
    limit ${limit}`
  return rows.map(({ id }) => id)
}

const batchSize = 32
const maxBatches = 20
/** Longer texts are represented by their beginning. */
const maxText = 8000
const batchTimeoutMs = 30_000

/**
 * Computes the vectors of published articles that have none, or that of an older version or another model. Returns how
 * many. Stops at a failure; the next run continues.
 */
export async function embedArticles(db: Db, embedder: Embedder): Promise<number> {
  if (!(await embedder.isUsable())) return 0
  let done = 0
  for (let batch = 0; batch < maxBatches; batch++) {
    const articles = await db.sql<{ workspace_id: string; id: string; version: number; text: string }[]>`
      select a.workspace_id, a.id, a.version, left(a.title || E'\n' || a.body, ${maxText}) as text
      from knowledge_articles a
      left join knowledge_embeddings e on e.workspace_id = a.workspace_id and e.article_id = a.id
      where a.status = 'published'
        and (e.article_id is null or e.version < a.version or e.model <> ${embedder.model})
      order by a.updated_at
      limit ${batchSize}`
    if (articles.length === 0) return done
    const texts = articles.map(({ text }) => text)
    const vectors = await embedder.embed(texts, batchTimeoutMs)
    if (vectors === null) return done
    for (const [n, { workspace_id, id, version }] of articles.entries()) {
      // An article that was deleted meanwhile is left out.
      await db.statement(
        (tx) => tx`
          insert into knowledge_embeddings (workspace_id, article_id, version, model, embedding)
          select a.workspace_id, a.id, ${version}, ${embedder.model}, ${vectors[n] ?? []}::real[]
          from knowledge_articles a
          where a.workspace_id = ${workspace_id}
            and a.id = ${id}
          on conflict (workspace_id, article_id) do update
          set version = excluded.version,
            model = excluded.model,
            embedding = excluded.embedding`,
      )
    }
    done += articles.length
  }
  return done
}
