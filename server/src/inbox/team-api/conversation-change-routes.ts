import { type Static, Type } from 'typebox'
import { invalid } from '../../base/errors.ts'
import { nullable, timestamp, titled } from '../../base/route.ts'
import { count, uuid } from '../../base/schema-types.ts'
import { readFutureMoment, readIsoTime } from '../../base/time.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { closed, idSchema } from '../../team/team-schema.ts'
import { strict } from '../api/schema.ts'
import type { HandoverNote } from '../assignment/handovers.ts'
import { offerToAgents, transferToAgent } from '../assignment/transfer-to-agent.ts'
import { type ConversationPatch, updateConversation } from '../assignment/update-conversation.ts'
import {
  type BulkChanges,
  changeConversations,
  maxAtOnce,
  type PreviousState,
  undoChanges,
} from '../bulk/change-conversations.ts'
import type { Conversation, InboxDeps } from '../conversation/conversation.ts'
import { human } from '../conversation/owner.ts'
import { markRead, markUnread } from '../read/mark-read.ts'
import { readConversationViews } from '../read/names.ts'
import { conversationsPath, oneConversation, presentOne, scopeOf } from './inbox-request.ts'
import {
  HandBack,
  type HandoverNoteBody,
  Offer,
  statusToSet,
  TeamChanges,
  TeamConversation,
  TeamConversationParams,
} from './inbox-schema.ts'
import { presentTeamConversation } from './present-conversation.ts'

/** Status, labels, assignee. */
export function changeRoutes(api: TeamApi, deps: InboxDeps): void {
  api.patch(`${conversationsPath}/:id`, 'member', {
    operationId: 'updateConversationAsMember',
    summary: 'Change status, labels or assignee',
    description: 'All of the fields or none take effect. A snoozed conversation may have a time to open at.',
    params: TeamConversationParams,
    body: TeamChanges,
    answers: { 200: oneConversation },
    run: async ({ member, params, body }) => {
      const patch = parseChanges(body, deps.clock.now())
      const conversation = await updateConversation(deps, scopeOf(member), member.actor, params.id, patch)
      return { conversation: await presentOne(deps, member.workspaceId, conversation) }
    },
  })
}

function parseChanges(changes: TeamChanges, now: Date): ConversationPatch {
  const { assignedTo, labelIds } = changes
  return {
    ...parseSnooze(changes, 'snoozedUntil', now),
    ...(assignedTo === undefined ? {} : { assignedTo: assignedTo?.toLowerCase() ?? null }),
    ...(labelIds === undefined ? {} : { labelIds: labelIds.map((id) => id.toLowerCase()) }),
  }
}

/** A status, and until when it is to be snoozed; `field` is where that stands in what was sent. */
export function parseSnooze(
  { status, snoozedUntil }: Pick<TeamChanges, 'status' | 'snoozedUntil'>,
  field: string,
  now: Date,
): Pick<ConversationPatch, 'status' | 'snoozedUntil'> {
  if (snoozedUntil !== undefined && status !== 'snoozed') {
    throw invalid(field, 'goes with the status snoozed')
  }
  const until = typeof snoozedUntil === 'string' ? readFutureMoment(snoozedUntil, field, now) : null
  return status === undefined ? {} : { status, snoozedUntil: until }
}

/** What is read, and what is not. */
export function readMarkRoutes(api: TeamApi, deps: InboxDeps): void {
  api.post(`${conversationsPath}/:id/read`, 'member', {
    operationId: 'markConversationReadAsMember',
    summary: 'Mark a conversation read',
    description: 'The platform is told too; whether that works changes nothing here.',
    params: TeamConversationParams,
    answers: { 200: oneConversation },
    errors: [413, 415],
    run: async ({ member, params }) => {
      const conversation = await markRead(deps, scopeOf(member), params.id)
      return { conversation: await presentOne(deps, member.workspaceId, conversation) }
    },
  })
  api.post(`${conversationsPath}/:id/unread`, 'member', {
    operationId: 'markConversationUnread',
    summary: 'Mark a conversation unread',
    description:
      'Its newest customer message counts as unread. Nothing changes where some are unread, or no customer has written.',
    params: TeamConversationParams,
    answers: { 200: oneConversation },
    errors: [413, 415],
    run: async ({ member, params }) => {
      const conversation = await markUnread(deps, scopeOf(member), params.id)
      return { conversation: await presentOne(deps, member.workspaceId, conversation) }
    },
  })
}

