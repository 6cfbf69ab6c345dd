import { selectApiKeys } from '../auth/api-keys/queries.ts'
import type { Clock } from '../base/clock.ts'
import type { Db, Tx } from '../base/db.ts'
import { conflict, forbidden, InvalidInput, type Issue } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import { recordAudit } from '../team/audit.ts'
import { type Member, roleCovers } from '../team/member.ts'
import { deleteItem, refuseIfFull } from '../workspaces/owned-list.ts'
import type { Article, ArticleAuthor, ArticleFields, ArticleSource, ArticleStatus } from './article.ts'
import { articleChanged, articleList, lockArticle, maxVersions } from './article.ts'
import { searchVectors } from './search.ts'

export interface KnowledgeDeps {
  db: Db
  clock: Clock
}

/** Who writes. Without `mayPublish` only drafts, which stay drafts. */
export interface Author {
  workspaceId: string
  actor: ArticleAuthor
  mayPublish: boolean
}

/** Members write drafts; admins publish, and change what is published. */
export const authorOf = ({ workspaceId, role, actor }: Member): Author => ({
  ...{ workspaceId, actor, mayPublish: roleCovers(role, 'admin') },
})

export interface NewArticle {
  fields: ArticleFields
  status: ArticleStatus
  source: ArticleSource
  sourceAddress: string | null
}

/** Creates an article. Throws 400, 403 if the author may not publish it, and 409 if the workspace has too many. */
export async function createArticle(
  { db, clock }: KnowledgeDeps,
  author: Author,
  article: NewArticle,
): Promise<Article> {
  return db.tx(async (tx) => {
    await refuseIfFull(tx, articleList, author.workspaceId, null)
    return insertArticle(tx, author, article, clock.now())
  })
}

/** Inserts an article with its first version. Requires that the list is not full. */
export async function insertArticle(tx: Tx, author: Author, article: NewArticle, now: Date): Promise<Article> {
  if (article.status !== 'draft') requirePublisher(author)
  const { workspaceId, actor } = author
  const fields = normalFields(article.fields)
  await checkFields(tx, workspaceId, fields)
  const stored: Article = {
    ...fields,
    ...{ id: newId(now), status: article.status, source: article.source, sourceAddress: article.sourceAddress },
    ...{ version: 1, createdAt: now, updatedAt: now, publishedAt: article.status === 'published' ? now : null, actor },
  }
  const { search, titleSearch } = searchVectors(tx, workspaceId, stored)
  await tx`
    insert into knowledge_articles (
      workspace_id, id, kind, status, language, title, body, tags, key_ids, valid_from, valid_until, source,
      source_address, version, created_at, updated_at, published_at, actor_type, actor_id, search, title_search
    )
    values (
      ${workspaceId}, ${stored.id}, ${stored.kind}, ${stored.status}, ${stored.language}, ${stored.title},
      ${stored.body}, ${stored.tags}::text[], ${stored.keyIds}::uuid[], ${stored.validFrom}, ${stored.validUntil},
      ${stored.source}, ${stored.sourceAddress}, 1, ${now}, ${now}, ${stored.publishedAt}, ${actor.type}, ${actor.id},
      ${search}, ${titleSearch}
    )`
  await insertVersion(tx, workspaceId, stored)
  await recordChange(tx, author, stored.id, stored.status === 'published' ? 'published' : 'created', now)
  return stored
}

/** A change of an article that had this version. Absent fields stay as they are. */
export interface ArticleChange {
  version: number
  fields: Partial<ArticleFields>
  status: ArticleStatus | undefined
}

/**
 * Changes an article. Throws 400, 404, 403 if the author may not publish it, and 409 if it has another version by now.
 */
export async function changeArticle(
  { db, clock }: KnowledgeDeps,
  author: Author,
  id: string,
  { version, fields, status }: ArticleChange,
): Promise<Article> {
  return db.tx(async (tx) => {
    const before = await lockArticle(tx, author.workspaceId, id)
    if (before.version !== version) throw articleChanged(before.version)
    return updateArticle(tx, author, before, { ...before, ...fields, status: status ?? before.status }, clock.now())
  })
}

