import { type Static, Type } from 'typebox'
import { invalid } from '../../base/errors.ts'
import { nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { count, uuid } from '../../base/schema-types.ts'
import { parseFutureTime, parseIsoTime } from '../../base/time.ts'
import { consentDecisions, consentPurposes } from '../../consents/consent.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { closed, idSchema } from '../../team/team-schema.ts'
import { priorities } from '../../workspaces/service/service-settings.ts'
import { strict } from '../api/schema.ts'
import type { HandoverNote } from '../assignment/handovers.ts'
import { offerToAgents, transferToAgent } from '../assignment/transfer-to-agent.ts'
import { type ConversationPatch, updateConversation } from '../assignment/update-conversation.ts'
import {
  type BulkChanges,
  changeConversations,
  maxPerRequest,
  type PreviousState,
  undoChanges,
} from '../bulk/change-conversations.ts'
import { setConsent } from '../consent/set-consent.ts'
import type { Conversation, InboxDeps } from '../conversation/conversation.ts'
import { human } from '../conversation/owner.ts'
import { markRead, markUnread } from '../read/mark-read.ts'
import { readConversationViews } from '../read/names.ts'
import {
  HandBack,
  type HandoverNoteBody,
  Offer,
  statusToSet,
  TeamChanges,
  TeamConversation,
  TeamConversationParams,
} from './inbox-schema.ts'
import {
  answerWith,
  conversationResponse,
  conversationsPath,
  presentTeamConversation,
  scopeOf,
} from './present-conversation.ts'

export function changeRoutes(api: TeamApi, deps: InboxDeps): void {
  api.patch(`${conversationsPath}/:id`, 'member', {
    operationId: 'updateConversationAsMember',
    summary: 'Change status, labels, priority, assignee or team',
    description: 'The changes apply together or not at all. A snoozed conversation can have a time to reopen.',
    params: TeamConversationParams,
    body: TeamChanges,
    answers: { 200: conversationResponse },
    run: async ({ member, params, body }) => {
      const patch = parseChanges(body, deps.clock.now())
      return answerWith(deps, member, await updateConversation(deps, scopeOf(member), member.actor, params.id, patch))
    },
  })
}

function parseChanges(changes: TeamChanges, now: Date): ConversationPatch {
  const { assignedTo, teamId, labelIds, priority } = changes
  return {
    ...parseSnooze(changes, 'snoozedUntil', now),
    ...(assignedTo === undefined ? {} : { assignedTo: assignedTo?.toLowerCase() ?? null }),
    ...(teamId === undefined ? {} : { teamId: teamId?.toLowerCase() ?? null }),
    ...(priority === undefined ? {} : { priority }),
    ...(labelIds === undefined ? {} : { labelIds: labelIds.map((id) => id.toLowerCase()) }),
  }
}

/** Parses a status and its snooze time; `field` is the path of the time in the request. */
export function parseSnooze(
  { status, snoozedUntil }: Pick<TeamChanges, 'status' | 'snoozedUntil'>,
  field: string,
  now: Date,
): Pick<ConversationPatch, 'status' | 'snoozedUntil'> {
  if (snoozedUntil !== undefined && status !== 'snoozed') {
    throw invalid(field, 'is allowed only with the status snoozed')
  }
  const until = typeof snoozedUntil === 'string' ? parseFutureTime(snoozedUntil, field, now) : null
  return status === undefined ? {} : { status, snoozedUntil: until }
}

export function readMarkRoutes(api: TeamApi, deps: InboxDeps): void {
  api.post(`${conversationsPath}/:id/read`, 'member', {
    operationId: 'markConversationReadAsMember',
    summary: 'Mark a conversation read',
    description: 'Also marks the messages read on the platform; if that fails, the request still succeeds.',
    params: TeamConversationParams,
    answers: { 200: conversationResponse },
    errors: [413, 415],
    run: async ({ member, params }) => {
      return answerWith(deps, member, await markRead(deps, scopeOf(member), params.id))
    },
  })
  api.post(`${conversationsPath}/:id/unread`, 'member', {
    operationId: 'markConversationUnread',
    summary: 'Mark a conversation unread',
    description:
      'Counts the newest customer message as unread. Nothing changes if some messages are unread already, or the customer has not written.',
    params: TeamConversationParams,
    answers: { 200: conversationResponse },
    errors: [413, 415],
    run: async ({ member, params }) => {
      return answerWith(deps, member, await markUnread(deps, scopeOf(member), params.id))
    },
  })
}

export function ownerRoutes(api: TeamApi, deps: InboxDeps): void {
  api.post(`${conversationsPath}/:id/take-over`, 'member', {
    operationId: 'takeOverConversation',
    summary: 'Take over a conversation',
    description:
      'People own it from then on. After the response, no send of its agent starts, and agents leave it alone until it is handed to one or offered to all (see `agentsMayTakeBack` of the workspace). Assigns it to the calling member unless it already has an assignee.',
    params: TeamConversationParams,
    answers: { 200: conversationResponse },
    errors: [413, 415],
    run: async ({ member, params }) => {
      const patch = { owner: human }
      return answerWith(deps, member, await updateConversation(deps, scopeOf(member), member.actor, params.id, patch))
    },
  })
  api.post(`${conversationsPath}/:id/hand-back`, 'member', {
    operationId: 'handBackConversation',
    summary: 'Hand a conversation to an agent',
    description:
      'The agent sees the note, which is also an item of the timeline. Unassigns the conversation if it is assigned to the calling member. 409 if the key is not active, lacks `inbox.write` or does not allow the connection; 403 while agents are stopped.',
    params: TeamConversationParams,
    body: HandBack,
    answers: { 200: conversationResponse },
    errors: [409],
    run: async ({ member, params, body }) => {
      const { keyId, note } = body
      const request = { conversationId: params.id, keyId: keyId.toLowerCase(), note: noteOf(note) }
      const { conversation } = await transferToAgent(deps, scopeOf(member), member.actor, request)
      return answerWith(deps, member, conversation)
    },
  })
  api.post(`${conversationsPath}/:id/offer`, 'member', {
    operationId: 'offerConversation',
    summary: 'Offer a conversation to agents',
    description:
      'People own it until the first agent takes it; that agent sees the note. Unassigns the conversation if it is assigned to the calling member. 409 if an agent already owns it; 403 while agents are stopped.',
    params: TeamConversationParams,
    body: Offer,
    answers: { 200: conversationResponse },
    errors: [409],
    run: async ({ member, params, body }) => {
      const offer = { conversationId: params.id, note: noteOf(body.note) }
      const { conversation } = await offerToAgents(deps, scopeOf(member), member.actor, offer)
      return answerWith(deps, member, conversation)
    },
  })
}

function noteOf(note: HandoverNoteBody | undefined): HandoverNote | null {
  if (note === undefined) return null
  const { summary, reason, nextStep } = note
  return { summary, reason: reason?.trim() ? reason : null, nextStep: nextStep?.trim() ? nextStep : null }
}

const labels = (description: string) => Type.Array(uuid(), { maxItems: 20, description, example: [] })
const batchId = uuid('Generated by the caller. Requests of one selection share it and form one entry of the audit log.')

const BulkChangesBody = Type.Partial(
  Type.Object({
    status: statusToSet,
    snoozedUntil: nullable(
      timestamp('With status `snoozed`: when a timer reopens them. Null: only when the customer writes.'),
    ),
    assignedTo: nullable(idSchema('Member of the workspace; null to unassign.')),
    teamId: nullable(idSchema('Team that gets them, whose rule assigns them unless `assignedTo` does; null: no team.')),
    priority: nullable(oneOf(priorities, { description: 'Null: none.' })),
    addLabelIds: labels('Labels to add.'),
    removeLabelIds: labels('Labels to remove.'),
    read: Type.Boolean({ description: 'True: mark read. False: mark the newest customer message unread.' }),
  }),
  {
    ...closed,
    minProperties: 1,
    title: 'ManyChanges',
    description: 'Changes to apply to each conversation.',
    example: { status: 'resolved' },
  },
)
type BulkChangesBody = Static<typeof BulkChangesBody>

const FormerConversation = titled('FormerConversation', {
  id: idSchema('Conversation id.'),
  status: statusToSet,
  snoozedUntil: nullable(timestamp('When a timer would have reopened it.')),
  assignedTo: nullable(idSchema('Previous assignee.')),
  held: Type.Boolean({ description: 'Whether it was locked to people.' }),
  teamId: Type.Optional(nullable(idSchema('Previous team.'))),
  priority: Type.Optional(nullable(oneOf(priorities, { description: 'Previous priority.' }))),
  assignedAfter: Type.Optional(nullable(idSchema('Who had it after the change.'))),
  unreadCount: count('Previous number of unread customer messages.', { example: 1 }),
  added: labels('Labels that the change added.'),
  removed: labels('Labels that the change removed.'),
})

type FormerConversation = Static<typeof FormerConversation>

const former = Type.Array(FormerConversation, {
  maxItems: maxPerRequest,
  description: 'Previous state of the changed conversations, for undo.',
})
const conversations = Type.Array(TeamConversation, {
  maxItems: maxPerRequest,
  description: 'Current state of all existing conversations of the request.',
})

const BulkChangeBody = strict({
  batchId,
  ids: Type.Array(idSchema('Conversation id.'), { minItems: 1, maxItems: maxPerRequest }),
  changes: BulkChangesBody,
})

const BulkChangeAnswer = Type.Object({ conversations, former })

const BulkUndoBody = strict({
  batchId,
  changes: BulkChangesBody,
  former: Type.Array(FormerConversation, { minItems: 1, maxItems: maxPerRequest }),
})

const BulkUndoAnswer = Type.Object({
  conversations,
  left: count('Number of conversations not fully restored: changed since, or deleted.', { example: 0 }),
})

export function bulkRoutes(api: TeamApi, deps: InboxDeps): void {
  const present = async (workspaceId: string, conversations: readonly Conversation[]) =>
    (await readConversationViews(deps, workspaceId, conversations)).map((one) =>
      presentTeamConversation(one, deps.clock.now()),
    )
  api.post(`${conversationsPath}/bulk`, 'member', {
    operationId: 'changeConversations',
    summary: 'Change many conversations',
    description: `At most ${maxPerRequest} per request; the changes apply to all or none. Send more in several requests with the same \`batchId\`. Conversations that do not exist are skipped.`,
    body: BulkChangeBody,
    answers: { 200: BulkChangeAnswer },
    run: async ({ member, body }) => {
      const { workspaceId, actor } = member
      const { batchId, ids, changes } = body
      const { status, snoozedUntil } = parseSnooze(changes, 'changes.snoozedUntil', deps.clock.now())
      const bulkChanges = { ...changesOf(changes), ...(status && { status, snoozedUntil }) }
      const result = await changeConversations(deps, workspaceId, actor, {
        batchId,
        ids: ids.map(lower),
        changes: bulkChanges,
      })
      return {
        conversations: await present(workspaceId, result.conversations),
        former: result.former.map((one) => ({ ...one, snoozedUntil: one.snoozedUntil?.toISOString() ?? null })),
      }
    },
  })
  api.post(`${conversationsPath}/bulk-undo`, 'member', {
    operationId: 'undoConversationChanges',
    summary: 'Undo a bulk change',
    description:
      'Send the changes and the `former` that the bulk change returned. Each field is restored separately, and only if it still has the value that the change set.',
    body: BulkUndoBody,
    answers: { 200: BulkUndoAnswer },
    run: async ({ member, body }) => {
      const { workspaceId, actor } = member
      const { batchId, changes, former } = body
      const result = await undoChanges(deps, workspaceId, actor, {
        batchId,
        changes: { ...changesOf(changes), ...statusOf(changes) },
        former: former.map(parsePreviousState),
      })
      return { conversations: await present(workspaceId, result.conversations), left: result.notRestored }
    },
  })
}

const lower = (id: string): string => id.toLowerCase()
const timeOf = (text: string | null | undefined): Date | null => (text == null ? null : parseIsoTime(text))

function parsePreviousState(one: FormerConversation): PreviousState {
  return {
    ...one,
    id: lower(one.id),
    snoozedUntil: timeOf(one.snoozedUntil),
    assignedTo: one.assignedTo?.toLowerCase() ?? null,
    teamId: one.teamId?.toLowerCase() ?? null,
    assignedAfter: one.assignedAfter?.toLowerCase() ?? null,
    added: one.added.map(lower),
    removed: one.removed.map(lower),
  }
}

function changesOf(changes: BulkChangesBody): BulkChanges {
  const { assignedTo, teamId, priority, addLabelIds, removeLabelIds, read } = changes
  const isLabelled = addLabelIds !== undefined || removeLabelIds !== undefined
  const labels = { add: (addLabelIds ?? []).map(lower), remove: (removeLabelIds ?? []).map(lower) }
  return {
    ...(assignedTo !== undefined && { assignedTo: assignedTo?.toLowerCase() ?? null }),
    ...(teamId !== undefined && { teamId: teamId?.toLowerCase() ?? null }),
    ...(priority !== undefined && { priority }),
    ...(isLabelled && { labels }),
    ...(read !== undefined && { read }),
  }
}

const statusOf = ({ status, snoozedUntil }: BulkChangesBody): BulkChanges =>
  status === undefined ? {} : { status, snoozedUntil: timeOf(snoozedUntil) }

const consentPurpose = Type.Optional(
  oneOf(consentPurposes, {
    default: 'marketing',
    description: 'About marketing, or about templates of the category utility.',
  }),
)
const ConsentBody = strict({
  decision: oneOf(consentDecisions, { description: 'What the customer has told you.' }),
  purpose: consentPurpose,
})
const UndoQuery = strict({ purpose: consentPurpose })

export function consentRoutes(api: TeamApi, deps: InboxDeps): void {
  const path = `${conversationsPath}/:id/marketing-consent`
  api.put(path, 'member', {
    operationId: 'setMarketingConsent',
    summary: "Record a customer's marketing consent",
    description:
      'Applies to the customer on every connection. Templates with that purpose are refused for a customer who has opted out, until they opt in again.',
    params: TeamConversationParams,
    body: ConsentBody,
    answers: { 200: conversationResponse },
    errors: [409],
    run: async ({ member, params, body }) => {
      const { decision, purpose } = body
      const conversation = await setConsent(deps, scopeOf(member), member.actor, params.id, decision, purpose)
      return answerWith(deps, member, conversation)
    },
  })
  api.delete(path, 'member', {
    operationId: 'undoMarketingConsent',
    summary: 'Undo a recorded marketing consent',
    description:
      'Takes back your own last decision as if you had not recorded it, within 10 minutes. 409 if the customer has decided since.',
    params: TeamConversationParams,
    query: UndoQuery,
    answers: { 200: conversationResponse },
    errors: [409],
    run: async ({ member, params, query }) => {
      const conversation = await setConsent(deps, scopeOf(member), member.actor, params.id, 'undo', query.purpose)
      return answerWith(deps, member, conversation)
    },
  })
}
