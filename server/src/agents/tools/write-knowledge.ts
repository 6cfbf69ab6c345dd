import { type Static, Type } from 'typebox'
import { InvalidInput } from '../../base/errors.ts'
import { nullable, oneOf, timestamp } from '../../base/route.ts'
import { count, cursor, text, uuid } from '../../base/schema-types.ts'
import {
  type ArticleFields,
  type ArticleHead,
  articleSources,
  articleStatuses,
  limits,
  listArticles as listAll,
} from '../../knowledge/article.ts'
import { articleFields, changedFields, newFields } from '../../knowledge/schema.ts'
import { type Author, changeArticle, createArticle, importArticles } from '../../knowledge/write-article.ts'
import { idSchema } from '../../team/team-schema.ts'
import {
  type AgentCaller,
  type AgentDeps,
  type AgentTool,
  defineTool,
  idempotentChange,
  input,
  output,
  readOnly,
} from '../define-tool.ts'
import { exampleIds } from '../presenters/examples.ts'

const { kind, language, title, body, tags } = articleFields
const more = {
  key_ids: Type.Optional(articleFields.keyIds),
  valid_from: Type.Optional(articleFields.validFrom),
  valid_until: Type.Optional(articleFields.validUntil),
}

const WrittenArticle = Type.Object(
  {
    id: idSchema('The article.'),
    status: oneOf(articleStatuses, { description: 'Agents find only what is published.' }),
    ...{ kind, language, title, tags },
    key_ids: articleFields.keyIds,
    valid_from: articleFields.validFrom,
    valid_until: articleFields.validUntil,
    source: oneOf(articleSources, { description: 'Where it comes from.' }),
    source_address: nullable(text(limits.address, 'Your address or id of it.')),
    version: count('Counts its changes.'),
    updated_at: timestamp('Time of the last change.'),
  },
  { title: 'WrittenArticle' },
)

const present = (article: ArticleHead): Static<typeof WrittenArticle> => ({
  ...{ id: article.id, status: article.status, kind: article.kind, language: article.language, title: article.title },
  ...{ tags: article.tags, key_ids: article.keyIds, valid_from: article.validFrom?.toISOString() ?? null },
  ...{ valid_until: article.validUntil?.toISOString() ?? null, source: article.source },
  ...{ source_address: article.sourceAddress, version: article.version, updated_at: article.updatedAt.toISOString() },
})

const example: Static<typeof WrittenArticle> = {
  ...{ id: exampleIds.article, status: 'published', kind: 'article', language: 'en' },
  ...{ title: 'How do I return something?', tags: ['refund'], key_ids: null, valid_from: null, valid_until: null },
  ...{ source: 'api', source_address: 'help/returns', version: 3, updated_at: '2026-02-01T12:00:00.000Z' },
}

/** A key that reads conversations could publish what a customer has made it write. */
const authorOf = ({ workspaceId, keyId, may }: AgentCaller): Author => ({
  ...{ workspaceId, actor: { type: 'agent', id: keyId }, mayPublish: !may('inbox.read') },
})

interface Times {
  key_ids?: string[] | null
  valid_from?: string | null
  valid_until?: string | null
}

/** Names fields as the other interface does. */
const renamed = ({ key_ids, valid_from, valid_until }: Times) => ({
  ...(key_ids !== undefined && { keyIds: key_ids }),
  ...(valid_from !== undefined && { validFrom: valid_from }),
  ...(valid_until !== undefined && { validUntil: valid_until }),
})

const depsOf = ({ inbox: { db, clock } }: AgentDeps) => ({ db, clock })

const listArticles = defineTool({
  name: 'list_articles',
  title: 'List articles',
  description: 'Lists articles of any status without their texts, the last changed first.',
  scopes: ['knowledge.write'],
  http: { method: 'GET', path: '/knowledge/articles' },
  input: input({
    status: Type.Optional(oneOf(articleStatuses)),
    kind: Type.Optional(kind),
    language: Type.Optional(language),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
    cursor: Type.Optional(cursor('`next_cursor` of the previous page.')),
  }),
  output: output('ArticlesListed', {
    articles: Type.Array(WrittenArticle, { maxItems: 100 }),
    next_cursor: nullable(cursor('For the next page; null: the end.')),
  }),
  hints: readOnly,
  example: { input: {}, output: { articles: [example], next_cursor: null, next: [] } },
  run: async ({ inbox: { db } }, { workspaceId }, { limit = 50, cursor: from, language: of, ...filter }) => {
    const page = { limit, cursor: from }
    const found = await listAll(db.sql, workspaceId, { ...filter, language: of?.toLowerCase() }, page)
    return { articles: found.articles.map(present), next_cursor: found.next, next: [] }
  },
})

