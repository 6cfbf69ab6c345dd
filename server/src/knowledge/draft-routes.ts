import { Type } from 'typebox'
import { timestamp, titled } from '../base/route.ts'
import { text, uuid } from '../base/schema-types.ts'
import type { TeamApi } from '../team/team-api.ts'
import { closed, idSchema, workspaceParams } from '../team/team-schema.ts'
import { limits } from './article.ts'
import {
  createConversationDraft,
  type DraftDeps,
  discardDraft,
  findDraft,
  type KnowledgeDraft,
  listDrafts,
  maxDrafts,
  publishDraft,
} from './conversation-draft.ts'
import { KnowledgeArticle, knowledgePath, NewKnowledge, newFields, presentArticle } from './schema.ts'

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
const { status: _status, ...publishedFields } = NewKnowledge.properties

const present = ({ createdAt, ...draft }: KnowledgeDraft) => ({ ...draft, createdAt: createdAt.toISOString() })

/** Routes for articles that are made of conversations: a person rewrites and publishes them, or discards them. */
export function knowledgeDraftRoutes(api: TeamApi, deps: DraftDeps): void {
  api.get(draftsPath, 'member', {
    operationId: 'listArticleDrafts',
    summary: 'List drafts made of conversations',
    description: 'Newest first. They are encrypted, no search finds them, and they are deleted after 90 days.',
    answers: { 200: Type.Object({ drafts: Type.Array(Draft, { maxItems: maxDrafts }) }) },
    allErrors: [400, 401, 404],
    run: async ({ member }) => ({ drafts: (await listDrafts(deps, member.workspaceId)).map(present) }),
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
      draft: present(await createConversationDraft(deps, member, body.conversationId.toLowerCase())),
    }),
  })
  api.get(`${draftsPath}/:draftId`, 'member', {
    operationId: 'getArticleDraft',
    summary: 'Get a draft made of a conversation',
    description: 'Compare it with its conversation before you publish it.',
    params: draftParams,
    answers: { 200: Type.Object({ draft: Draft }) },
    allErrors: [400, 401, 404],
    run: async ({ member, params }) => ({ draft: present(await findDraft(deps, member.workspaceId, params.draftId)) }),
  })
  api.post(`${draftsPath}/:draftId/publish`, 'admin', {
    operationId: 'publishArticleDraft',
    summary: 'Publish an article made of a conversation',
    description: 'For admins. Publishes the text of the request, which a person has checked, and removes the draft.',
    params: draftParams,
    body: Type.Object(publishedFields, closed),
    answers: { 201: Type.Object({ article: KnowledgeArticle }) },
    errors: [409],
    run: async ({ member, params, body }) => ({
      article: presentArticle(await publishDraft(deps, member, params.draftId, newFields(body))),
    }),
  })
  api.delete(`${draftsPath}/:draftId`, 'member', {
    operationId: 'deleteArticleDraft',
    summary: 'Discard a draft made of a conversation',
    description: 'The conversation stays.',
    params: draftParams,
    run: ({ member, params }) => discardDraft(deps, member, params.draftId),
  })
}