/** Who has a conversation. */
export function ownerRoutes(api: TeamApi, deps: InboxDeps): void {
  api.post(`${conversationsPath}/:id/take-over`, 'member', {
    operationId: 'takeOverConversation',
    summary: 'Take a conversation over',
    description:
      'It belongs to people from then on: no send of its agent starts once this is answered, and agents leave it alone until it is handed to one or offered to all (`agentsMayTakeBack` of the workspace). A member has it assigned then, unless it is assigned to somebody.',
    params: TeamConversationParams,
    answers: { 200: oneConversation },
    errors: [413, 415],
    run: async ({ member, params }) => {
      const patch = { owner: human }
      const conversation = await updateConversation(deps, scopeOf(member), member.actor, params.id, patch)
      return { conversation: await presentOne(deps, member.workspaceId, conversation) }
    },
  })
  api.post(`${conversationsPath}/:id/hand-back`, 'member', {
    operationId: 'handBackConversation',
    summary: 'Hand a conversation to an agent',
    description:
      'The agent reads the note, and it is an item of the timeline. What was assigned to the calling member is assigned to nobody then. 409 when the key is not active, lacks `inbox.write` or does not allow the connection; 403 while agents are stopped.',
    params: TeamConversationParams,
    body: HandBack,
    answers: { 200: oneConversation },
    errors: [409],
    run: async ({ member, params, body }) => {
      const { keyId, note } = body
      const request = { conversationId: params.id, keyId: keyId.toLowerCase(), note: noteOf(note) }
      const { conversation } = await transferToAgent(deps, scopeOf(member), member.actor, request)
      return { conversation: await presentOne(deps, member.workspaceId, conversation) }
    },
  })
  api.post(`${conversationsPath}/:id/offer`, 'member', {
    operationId: 'offerConversation',
    summary: 'Offer a conversation to agents',
    description:
      'People own it until an agent takes it; whichever does first has it, and reads the note. What was assigned to the calling member is assigned to nobody then. 409 when an agent has it already; 403 while agents are stopped.',
    params: TeamConversationParams,
    body: Offer,
    answers: { 200: oneConversation },
    errors: [409],
    run: async ({ member, params, body }) => {
      const offer = { conversationId: params.id, note: noteOf(body.note) }
      const { conversation } = await offerToAgents(deps, scopeOf(member), member.actor, offer)
      return { conversation: await presentOne(deps, member.workspaceId, conversation) }
    },
  })
}

function noteOf(note: HandoverNoteBody | undefined): HandoverNote | null {
  if (note === undefined) return null
  const { summary, reason, nextStep } = note
  return { summary, reason: reason?.trim() ? reason : null, nextStep: nextStep?.trim() ? nextStep : null }
}

const labels = (description: string) => Type.Array(uuid(), { maxItems: 20, description, example: [] })
const batchId = uuid('Made by the caller: requests of one selection share it, and are one line of the audit log.')

const BulkChangesBody = Type.Partial(
  Type.Object({
    status: statusToSet,
    snoozedUntil: nullable(
      timestamp('With the status `snoozed`: when a timer opens them. Null: when the customer writes.'),
    ),
    assignedTo: nullable(idSchema('A member of the workspace; null for nobody.')),
    addLabelIds: labels('Labels that they get beside those that they have.'),
    removeLabelIds: labels('Labels that they lose.'),
    read: Type.Boolean({ description: 'True: read. False: unread from the newest customer message on.' }),
  }),
  {
    ...closed,
    minProperties: 1,
    title: 'ManyChanges',
    description: 'What is to become of each of them.',
    example: { status: 'resolved' },
  },
)
type BulkChangesBody = Static<typeof BulkChangesBody>

const FormerConversation = titled('FormerConversation', {
  id: idSchema('The conversation.'),
  status: statusToSet,
  snoozedUntil: nullable(timestamp('When a timer was to open it.')),
  assignedTo: nullable(idSchema('The member it was assigned to.')),
  held: Type.Boolean({ description: 'People had it.' }),
  unreadCount: count('Customer messages that were unread.', { example: 1 }),
  added: labels('Labels that the change gave it.'),
  removed: labels('Labels that the change took from it.'),
})

