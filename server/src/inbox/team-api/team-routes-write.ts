import { invalid } from '../../base/errors.ts'
import { type App, errors } from '../../base/route.ts'
import { readFutureMoment } from '../../base/time.ts'
import { memberOf, type TeamGuard } from '../../team/member.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import { type ConversationPatch, updateConversation } from '../ownership/update.ts'
import { markRead, markUnread } from '../read/read.ts'
import { conversationRoute, conversationsPath, oneConversation, scopeOf, showOne } from './team-request.ts'
import { TeamChanges, TeamConversationParams } from './team-schema.ts'

export function serveTeamChanges(app: App, deps: InboxDeps, guard: TeamGuard): void {
  app.route({
    method: 'PATCH',
    url: `${conversationsPath}/:id`,
    onRequest: guard.member('member'),
    schema: {
      ...conversationRoute,
      operationId: 'updateConversationAsMember',
      summary: 'Change status, labels or assignee',
      description: 'All of the fields or none take effect. A snoozed conversation may have a time to open at.',
      params: TeamConversationParams,
      body: TeamChanges,
      response: { 200: oneConversation, ...errors(400, 401, 404, 413, 415) },
    },
    handler: async (request) => {
      const member = memberOf(request)
      const patch = readChanges(request.body, deps.clock.now())
      const conversation = await updateConversation(deps, scopeOf(member), member.actor, request.params.id, patch)
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

export function serveTeamRead(app: App, deps: InboxDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: `${conversationsPath}/:id/read`,
    onRequest: guard.member('member'),
    schema: {
      ...conversationRoute,
      operationId: 'markConversationReadAsMember',
      summary: 'Mark a conversation read',
      description: 'The platform is told too; whether that works changes nothing here.',
      params: TeamConversationParams,
      response: { 200: oneConversation, ...errors(400, 401, 404, 413, 415) },
    },
    handler: async (request) => {
      const member = memberOf(request)
      const conversation = await markRead(deps, scopeOf(member), request.params.id)
      return { conversation: await showOne(deps, member.workspaceId, conversation) }
    },
  })
}

export function serveTeamUnread(app: App, deps: InboxDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: `${conversationsPath}/:id/unread`,
    onRequest: guard.member('member'),
    schema: {
      ...conversationRoute,
      operationId: 'markConversationUnread',
      summary: 'Mark a conversation unread',
      description:
        'Its newest customer message counts as unread. Nothing changes where some are unread, or no customer has written.',
      params: TeamConversationParams,
      response: { 200: oneConversation, ...errors(400, 401, 404, 413, 415) },
    },
    handler: async (request) => {
      const member = memberOf(request)
      const conversation = await markUnread(deps, scopeOf(member), request.params.id)
      return { conversation: await showOne(deps, member.workspaceId, conversation) }
    },
  })
}
