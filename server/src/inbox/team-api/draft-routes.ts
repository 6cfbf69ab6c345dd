import { type Static, Type } from 'typebox'
import { nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { page, text, visiblePattern } from '../../base/schema-types.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { idSchema } from '../../team/team-schema.ts'
import { strict } from '../api/schema.ts'
import { decryptConversation } from '../conversation/encrypted-conversation.ts'
import { requireConversation } from '../conversation/queries.ts'
import { approvalReasons } from '../drafts/approval-rules.ts'
import { approveDraft, rejectDraft } from '../drafts/decide-draft.ts'
import { type Draft, type DraftBody, findOpenDraft, listOpenDrafts, maxListed, textOf } from '../drafts/draft.ts'
import { type Names, readNames } from '../read/names.ts'
import type { SendDeps } from '../send/send-deps.ts'
import type { TemplateChoice } from '../send/send-schema.ts'
import { draftConflict, Sent, sendErrors } from '../send/send-schema.ts'
import { parseSendOutcome } from '../send/settle-parts.ts'
import { TeamConversationParams } from './inbox-schema.ts'
import { MessageSources } from './media-schema.ts'
import { conversationsPath, inboxPath, requireInbox } from './present-conversation.ts'

export const DraftTemplate = nullable(
  titled('TeamDraftTemplate', {
    name: text(512, 'Name of the template.'),
    language: text(20, 'Its language.', { example: 'en_US' }),
    parameters: Type.Array(text(2000, 'A value.'), {
      maxItems: 120,
      description: 'What it is filled with: header, body, buttons.',
    }),
  }),
)

const TeamDraft = titled('TeamDraft', {
  id: idSchema('The draft.'),
  keyId: idSchema('Key of the agent that proposes it.'),
  keyName: nullable(text(100, 'Its name.', { example: 'Support agent' })),
  why: oneOf(approvalReasons, {
    description:
      'The rule of the key by which it needs approval: `always`, `outside_hours`, `first_answer`, `label` of the conversation, or an `amount` of money.',
  }),
  kind: text(20, 'Kind of message, as in a send.', { example: 'text' }),
  text: nullable(text(16_384, 'Its text, which can be changed; null: it has none.')),
  template: DraftTemplate,
  options: Type.Array(text(100, 'Title of a button or row.'), {
    maxItems: 20,
    description: 'What it offers to choose.',
  }),
  uploadId: nullable(idSchema('The file that it sends.')),
  sources: MessageSources,
  createdAt: timestamp('When it was proposed.'),
})

function presentDraft(draft: Draft, names: Names): Static<typeof TeamDraft> {
  const { id, keyId, why, content } = draft
  const { body } = content
  return {
    ...{ id, keyId, keyName: names('agent', keyId), why, kind: body.kind },
    text: textOf(body),
    template: templateOf(body),
    options: body.kind === 'choices' ? optionsOf(body.choices as ChoicesBody) : [],
    uploadId: uploadOf(body),
    sources: [...(content.sources ?? [])],
    createdAt: draft.createdAt.toISOString(),
  }
}

// The bodies were validated when the agent proposed them.
type TemplateBody = TemplateChoice & { header_upload_id?: string }

interface ChoicesBody {
  buttons?: { title: string }[]
  list?: { rows: { title: string }[] }
}

/** Returns the template of a body that was validated as a send; null for other kinds. */
export function templateOf({ kind, template }: DraftBody): Static<typeof DraftTemplate> {
  if (kind !== 'template') return null
  const {
    name,
    language,
    body_params = [],
    header_param,
    header_url,
    header_location,
    button_params = [],
  } = template as TemplateBody
  const { name: place, address, latitude, longitude } = header_location ?? {}
  const degrees = latitude === undefined ? undefined : `${latitude}, ${longitude}`
  const header = [header_param, header_url, place, address, degrees].filter((value) => value !== undefined)
  return { name, language, parameters: [...header, ...body_params, ...button_params] }
}

/** Returns the file that a body sends, or with which a template begins. */
function uploadOf({ upload_id, template }: DraftBody): string | null {
  const id = upload_id ?? (template as TemplateBody | undefined)?.header_upload_id
  return typeof id === 'string' ? id : null
}

const optionsOf = ({ buttons, list }: ChoicesBody): string[] => (buttons ?? list?.rows ?? []).map(({ title }) => title)

const DraftParams = Type.Object({ ...TeamConversationParams.properties, draftId: idSchema('The draft.') })

const Approval = strict({
  text: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 16_384,
      pattern: visiblePattern,
      description: 'Sent in place of the drafted text.',
      example: 'It left this morning, and arrives on Friday.',
    }),
  ),
})

