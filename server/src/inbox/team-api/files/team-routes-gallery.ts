import { invalid } from '../../../base/errors.ts'
import { type App, errors } from '../../../base/route.ts'
import type { MediaKind } from '../../../channels/message-detail.ts'
import { memberOf, type TeamGuard } from '../../../team/member.ts'
import type { InboxDeps } from '../../conversation/conversation.ts'
import { readGallery, readGalleryPosition } from '../../read/gallery.ts'
import { mediaKinds } from '../team-media-schema.ts'
import { presentTeamMedia } from '../team-present.ts'
import { conversationRoute, conversationsPath, scopeOf } from '../team-request.ts'
import { TeamConversationParams } from '../team-schema.ts'
import { Gallery, GalleryQuery } from './files-schema.ts'

/** All files of a conversation. */
export function serveGallery(app: App, { db, vault }: InboxDeps, guard: TeamGuard): void {
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
    handler: async (request) => {
      const scope = scopeOf(memberOf(request))
      const { kinds, limit = 50, cursor } = request.query
      const asked = {
        kinds: kinds === undefined ? null : readKinds(kinds),
        limit,
        after: cursor === undefined ? null : readGalleryPosition(cursor),
      }
      const { items, next } = await vault.withKeyring(scope.workspaceId, (keyring) =>
        readGallery(db.sql, keyring, scope, request.params.id, asked),
      )
      return {
        items: items.map(({ at, media, ...item }) => ({
          ...item,
          at: at.toISOString(),
          media: presentTeamMedia(media),
        })),
        next,
      }
    },
  })
}

function readKinds(text: string): MediaKind[] {
  const words = text.split(',')
  const kinds = mediaKinds.filter((kind) => words.includes(kind))
  if (words.every((word) => kinds.some((kind) => kind === word))) return kinds
  throw invalid('kinds', `must be some of ${mediaKinds.join(', ')}, with commas between`, 'query')
}
