import { createHash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { ApiError, invalid } from '../../base/errors.ts'
import { nullable, oneOf } from '../../base/route.ts'
import { text, uuid, visiblePattern } from '../../base/schema-types.ts'
import { promptTypes } from '../../channels/prompts.ts'
import { closed } from '../../inbox/api/schema.ts'
import type { Conversation } from '../../inbox/conversation/conversation.ts'
import type { SeenPosition } from '../../inbox/conversation/conversation-state.ts'
import { findInboundMarks, findNewestInbound, isMessageOf } from '../../inbox/conversation/message-queries.ts'
import { keyIdOf } from '../../inbox/conversation/owner.ts'
import { loadConversation } from '../../inbox/conversation/queries.ts'
import type { DraftBody } from '../../inbox/drafts/draft.ts'
import { type DraftProposal, proposeDraft } from '../../inbox/drafts/propose-draft.ts'
import { findUploadDigest } from '../../inbox/media/attached-uploads.ts'
import { sendReadReceiptFor } from '../../inbox/read/mark-read.ts'
import { readDetails } from '../../inbox/read/read-details.ts'
import { readUnanswered } from '../../inbox/read/read-messages.ts'
import { promptFields } from '../../inbox/send/prompt-schema.ts'
import { ApprovalNeeded, CustomerWroteAgain } from '../../inbox/send/send-errors.ts'
import { ChoicesSend, TemplateToStart } from '../../inbox/send/send-schema.ts'
import { parseSendOutcome } from '../../inbox/send/settle-parts.ts'
import { citeArticles } from '../../knowledge/article.ts'
import { type AgentCaller, type AgentDeps, defineTool, idempotencyKey, input, output } from '../define-tool.ts'
import { notOwnerError, waitForWork } from '../presenters/conversation.ts'
import { exampleIds } from '../presenters/examples.ts'
import {
  AgentDraft,
  AgentMessage,
  draftHint,
  presentDraft,
  presentMessage,
  priceFields,
  priceOfSend,
} from '../presenters/message.ts'
import { readViewerContext, scopeOf, senderOf } from '../presenters/viewer.ts'
import { Sources } from './knowledge.ts'

/** Content of an answer: exactly one of these fields, besides the quoted message. */
const contentFields = {
  text: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 16_384,
      pattern: visiblePattern,
      description:
        'Sent unchanged; above 4,096 characters it is cut into at most `max_parts` of who_am_i. Send exactly one of this and the other kinds of content.',
    }),
  ),
  file: Type.Optional(
    Type.Object(
      {
        upload_id: uuid('From upload_file, for this conversation.'),
        caption: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 1024,
            pattern: visiblePattern,
            description: 'Caption of an image, a video or a document.',
            example: 'Your invoice for May.',
          }),
        ),
      },
      { ...closed, title: 'FileAnswer' },
    ),
  ),
  choices: Type.Optional(ChoicesSend.properties.choices),
  link: Type.Optional(promptFields.link),
  location_request: Type.Optional(promptFields.location_request),
  contact_request: Type.Optional(promptFields.contact_request),
  address_request: Type.Optional(promptFields.address_request),
  flow: Type.Optional(promptFields.flow),
  template: Type.Optional(
    Type.Object(
      {
        ...TemplateToStart.properties,
        header_upload_id: Type.Optional(uuid('From upload_file: the file of a `header`.')),
      },
      { ...closed, title: 'TemplateAnswer' },
    ),
  ),
  quoted_message_id: Type.Optional(uuid('The message to quote above the answer.')),
}

const maxNewMessages = 10

const Input = input({
  conversation_id: uuid('A conversation of yours.'),
  ...contentFields,
  after_message_id: Type.Optional(
    uuid(
      'The newest message that you have seen. If the customer has written since, nothing is sent: 409 CUSTOMER_WROTE_AGAIN returns what they wrote.',
    ),
  ),
  sources: Type.Optional(Sources),
  idempotency_key: Type.Optional(idempotencyKey),
})