const Rejection = strict({
  reason: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1000,
      pattern: visiblePattern,
      description: 'For the agent: what to do differently.',
      example: 'The refund takes five days, not two.',
    }),
  ),
})

/** Routes for people: the drafts of agents, and the decisions on them. */
export function draftRoutes(api: TeamApi, deps: SendDeps): void {
  api.get(`${inboxPath}/drafts`, 'member', {
    operationId: 'listDrafts',
    summary: 'List conversations with a draft to approve',
    description: `Longest waiting first, at most ${maxListed}. A draft that no longer answers its conversation is left out.`,
    answers: {
      200: Type.Object({
        drafts: Type.Array(
          titled('WaitingDraft', {
            id: idSchema('The draft.'),
            conversationId: idSchema('Its conversation.'),
            createdAt: timestamp('When it was proposed.'),
          }),
          page,
        ),
      }),
    },
    allErrors: [400, 401, 404],
    run: async ({ member }) => ({ drafts: await listOpenDrafts(deps.db.sql, member.workspaceId) }),
  })
  api.get(`${conversationsPath}/:id/draft`, 'member', {
    operationId: 'getDraft',
    summary: 'Retrieve the draft of a conversation',
    description: 'The answer that its agent proposes and people can approve now; null if there is none.',
    params: TeamConversationParams,
    answers: { 200: Type.Object({ draft: nullable(TeamDraft) }) },
    allErrors: [400, 401, 404],
    run: async ({ member: { workspaceId }, params }) => {
      const keyring = await deps.keyStore.keyring(workspaceId)
      const row = await requireConversation(deps.db.sql, { workspaceId, connectionIds: [] }, params.id)
      const work = { sql: deps.db.sql, keyring, workspaceId }
      const draft = await findOpenDraft(work, decryptConversation(keyring, row))
      if (draft === null) return { draft }
      return { draft: presentDraft(draft, await readNames(deps, workspaceId, [{ type: 'agent', id: draft.keyId }])) }
    },
  })
  api.post(`${conversationsPath}/:id/drafts/:draftId/approve`, 'member', {
    operationId: 'approveDraft',
    summary: 'Send the draft of an agent',
    description:
      'Sends it in the name of the agent, which keeps the conversation, as it is or with another `text`. A draft becomes at most one message: repeating the call returns the first response. The window, the connection and budgets are judged now.',
    params: DraftParams,
    body: Approval,
    answers: { 202: Sent, ...sendErrors, 409: draftConflict },
    errors: [429, 503],
    run: async ({ member, params, body, reply }) => {
      requireInbox(member)
      const sent = await approveDraft(deps, member, {
        ...{ conversationId: params.id, draftId: params.draftId.toLowerCase(), text: body.text ?? null },
      })
      if (sent.isReplay) reply.header('idempotent-replayed', 'true')
      return parseSendOutcome(sent)
    },
  })
  api.post(`${conversationsPath}/:id/drafts/:draftId/reject`, 'member', {
    operationId: 'rejectDraft',
    summary: 'Reject the draft of an agent',
    description: 'The customer gets nothing. The agent gets the reason and can propose another answer.',
    params: DraftParams,
    body: Rejection,
    answers: { 200: titled('DraftRejected', { success: Type.Boolean() }), 409: draftConflict },
    run: async ({ member, params, body }) => {
      const { id: conversationId, draftId } = params
      const reason = body.reason?.trim() || null
      requireInbox(member)
      await rejectDraft(deps, member, { conversationId, draftId: draftId.toLowerCase(), reason })
      return { success: true }
    },
  })
}