/** Stores a locked article. A change of its fields is a new version. */
export async function updateArticle(
  tx: Tx,
  author: Author,
  before: Article,
  to: ArticleFields & { status: ArticleStatus },
  now: Date,
): Promise<Article> {
  const fields = normalFields(to)
  const hasChanged = JSON.stringify(comparable(fields)) !== JSON.stringify(comparable(before))
  const isMoved = to.status !== before.status
  if (!hasChanged && !isMoved) return before
  if (before.status !== 'draft' || to.status !== 'draft') requirePublisher(author)
  const { workspaceId, actor } = author
  await checkFields(tx, workspaceId, fields)
  const after: Article = {
    ...before,
    ...fields,
    ...{ status: to.status, version: before.version + (hasChanged ? 1 : 0), updatedAt: now, actor },
    publishedAt: isMoved && to.status === 'published' ? now : before.publishedAt,
  }
  const { search, titleSearch } = searchVectors(tx, workspaceId, after)
  await tx`
    update knowledge_articles
    set kind = ${after.kind},
      status = ${after.status},
      language = ${after.language},
      title = ${after.title},
      body = ${after.body},
      tags = ${after.tags}::text[],
      key_ids = ${after.keyIds}::uuid[],
      valid_from = ${after.validFrom},
      valid_until = ${after.validUntil},
      version = ${after.version},
      updated_at = ${now},
      published_at = ${after.publishedAt},
      actor_type = ${actor.type},
      actor_id = ${actor.id},
      search = ${search},
      title_search = ${titleSearch}
    where workspace_id = ${workspaceId}
      and id = ${after.id}`
  if (hasChanged) await insertVersion(tx, workspaceId, after)
  await recordChange(tx, author, after.id, isMoved ? changeOf[to.status] : 'changed', now)
  return after
}

const changeOf = { draft: 'unpublished', published: 'published', archived: 'archived' } as const

/** Deletes an article with its versions. Throws 404. */
export function deleteArticle({ db, clock }: KnowledgeDeps, by: Member, id: string): Promise<void> {
  return db.tx((tx) => deleteItem(tx, articleList, { by, id, now: clock.now() }))
}

/** An article as an import finds it. */
export interface ImportedArticle {
  address: string
  fields: ArticleFields
}

export type ImportAction = 'created' | 'updated' | 'unchanged' | 'refused'

export interface ImportOptions {
  source: 'api' | 'import' | 'site'
  /** Whether new articles are published at once. */
  isPublishing: boolean
  /** Changes nothing. */
  isDryRun: boolean
}

/**
 * Creates articles, or updates those with the same address, which keep their status, audience and validity unless the
 * import names them. Throws 409 if two have one address.
 */
export async function importArticles(
  { db, clock }: KnowledgeDeps,
  author: Author,
  imported: readonly ImportedArticle[],
  { source, isPublishing, isDryRun }: ImportOptions,
): Promise<{ article: Article | null; action: ImportAction }[]> {
  const { workspaceId } = author
  if (isPublishing) requirePublisher(author)
  const addresses = imported.map(({ address }) => address)
  if (new Set(addresses).size < addresses.length) throw conflict('Two articles of this import have the same address')
  return db.tx(async (tx) => {
    await refuseIfFull(tx, articleList, workspaceId, null)
    const known = await tx<{ id: string; sourceAddress: string }[]>`
      select id, source_address as "sourceAddress"
      from knowledge_articles
      where workspace_id = ${workspaceId}
        and source_address = any (${addresses}::text[])`
    const ids = new Map(known.map(({ id, sourceAddress }) => [sourceAddress, id]))
    const results: { article: Article | null; action: ImportAction }[] = []
    const now = clock.now()
    for (const { address, fields } of imported) {
      const id = ids.get(address)
      if (id === undefined) {
        const status = isPublishing ? ('published' as const) : ('draft' as const)
        const created = { fields, status, source, sourceAddress: address }
        if (isDryRun) await checkFields(tx, workspaceId, fields)
        results.push({ article: isDryRun ? null : await insertArticle(tx, author, created, now), action: 'created' })
        continue
      }
      const before = await lockArticle(tx, workspaceId, id)
      const { keyIds = before.keyIds, validFrom = before.validFrom, validUntil = before.validUntil } = dropNulls(fields)
      const to = { ...fields, keyIds, validFrom, validUntil, status: before.status }
      const isSame = JSON.stringify(comparable(normalFields(to))) === JSON.stringify(comparable(before))
      // A draft can be improved by anyone who writes; what is published only by those who publish.
      const isRefused = !isSame && before.status !== 'draft' && !author.mayPublish
      const article = isSame || isDryRun || isRefused ? before : await updateArticle(tx, author, before, to, now)
      results.push({ article, action: isSame ? 'unchanged' : isRefused ? 'refused' : 'updated' })
    }
    return results
  })
}