export const answer = defineTool({
  name: 'answer',
  title: 'Answer the customer',
  description:
    'Sends the customer a text, a file, a text with buttons or a list, a text with one button (link, location_request, contact_request, address_request, flow), or an approved template, which alone can be sent after the 24-hour window. Only in a conversation of yours; it cannot be undone. The same content is sent once until you have seen a newer customer message: `was_new` says whether this call sent it. `arrived_meanwhile`: customer messages that still need an answer.',
  scopes: ['inbox.write'],
  http: { method: 'POST', path: '/conversations/:conversation_id/answer' },
  input: Input,
  output: output('Answered', {
    message_id: nullable(uuid('The message; null: it is a draft.')),
    status: oneOf(['sent', 'failed', 'drafted'] as const, {
      description:
        'Result from the platform. `drafted`: a person must approve what you send (see `draft`); wait_for_work returns the decision.',
    }),
    was_new: Type.Boolean({ description: 'False: an earlier call sent or drafted it; this one did nothing.' }),
    draft: nullable(AgentDraft),
    ...priceFields,
    idempotency_key: text(255, 'The key of this send.'),
    arrived_meanwhile: Type.Array(AgentMessage, {
      maxItems: maxNewMessages,
      description: 'Customer messages that this does not answer, oldest first.',
    }),
  }),
  hints: { isReadOnly: false, isDestructive: true, isIdempotent: true },
  example: {
    input: { conversation_id: exampleIds.conversation, text: 'It left our warehouse this morning.' },
    output: {
      message_id: exampleIds.message,
      status: 'sent',
      was_new: true,
      draft: null,
      parts: 1,
      billable: null,
      idempotency_key: 'agent:6Zq0Zk9eJm2h',
      arrived_meanwhile: [],
      next: ['Call wait_for_work for the next customer.'],
    },
  },
  run: async (deps, caller, args) => {
    const id = args.conversation_id.toLowerCase()
    const { body, isWhole, uploadId, identity } = await readContent(deps, caller, id, args)
    const seen = await seenPosition(deps, caller, id, args.after_message_id?.toLowerCase())
    const sources = await citedSources(deps, caller, args.sources)
    const key = args.idempotency_key ?? answerKey(id, seen?.id ?? null, identity)
    const whole = isWhole && { syntax: 'whole' as const, ...(identity !== body && { identity }) }
    const request = {
      conversationId: id,
      idempotencyKey: key,
      body,
      ...whole,
      ...sources,
      ...(seen !== null && { seen }),
    }
    const explain = async (error: unknown) => {
      if (error instanceof CustomerWroteAgain && seen !== null) throw await wroteAgain(deps, caller, id, seen)
      return explainOwnership(deps, caller, id, error)
    }
    const sent = await deps.send(senderOf(caller), request).catch((error) => {
      if (!(error instanceof ApprovalNeeded)) return explain(error)
      const content = {
        key,
        body: body as DraftBody,
        syntax: isWhole ? ('whole' as const) : null,
        identity,
        ...sources,
      }
      return draftAnswer(deps, caller, {
        conversationId: id,
        content,
        why: error.why,
        seen,
      }).catch(explain)
    })
    if (!('body' in sent)) return sent
    // The upload of a repeated call is not needed; unless deleted, it counts against the limit until it expires.
    if (sent.isReplay && uploadId !== null) await deps.uploads.delete(caller, id, uploadId)
    // Identical content counts as the same, no matter which message it quotes.
    if (sent.isUnsolicited && args.template === undefined)
      deps.circuitBreaker.recordUnsolicited(caller, id, { ...identity, quoted_message_id: undefined })
    const { message_id, status } = parseSendOutcome(sent)
    const [arrived, price] = await Promise.all([
      sent.leavesUnseen || sent.isReplay ? readNewMessages(deps, caller, id) : [],
      priceOfSend(deps, caller, id, message_id, sent),
      sent.readsMessages && seen !== null ? sendReadReceiptFor(deps.inbox, scopeOf(caller), id, seen.id) : null,
    ])
    return {
      message_id,
      status,
      was_new: !sent.isReplay,
      draft: null,
      ...price,
      idempotency_key: key,
      arrived_meanwhile: arrived,
      next: nextSteps(status, sent.isReplay, args.idempotency_key !== undefined, arrived.length > 0),
    }
  },
})

