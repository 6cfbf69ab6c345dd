import { Type } from 'typebox'
import type { App } from '../base/route.ts'
import { count, cursor, page, text, visiblePattern } from '../base/schema-types.ts'
import type { TeamGuard } from '../team/member.ts'
import { type TeamApi, teamApi } from '../team/team-api.ts'
import { idSchema, workspaceParams } from '../team/team-schema.ts'
import { articleNotFound, findArticle, findVersion, listArticles, listVersions } from './article.ts'
import type { DraftDeps } from './conversation-draft.ts'
import { knowledgeDraftRoutes } from './draft-routes.ts'
import { type ImportDeps, importRoutes } from './import/import-routes.ts'
import {
  changedFields,
  FoundKnowledge,
  KnowledgeArticle,
  KnowledgeChanges,
  KnowledgeHead,
  KnowledgeVersion,
  KnowledgeVersions,
  kind,
  knowledgePath,
  language,
  NewKnowledge,
  newFields,
  presentArticle,
  presentFound,
  presentHead,
  presentVersion,
  status,
} from './schema.ts'
import { maxQuery } from './search.ts'
import { type SearchDeps, searchKnowledge } from './search-knowledge.ts'
import { authorOf, changeArticle, createArticle, deleteArticle } from './write-article.ts'

const articlePath = `${knowledgePath}/articles/:articleId`
const articleParams = { ...workspaceParams, articleId: idSchema('The article.') }

const oneArticle = Type.Object({ article: KnowledgeArticle })
const filters = { status: Type.Optional(status), kind: Type.Optional(kind), language: Type.Optional(language) }

export type KnowledgeTeamDeps = DraftDeps & SearchDeps & ImportDeps

export function knowledgeTeamRoutes(app: App, deps: KnowledgeTeamDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Knowledge')
  listRoute(api, deps)
  searchRoute(api, deps)
  readRoutes(api, deps)
  writeRoutes(api, deps)
  knowledgeDraftRoutes(api, deps)
  importRoutes(api, deps)
}

function listRoute(api: TeamApi, { db }: KnowledgeTeamDeps): void {
  api.get(`${knowledgePath}/articles`, 'member', {
    operationId: 'listArticles',
    summary: 'List articles',
    description: 'The last changed first, without their texts.',
    query: Type.Object({
      ...filters,
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
      cursor: Type.Optional(cursor('`next` of the previous page.')),
    }),
    answers: {
      200: Type.Object({
        articles: Type.Array(KnowledgeHead, page),
        next: Type.Union([cursor('Value for `cursor`; null at the end.'), Type.Null()]),
      }),
    },
    allErrors: [400, 401, 404],
    run: async ({ member, query }) => {
      const { limit = 50, cursor: from, ...filter } = query
      const found = await listArticles(db.sql, member.workspaceId, lowerCase(filter), { limit, cursor: from })
      return { articles: found.articles.map(presentHead), next: found.next }
    },
  })
}

function searchRoute(api: TeamApi, deps: KnowledgeTeamDeps): void {
  api.get(`${knowledgePath}/search`, 'member', {
    operationId: 'searchArticles',
    summary: 'Search articles',
    description:
      'The best first: articles with all words, then with some. Finds what agents can find now: published articles that are valid, for any key. With `all`, every article, also drafts.',
    query: Type.Object({
      query: text(maxQuery, 'Words, or a question. `or` and `-` work as in search engines.', {
        minLength: 1,
        pattern: visiblePattern,
        example: 'return shoes',
      }),
      ...filters,
      all: Type.Optional(Type.Boolean({ default: false, description: 'Also drafts and what is not valid now.' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 10 })),
    }),
    answers: { 200: Type.Object({ articles: Type.Array(FoundKnowledge, { maxItems: 50 }) }) },
    allErrors: [400, 401, 404],
    run: async ({ member, query }) => {
      const { query: words, all = false, limit = 10, status: withStatus, ...more } = query
      const reader = { workspaceId: member.workspaceId, keyId: null, now: deps.clock.now() }
      const scope = all ? { ...reader, filter: { status: withStatus } } : reader
      const found = await searchKnowledge(deps, scope, { query: words, limit, ...lowerCase(more) })
      return { articles: found.map(presentFound) }
    },
  })
}

function readRoutes(api: TeamApi, { db }: KnowledgeTeamDeps): void {
  api.get(articlePath, 'member', {
    operationId: 'getArticle',
    summary: 'Get an article',
    description: 'With its text and the list of its versions.',
    params: Type.Object(articleParams),
    answers: { 200: Type.Object({ article: KnowledgeArticle, versions: KnowledgeVersions }) },
    allErrors: [400, 401, 404],
    run: async ({ member: { workspaceId }, params }) => {
      const article = await findArticle(db.sql, workspaceId, params.articleId)
      if (article === undefined) throw articleNotFound()
      const versions = await listVersions(db.sql, workspaceId, article.id)
      return { article: presentArticle(article), versions: versions.map(presentVersion) }
    },
  })
  api.get(`${articlePath}/versions/:version`, 'member', {
    operationId: 'getArticleVersion',
    summary: 'Get a version of an article',
    description: 'As an answer that cites it has used it.',
    params: Type.Object({ ...articleParams, version: count('The version.', { minimum: 1, example: 3 }) }),
    answers: { 200: Type.Object({ version: KnowledgeVersion }) },
    allErrors: [400, 401, 404],
    run: async ({ member: { workspaceId }, params }) => {
      const version = await findVersion(db.sql, workspaceId, params.articleId, params.version)
      if (version === undefined) throw articleNotFound()
      return { version: presentVersion(version) }
    },
  })
}

function writeRoutes(api: TeamApi, deps: KnowledgeTeamDeps): void {
  api.post(`${knowledgePath}/articles`, 'member', {
    operationId: 'createArticle',
    summary: 'Create an article',
    description: 'A draft, unless `status` says otherwise. Only admins publish.',
    body: NewKnowledge,
    answers: { 201: oneArticle },
    errors: [409],
    run: async ({ member, body }) => {
      const { status: withStatus = 'draft', ...input } = body
      const created = { fields: newFields(input), status: withStatus, source: 'app' as const, sourceAddress: null }
      return { article: presentArticle(await createArticle(deps, authorOf(member), created)) }
    },
  })
  api.patch(articlePath, 'member', {
    operationId: 'updateArticle',
    summary: 'Change, publish or archive an article',
    description:
      'A change of its fields is a new version; absent fields stay as they are. Members change drafts; admins also publish, archive and change what is published.',
    params: Type.Object(articleParams),
    body: KnowledgeChanges,
    answers: { 200: oneArticle },
    errors: [409],
    run: async ({ member, params, body }) => {
      const { version, status: toStatus, ...input } = body
      const change = { version, status: toStatus, fields: changedFields(input) }
      return { article: presentArticle(await changeArticle(deps, authorOf(member), params.articleId, change)) }
    },
  })
  api.delete(articlePath, 'admin', {
    operationId: 'deleteArticle',
    summary: 'Delete an article',
    description: 'For admins. Answers that cite it keep its title. Archive it instead to keep its text.',
    params: Type.Object(articleParams),
    run: ({ member, params }) => deleteArticle(deps, authorOf(member), params.articleId),
  })
}

const lowerCase = <F extends { language?: string }>(filter: F): F => ({
  ...filter,
  ...(filter.language !== undefined && { language: filter.language.toLowerCase() }),
})