type FormerConversation = Static<typeof FormerConversation>

const former = Type.Array(FormerConversation, {
  maxItems: maxAtOnce,
  description: 'Those that changed, as they were: what an undo takes.',
})
const conversations = Type.Array(TeamConversation, {
  maxItems: maxAtOnce,
  description: 'All that are there, as they are now.',
})

const BulkChangeBody = strict({
  batchId,
  ids: Type.Array(idSchema('A conversation.'), { minItems: 1, maxItems: maxAtOnce }),
  changes: BulkChangesBody,
})

const BulkChangeAnswer = Type.Object({ conversations, former })

const BulkUndoBody = strict({
  batchId,
  changes: BulkChangesBody,
  former: Type.Array(FormerConversation, { minItems: 1, maxItems: maxAtOnce }),
})

const BulkUndoAnswer = Type.Object({
  conversations,
  left: count('How many are not wholly as before: somebody changed them since, or they are gone.', { example: 0 }),
})

/** What is done to many conversations at once, and its undo. */
export function bulkRoutes(api: TeamApi, deps: InboxDeps): void {
  const show = async (workspaceId: string, conversations: readonly Conversation[]) =>
    (await readConversationViews(deps, workspaceId, conversations)).map((one) =>
      presentTeamConversation(one, deps.clock.now()),
    )
  api.post(`${conversationsPath}/bulk`, 'member', {
    operationId: 'changeConversations',
    summary: 'Change many conversations alike',
    description: `At most ${maxAtOnce} in a request, all or none of which take effect; more go in several of one \`batchId\`. What is not there is passed over.`,
    body: BulkChangeBody,
    answers: { 200: BulkChangeAnswer },
    run: async ({ member, body }) => {
      const { workspaceId, actor } = member
      const { batchId, ids, changes } = body
      const { status, snoozedUntil } = parseSnooze(changes, 'changes.snoozedUntil', deps.clock.now())
      const wish = { ...changesOf(changes), ...(status && { status, snoozedUntil }) }
      const done = await changeConversations(deps, workspaceId, actor, { batchId, ids: ids.map(lower), changes: wish })
      return {
        conversations: await show(workspaceId, done.conversations),
        former: done.former.map((one) => ({ ...one, snoozedUntil: one.snoozedUntil?.toISOString() ?? null })),
      }
    },
  })
  api.post(`${conversationsPath}/bulk-undo`, 'member', {
    operationId: 'undoConversationChanges',
    summary: 'Undo a change of many conversations',
    description:
      'Takes what the change was and the `former` that it answered. Each thing goes back alone, and only where it still is as the change left it.',
    body: BulkUndoBody,
    answers: { 200: BulkUndoAnswer },
    run: async ({ member, body }) => {
      const { workspaceId, actor } = member
      const { batchId, changes, former } = body
      const done = await undoChanges(deps, workspaceId, actor, {
        batchId,
        changes: { ...changesOf(changes), ...statusOf(changes) },
        former: former.map(parsePreviousState),
      })
      return { conversations: await show(workspaceId, done.conversations), left: done.left }
    },
  })
}

const lower = (id: string): string => id.toLowerCase()
const timeOf = (text: string | null | undefined): Date | null => (text == null ? null : readIsoTime(text))

function parsePreviousState(one: FormerConversation): PreviousState {
  return {
    ...one,
    id: lower(one.id),
    snoozedUntil: timeOf(one.snoozedUntil),
    assignedTo: one.assignedTo?.toLowerCase() ?? null,
    added: one.added.map(lower),
    removed: one.removed.map(lower),
  }
}

function changesOf({ assignedTo, addLabelIds, removeLabelIds, read }: BulkChangesBody): BulkChanges {
  const isLabelled = addLabelIds !== undefined || removeLabelIds !== undefined
  const labels = { add: (addLabelIds ?? []).map(lower), remove: (removeLabelIds ?? []).map(lower) }
  return {
    ...(assignedTo !== undefined && { assignedTo: assignedTo?.toLowerCase() ?? null }),
    ...(isLabelled && { labels }),
    ...(read !== undefined && { read }),
  }
}

const statusOf = ({ status, snoozedUntil }: BulkChangesBody): BulkChanges =>
  status === undefined ? {} : { status, snoozedUntil: timeOf(snoozedUntil) }
