import { invalid } from '../../base/errors.ts'
import { type App, errors } from '../../base/route.ts'
import { memberOf, type TeamGuard } from '../../team/member.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import { readPosition, readTimeline, type TimelineRequest } from '../read/timeline.ts'
import { presentTimeline } from './team-present-timeline.ts'
import { conversationRoute, conversationsPath, scopeOf } from './team-request.ts'
import { TeamConversationParams } from './team-schema.ts'
import { Timeline, TimelineQuery } from './team-timeline-schema.ts'

export function serveTimeline(app: App, deps: InboxDeps, guard: TeamGuard): void {
  const { db, vault } = deps
  app.route({
    method: 'GET',
    url: `${conversationsPath}/:id/timeline`,
    onRequest: guard.member('member'),
    schema: {
      ...conversationRoute,
      operationId: 'getTimeline',
      summary: 'Read what was said and done in a conversation',
      description:
        'Messages, notes, and what happened between them, in one order of time: the newest `limit`, or what lies before or after a page, or around the first unread message or any other.',
      params: TeamConversationParams,
      querystring: TimelineQuery,
      response: { 200: Timeline, ...errors(400, 401, 404) },
    },
    handler: async (request) => {
      const member = memberOf(request)
      const asked = readRequest(request.query)
      const keyring = await vault.keyring(member.workspaceId)
      const page = await readTimeline(db.sql, keyring, scopeOf(member), request.params.id, asked)
      return { ...page, items: await presentTimeline(deps, member.workspaceId, page.items) }
    },
  })
}

function readRequest({ limit = 50, before, after, around, aroundMessage }: TimelineQuery): TimelineRequest {
  if ([before, after, around, aroundMessage].filter((one) => one !== undefined).length > 1) {
    throw invalid('before', 'cannot go with after, around or aroundMessage: send one of them', 'query')
  }
  if (before !== undefined) return { limit, from: { side: 'before', position: readPosition('before', before) } }
  if (after !== undefined) return { limit, from: { side: 'after', position: readPosition('after', after) } }
  if (aroundMessage !== undefined) return { limit, from: { messageId: aroundMessage } }
  return { limit, from: around ?? null }
}