/** Returns the cited articles, as part of a send. Throws 400 for one that the key cannot read. */
async function citedSources({ knowledge, inbox }: AgentDeps, caller: AgentCaller, sources: Sources = []) {
  if (sources.length === 0) return {}
  if (!caller.may('knowledge.read')) throw invalid('sources', 'requires the scope knowledge.read')
  const reader = { workspaceId: caller.workspaceId, keyId: caller.keyId, now: inbox.clock.now() }
  return { sources: await citeArticles(knowledge.db.sql, reader, sources) }
}

/** Proposes an answer to people in place of sending it. */
async function draftAnswer(deps: AgentDeps, caller: AgentCaller, proposal: DraftProposal) {
  const { draft, isNew } = await proposeDraft(deps.inbox, senderOf(caller), proposal)
  return {
    message_id: draft.messageId,
    status: 'drafted' as const,
    was_new: isNew,
    draft: presentDraft(draft, await readViewerContext(deps, caller)),
    ...{ parts: 0, billable: null, idempotency_key: proposal.content.key, arrived_meanwhile: [] },
    next: [draftHint(draft), 'Do not tell the customer anything meanwhile.', waitForWork],
  }
}

/** Replaces the `OWNER_MISMATCH` error of the contract by one with the owner, the time and what to do. */
export async function explainOwnership(
  deps: AgentDeps,
  caller: AgentCaller,
  id: string,
  error: unknown,
): Promise<never> {
  if (!(error instanceof ApiError) || error.data?.code !== 'OWNER_MISMATCH' || error.data.owner !== undefined)
    throw error
  throw notOwnerError(await loadConversation(deps.inbox, caller, id))
}

/** Returns the error with what the customer has written; throws if the conversation is no longer the caller's. */
async function wroteAgain(deps: AgentDeps, caller: AgentCaller, id: string, seen: SeenPosition) {
  const conversation = await loadConversation(deps.inbox, caller, id)
  if (keyIdOf(conversation.owner) !== caller.keyId) throw notOwnerError(conversation)
  const inbound = { ...conversation.inbound, answered: seen.id }
  const arrived = await presentNewMessages(deps, caller, { ...conversation, inbound })
  return new CustomerWroteAgain({ arrived_meanwhile: arrived })
}

/** Reads unanswered customer messages, if the caller still owns the conversation. */
async function readNewMessages(deps: AgentDeps, caller: AgentCaller, id: string) {
  const conversation = await loadConversation(deps.inbox, caller, id)
  if (keyIdOf(conversation.owner) !== caller.keyId || conversation.unansweredSince === null) return []
  return presentNewMessages(deps, caller, conversation)
}

/** Returns the newest unanswered customer messages, oldest first. */
async function presentNewMessages(deps: AgentDeps, caller: AgentCaller, conversation: Conversation) {
  const { workspaceId } = caller
  const viewer = await readViewerContext(deps, caller)
  const reader = { sql: deps.inbox.db.sql, keyring: viewer.keyring, workspaceId }
  const messages = await readUnanswered(reader, conversation, maxNewMessages)
  const details = await readDetails(deps.inbox, workspaceId, messages)
  // Customer messages have no `from_name`.
  return messages.map((message) => presentMessage(message, viewer, () => null, details))
}

function nextSteps(status: 'sent' | 'failed', isReplay: boolean, hasOwnKey: boolean, hasArrived: boolean): string[] {
  if (status === 'failed') {
    return [
      'The platform rejected it. Call read_conversation: error_code says why.',
      `To try again, ${hasOwnKey ? 'use another' : 'send an'} idempotency_key; or call hand_over.`,
    ]
  }
  const repeat = `Nothing was sent: the customer already has this content. To send it again, ${hasOwnKey ? 'use another' : 'send an'} idempotency_key.`
  const arrived =
    'The customer has written again and is waiting: read arrived_meanwhile, then answer with its last id as after_message_id, or resolve.'
  return [
    ...(isReplay ? [repeat] : []),
    ...(hasArrived ? [arrived] : []),
    waitForWork,
    'Call resolve if nothing is left to do, or hand_over if a person should take over.',
  ]
}

const AnswerContent = Type.Object(contentFields)

interface AnswerContent {
  body: object
  /** It uses features beyond those of the contract's send. */
  isWhole: boolean
  uploadId: string | null
  /** Content that decides whether two answers are equal: a file counts by its digest, not by its upload. */
  identity: object
}

