import { Type } from 'typebox'
import { type App, timestamp, titled } from '../base/route.ts'
import { count, cursor, page, text, uuid, visiblePattern } from '../base/schema-types.ts'
import type { TeamGuard } from '../team/member.ts'
import { type TeamApi, teamApi } from '../team/team-api.ts'
import { closed, idSchema, workspaceParams } from '../team/team-schema.ts'
import { articleNotFound, findArticle, findVersion, limits, listArticles, listVersions } from './article.ts'
import type { DraftDeps, KnowledgeDraft } from './conversation-draft.ts'
import * as drafts from './conversation-draft.ts'
import { type ImportDeps, importRoutes } from './import/import-routes.ts'
import * as schema from './schema.ts'
import { knowledgePath, newFields, presentArticle, presentVersion } from './schema.ts'
import { maxQuery, type SearchDeps, searchKnowledge } from './search.ts'
import { authorOf, changeArticle, createArticle, deleteArticle } from './write-article.ts'

const articlePath = `${knowledgePath}/articles/:articleId`
const articleParams = { ...workspaceParams, articleId: idSchema('The article.') }

const oneArticle = Type.Object({ article: schema.KnowledgeArticle })
const filters = {
  status: Type.Optional(schema.status),
  kind: Type.Optional(schema.kind),
  language: Type.Optional(schema.language),
}

export type KnowledgeTeamDeps = DraftDeps & SearchDeps & ImportDeps

export function knowledgeTeamRoutes(app: App, deps: KnowledgeTeamDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Knowledge')
  listRoute(api, deps)
  searchRoute(api, deps)
  readRoutes(api, deps)
  writeRoutes(api, deps)
  draftRoutes(api, deps)
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
        articles: Type.Array(schema.KnowledgeHead, page),
        next: Type.Union([cursor('Value for `cursor`; null at the end.'), Type.Null()]),
      }),
    },
    allErrors: [400, 401, 404],
    run: async ({ member, query }) => {
      const { limit = 50, cursor: from, ...filter } = query
      const found = await listArticles(db.sql, member.workspaceId, lowerCase(filter), { limit, cursor: from })
      return { articles: found.articles.map(presentArticle), next: found.next }
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
    answers: { 200: Type.Object({ articles: Type.Array(schema.FoundKnowledge, { maxItems: 50 }) }) },
    allErrors: [400, 401, 404],
    run: async ({ member, query }) => {
      const { query: words, all = false, limit = 10, status: withStatus, ...more } = query
      const reader = { workspaceId: member.workspaceId, keyId: null, now: deps.clock.now() }
      const scope = all ? { ...reader, filter: { status: withStatus } } : reader
      const found = await searchKnowledge(deps, scope, { query: words, limit, ...lowerCase(more) })
      return { articles: found.map(presentArticle) }
    },
  })
}

function readRoutes(api: TeamApi, { db }: KnowledgeTeamDeps): void {
  api.get(articlePath, 'member', {
    operationId: 'getArticle',
    summary: 'Get an article',
    description: 'With its text and the list of its versions.',
    params: Type.Object(articleParams),
    answers: { 200: Type.Object({ article: schema.KnowledgeArticle, versions: schema.KnowledgeVersions }) },
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
    answers: { 200: Type.Object({ version: schema.KnowledgeVersion }) },
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
    body: schema.NewKnowledge,
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
    body: schema.KnowledgeChanges,
    answers: { 200: oneArticle },
    errors: [409],
    run: async ({ member, params, body }) => {
      const { version, status: toStatus, ...input } = body
      const change = { version, status: toStatus, fields: schema.changedFields(input) }
      return { article: presentArticle(await changeArticle(deps, authorOf(member), params.articleId, change)) }
    },
  })
  api.delete(articlePath, 'admin', {
    operationId: 'deleteArticle',
    summary: 'Delete an article',
    description: 'For admins. Answers that cite it keep its title. Archive it instead to keep its text.',
    params: Type.Object(articleParams),
    run: ({ member, params }) => deleteArticle(deps, member, params.articleId),
  })
}

const lowerCase = <F extends { language?: string }>(filter: F): F => ({
  ...filter,
  ...(filter.language !== undefined && { language: filter.language.toLowerCase() }),
})

const draftsPath = `${knowledgePath}/drafts`
const draftParams = Type.Object({ ...workspaceParams, draftId: idSchema('The draft.') })

const Draft = titled('KnowledgeDraft', {
  id: idSchema('The draft.'),
  conversationId: idSchema('The conversation that it is made of.'),
  title: text(limits.title, 'What the customer asked.'),
  body: text(
    limits.body,
    'What was said, in Markdown: the customer in quotes. Phone numbers, e-mail addresses and names are removed.',
  ),
  createdAt: timestamp('Creation time.'),
})
const { status: _status, ...publishedFields } = schema.NewKnowledge.properties

const presentDraft = ({ createdAt, ...draft }: KnowledgeDraft) => ({ ...draft, createdAt: createdAt.toISOString() })

/** Routes for articles that are made of conversations: a person rewrites and publishes them, or discards them. */
function draftRoutes(api: TeamApi, deps: DraftDeps): void {
  api.get(draftsPath, 'member', {
    operationId: 'listArticleDrafts',
    summary: 'List drafts made of conversations',
    description: 'Newest first. They are encrypted, no search finds them, and they are deleted after 90 days.',
    answers: { 200: Type.Object({ drafts: Type.Array(Draft, { maxItems: drafts.maxDrafts }) }) },
    allErrors: [400, 401, 404],
    run: async ({ member }) => ({ drafts: (await drafts.listDrafts(deps, member.workspaceId)).map(presentDraft) }),
  })
  api.post(draftsPath, 'member', {
    operationId: 'createArticleDraft',
    summary: 'Make a draft of a resolved conversation',
    description:
      'Without phone numbers, e-mail addresses and the name of the customer. A conversation has at most one draft: repeating the call returns it.',
    body: Type.Object({ conversationId: uuid('The conversation.') }, closed),
    answers: { 201: Type.Object({ draft: Draft }) },
    errors: [409],
    run: async ({ member, body }) => ({
      draft: presentDraft(await drafts.createConversationDraft(deps, member, body.conversationId.toLowerCase())),
    }),
  })
  api.get(`${draftsPath}/:draftId`, 'member', {
    operationId: 'getArticleDraft',
    summary: 'Get a draft made of a conversation',
    description: 'Compare it with its conversation before you publish it.',
    params: draftParams,
    answers: { 200: Type.Object({ draft: Draft }) },
    allErrors: [400, 401, 404],
    run: async ({ member, params }) => ({
      draft: presentDraft(await drafts.findDraft(deps, member.workspaceId, params.draftId)),
    }),
  })
  api.post(`${draftsPath}/:draftId/publish`, 'admin', {
    operationId: 'publishArticleDraft',
    summary: 'Publish an article made of a conversation',
    description: 'For admins. Publishes the text of the request, which a person has checked, and removes the draft.',
    params: draftParams,
    body: Type.Object(publishedFields, closed),
    answers: { 201: Type.Object({ article: schema.KnowledgeArticle }) },
    errors: [409],
    run: async ({ member, params, body }) => ({
      article: presentArticle(await drafts.publishDraft(deps, member, params.draftId, newFields(body))),
    }),
  })
  api.delete(`${draftsPath}/:draftId`, 'member', {
    operationId: 'deleteArticleDraft',
    summary: 'Discard a draft made of a conversation',
    description: 'The conversation stays.',
    params: draftParams,
    run: ({ member, params }) => drafts.discardDraft(deps, member, params.draftId),
  })
}