const dropNulls = ({ keyIds, validFrom, validUntil }: ArticleFields) => ({
  keyIds: keyIds ?? undefined,
  validFrom: validFrom ?? undefined,
  validUntil: validUntil ?? undefined,
})

function requirePublisher({ mayPublish, actor }: Author): void {
  if (mayPublish) return
  throw forbidden(
    actor.type === 'agent'
      ? 'This key can read conversations, so a person must publish what it writes: send a draft'
      : 'Only admins change what is published: save it as a draft, and ask an admin to publish it',
  )
}

function normalFields(fields: ArticleFields): ArticleFields {
  const { kind, language, title, body, tags, keyIds, validFrom, validUntil } = fields
  return {
    ...{ kind, language: language.toLowerCase(), title: title.replaceAll(/\s+/g, ' ').trim() },
    body: body.replaceAll('\r\n', '\n').trim(),
    tags: [...new Set(tags.map((tag) => tag.trim().toLowerCase()).filter((tag) => tag !== ''))],
    keyIds: keyIds === null ? null : [...new Set(keyIds.map((id) => id.toLowerCase()))],
    ...{ validFrom, validUntil },
  }
}

const comparable = (fields: ArticleFields) => [
  ...[fields.kind, fields.language, fields.title, fields.body, fields.tags, fields.keyIds],
  ...[fields.validFrom?.getTime(), fields.validUntil?.getTime()],
]

/** Throws 400 for fields that contradict each other, and for keys of other workspaces. */
async function checkFields(tx: Tx, workspaceId: string, { keyIds, validFrom, validUntil }: ArticleFields) {
  const issues: Issue[] = []
  if (validFrom !== null && validUntil !== null && validUntil <= validFrom) {
    issues.push({ path: 'validUntil', message: 'must not be before validFrom' })
  }
  if (keyIds !== null && keyIds.length > 0) {
    const known = new Set((await selectApiKeys(tx, workspaceId)).map(({ id }) => id))
    for (const [n, id] of keyIds.entries()) {
      if (!known.has(id)) issues.push({ path: `keyIds[${n}]`, message: 'must be a key of this workspace' })
    }
  }
  if (issues.length > 0) throw new InvalidInput(issues)
}

async function insertVersion(tx: Tx, workspaceId: string, article: Article): Promise<void> {
  const { id, version, language, title, body, tags, updatedAt, actor } = article
  await tx`
    insert into knowledge_versions (
      workspace_id, article_id, version, language, title, body, tags, created_at, actor_type, actor_id
    )
    values (
      ${workspaceId}, ${id}, ${version}, ${language}, ${title}, ${body}, ${tags}::text[], ${updatedAt}, ${actor.type},
      ${actor.id}
    )`
  await tx`
    delete from knowledge_versions
    where workspace_id = ${workspaceId}
      and article_id = ${id}
      and version <= ${version - maxVersions}`
}

function recordChange(tx: Tx, { workspaceId, actor }: Author, id: string, what: string, now: Date): Promise<void> {
  const { item } = articleList
  return recordAudit(tx, { scopeId: workspaceId, actor, action: `${item}.${what}`, target: `${item}:${id}` }, now)
}
