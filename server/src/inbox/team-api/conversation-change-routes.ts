import { invalid } from '../../base/errors.ts'
import { readFutureMoment } from '../../base/time.ts'
import type { TeamApi } from '../../team/team-api.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import { human } from '../conversation/owner.ts'
import { handToAgent, offerToAgents } from '../ownership/hand-on.ts'
import type { HandoverWords } from '../ownership/handovers.ts'
import { type ConversationPatch, updateConversation } from '../ownership/update.ts'
import { markRead, markUnread } from '../read/read.ts'
import { conversationsPath, oneConversation, scopeOf, showOne } from './inbox-request.ts'
import { HandBack, type HandoverNote, Offer, TeamChanges, TeamConversationParams } from './inbox-schema.ts'

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
      const patch = readChanges(body, deps.clock.now())
      const conversation = await updateConversation(deps, scopeOf(member), member.actor, params.id, patch)
      return { conversation: await showOne(deps, member.workspaceId, conversation) }
    },
  })
}

function readChanges(changes: TeamChanges, now: Date): ConversationPatch {
  const { assignedTo, labelIds } = changes
  return {
    ...readSnooze(changes, 'snoozedUntil', now),
    ...(assignedTo === undefined ? {} : { assignedTo: assignedTo?.toLowerCase() ?? null }),
    ...(labelIds === undefined ? {} : { labelIds: labelIds.map((id) => id.toLowerCase()) }),
  }
}

/** A status, and until when it is to be snoozed; `field` is where that stands in what was sent. */
export function readSnooze(
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
      return { conversation: await showOne(deps, member.workspaceId, conversation) }
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
      return { conversation: await showOne(deps, member.workspaceId, conversation) }
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
      return { conversation: await showOne(deps, member.workspaceId, conversation) }
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
      const ask = { conversationId: params.id, keyId: keyId.toLowerCase(), words: wordsOf(note) }
      const { conversation } = await handToAgent(deps, scopeOf(member), member.actor, ask)
      return { conversation: await showOne(deps, member.workspaceId, conversation) }
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
      const offer = { conversationId: params.id, words: wordsOf(body.note) }
      const { conversation } = await offerToAgents(deps, scopeOf(member), member.actor, offer)
      return { conversation: await showOne(deps, member.workspaceId, conversation) }
    },
  })
}

function wordsOf(note: HandoverNote | undefined): HandoverWords | null {
  if (note === undefined) return null
  const { summary, reason, nextStep } = note
  return { summary, reason: reason?.trim() ? reason : null, nextStep: nextStep?.trim() ? nextStep : null }
}