const saveArticle = defineTool({
  name: 'save_article',
  title: 'Create or update an article',
  description:
    'With `source_address`, your own address or id of it, updates the article that was saved with the same one. A new article is a draft unless `publish` is true. A key that can read conversations only writes drafts: a person publishes them.',
  scopes: ['knowledge.write'],
  http: { method: 'POST', path: '/knowledge/articles' },
  input: input({
    source_address: Type.Optional(
      text(limits.address, 'By which it is recognized.', { minLength: 1, example: 'help/returns' }),
    ),
    kind: Type.Optional(kind),
    ...{ language, title, body },
    tags: Type.Optional(tags),
    ...more,
    publish: Type.Optional(Type.Boolean({ default: false, description: 'Publishes it if it is new.' })),
  }),
  output: output('ArticleSaved', {
    article: WrittenArticle,
    action: oneOf(['created', 'updated', 'unchanged'] as const, { description: 'What was done.' }),
  }),
  hints: idempotentChange,
  example: {
    input: {
      ...{ source_address: 'help/returns', language: 'en', title: 'How do I return something?' },
      ...{ body: 'Within **30 days**, in any shop.', tags: ['refund'], publish: true },
    },
    output: { article: example, action: 'updated', next: [] },
  },
  run: async (deps, caller, { source_address: address, publish = false, kind: of = 'article', ...rest }) => {
    const fields: ArticleFields = newFields({ ...rest, ...renamed(rest), kind: of })
    const author = authorOf(caller)
    if (address === undefined) {
      const status = publish ? ('published' as const) : ('draft' as const)
      const created = { fields, status, source: 'api' as const, sourceAddress: null }
      return {
        article: present(await createArticle(depsOf(deps), author, created)),
        action: 'created' as const,
        next: [],
      }
    }
    const options = { source: 'api' as const, isPublishing: publish, isDryRun: false }
    const [saved] = await importArticles(depsOf(deps), author, [{ address, fields }], options)
    if (saved?.article == null || saved.action === 'refused') throw publishedByPeople()
    return { article: present(saved.article), action: saved.action, next: [] }
  },
})

const updateArticle = defineTool({
  name: 'update_article',
  title: 'Change, publish or archive an article',
  description:
    'Absent fields stay as they are. `version` is the one that you have changed: with another one, nothing is changed (409). A key that can read conversations changes only drafts.',
  scopes: ['knowledge.write'],
  http: { method: 'PATCH', path: '/knowledge/articles/:article_id' },
  input: input({
    article_id: uuid('The article.'),
    version: count('From list_articles.', { minimum: 1 }),
    status: Type.Optional(oneOf(articleStatuses, { description: 'Publishes or archives it, or makes it a draft.' })),
    ...Type.Partial(Type.Object({ kind, language, title, body, tags })).properties,
    ...more,
  }),
  output: output('ArticleUpdated', { article: WrittenArticle }),
  hints: idempotentChange,
  example: {
    input: { article_id: exampleIds.article, version: 3, status: 'archived' },
    output: { article: { ...example, status: 'archived' }, next: [] },
  },
  run: async (deps, caller, { article_id, version, status, ...rest }) => {
    const fields = changedFields({ ...rest, ...renamed(rest) })
    const change = { version, status, fields }
    const article = await changeArticle(depsOf(deps), authorOf(caller), article_id.toLowerCase(), change)
    return { article: present(article), next: [] }
  },
})

const publishedByPeople = () =>
  new InvalidInput([
    {
      path: 'source_address',
      message: 'names a published article, which a key that reads conversations cannot change',
    },
  ])

/**
 * Operations for programs that keep knowledge up to date. Agents get no tools for them: what a customer writes must not
 * become knowledge.
 */
export const knowledgeOperations: readonly AgentTool[] = [listArticles, saveArticle, updateArticle]
