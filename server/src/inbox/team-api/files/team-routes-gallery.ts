import { type App, errors } from '../../../base/route.ts'
import type { TeamGuard } from '../../../team/member.ts'
import type { InboxDeps } from '../../conversation/conversation.ts'
import { conversationRoute, conversationsPath } from '../team-request.ts'
import { TeamConversationParams } from '../team-schema.ts'
import { Gallery, GalleryQuery } from './files-schema.ts'

/** All files of a conversation. */
export function serveGallery(app: App, _deps: InboxDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: `${conversationsPath}/:id/media`,
    onRequest: guard.member('member'),
    schema: {
      ...conversationRoute,
      operationId: 'listConversationMedia',
      summary: "List a conversation's files",
      description: 'Newest first, those that have not come among them.',
      params: TeamConversationParams,
      querystring: GalleryQuery,
      response: { 200: Gallery, ...errors(400, 401, 404) },
    },
    handler: async () => {
      throw new Error('to come')
    },
  })
}