/** Throws 400 unless exactly one kind of content is set. */
async function readContent(
  { inbox }: AgentDeps,
  { workspaceId }: AgentCaller,
  conversationId: string,
  args: Static<typeof AnswerContent>,
): Promise<AnswerContent> {
  const { text, file, choices, template, quoted_message_id: quoted } = args
  const prompts = promptTypes.filter((type) => args[type] !== undefined)
  const kinds = [text, file, choices, template].filter((one) => one !== undefined)
  if (kinds.length + prompts.length !== 1) {
    throw invalid('text', `or exactly one of file, choices, ${promptTypes.join(', ')} and template is required`)
  }
  const uploadId = (file?.upload_id ?? template?.header_upload_id)?.toLowerCase() ?? null
  const body = bodyOf(args, uploadId)
  const { header_param, header_url, header_location, button_params } = template ?? {}
  const hasInputs = [header_param, header_url, header_location, button_params].some((value) => value !== undefined)
  const isWhole =
    [quoted, choices].some((one) => one !== undefined) || prompts.length > 0 || uploadId !== null || hasInputs
  const digest = uploadId === null ? null : await findUploadDigest(inbox, workspaceId, conversationId, uploadId)
  return { body, isWhole, uploadId, identity: digest === null ? body : bodyOf(args, digest) }
}

function bodyOf(args: Static<typeof AnswerContent>, file: string | null): object {
  const { quoted_message_id: quoted } = args
  return { ...identityOf(args, file), ...(quoted !== undefined && { quoted_message_id: quoted }) }
}

function identityOf(args: Static<typeof AnswerContent>, upload: string | null): object {
  const { text, file, choices, template } = args
  const prompt = promptTypes.find((type) => args[type] !== undefined)
  if (prompt !== undefined) return { kind: prompt, [prompt]: args[prompt] }
  if (text !== undefined) return { kind: 'text', text }
  if (choices !== undefined) return { kind: 'choices', choices }
  const { caption } = file ?? {}
  if (file !== undefined) return { kind: 'media', upload_id: upload, ...(caption !== undefined && { text: caption }) }
  return { kind: 'template', template: { ...template, ...(upload !== null && { header_upload_id: upload }) } }
}

/**
 * Returns the default idempotency key of an answer. The same content in the same state of the conversation, as the
 * agent has seen it, is a repeat, such as a retry after a lost response.
 */
export function answerKey(conversationId: string, state: unknown, content: unknown): string {
  const contentDigest = JSON.stringify([conversationId, state, content])
  return `agent:${createHash('sha256').update(contentDigest).digest('base64url')}`
}

/**
 * Returns up to which message the agent has seen the conversation: the `named` message, else the newest one it was
 * shown. If it was shown none since it owns the conversation, the newest one there is. Null if the customer has written
 * nothing. Throws 400 for a message of another conversation.
 */
async function seenPosition(deps: AgentDeps, caller: AgentCaller, conversationId: string, named: string | undefined) {
  const { sql } = deps.inbox.db
  if (named !== undefined) {
    if (await isMessageOf(sql, scopeOf(caller), conversationId, named)) return { id: named, isNamed: true }
    await loadConversation(deps.inbox, caller, conversationId)
    throw invalid('after_message_id', 'must be a message of this conversation')
  }
  const { seen = null, newest = null } = (await readMarks(deps, caller, conversationId)) ?? {}
  const id = seen ?? newest ?? (await findNewestInbound(sql, caller.workspaceId, conversationId))?.id ?? null
  return id === null ? null : { id, isNamed: false }
}

/** Returns the newest customer message that the agent was shown since it owns the conversation; null if none. */
export async function findNewestShown(
  deps: AgentDeps,
  caller: AgentCaller,
  conversationId: string,
): Promise<string | null> {
  return (await readMarks(deps, caller, conversationId))?.seen ?? null
}

/** Reads how far the agent has seen the conversation; ignores what a previous owner was shown. */
async function readMarks({ inbox }: AgentDeps, caller: AgentCaller, conversationId: string) {
  const marks = await findInboundMarks(inbox.db.sql, scopeOf(caller), conversationId)
  return marks && { ...marks, seen: marks.ownerKeyId === caller.keyId ? marks.seen : null }
}
