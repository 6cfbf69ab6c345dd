import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { callerOf } from '../../access/keys/caller.ts'
import type { Guard } from '../../access/keys/guard.ts'
import type { Clock } from '../../base/clock.ts'
import type { App } from '../../base/route.ts'
import { uuid } from '../../base/schema-types.ts'
import { conversationNotFound } from '../../inbox/conversation/errors.ts'
import { findConversation } from '../../inbox/conversation/queries.ts'
import { openMedia } from '../../inbox/media/open-media.ts'
import type { SendDeps } from '../../inbox/send/send-deps.ts'
import { filePlaces, readingPlaces } from '../../inbox/team-api/files/file-places.ts'
import { FileHeaders } from '../../inbox/team-api/files/files-schema.ts'
import { sendFile } from '../../inbox/team-api/files/send-file.ts'
import { filePath } from '../shown/message.ts'

/** Whoever reads for longer is asked again whether they may. */
const lookAgainMs = 10_000

/** The bytes of a file that a message of a conversation carries. It is no verb: what it answers is no JSON. */
export function fileRoute(app: App, inbox: SendDeps, guard: Pick<Guard, 'inbox' | 'stillReads'>): void {
  const place = filePlaces(readingPlaces)
  const none = Type.Object({}, { additionalProperties: false })
  const params = Type.Object({ conversation_id: uuid(), file_id: uuid() })
  app.route({
    method: ['GET', 'HEAD'],
    url: filePath(':conversation_id', ':file_id'),
    onRequest: guard.inbox('inbox.read'),
    schema: { hide: true, params, headers: FileHeaders, querystring: none },
    handler: async (request, reply) => {
      const { workspaceId, keyId, connectionIds } = callerOf(request)
      const { conversation_id, file_id } = request.params
      const scope = { workspaceId, connectionIds }
      const conversation = await findConversation(inbox.db.sql, scope, conversation_id.toLowerCase())
      if (conversation === undefined) throw conversationNotFound()
      return place({ workspaceId, actor: { id: keyId } }, async () => {
        const asker = { workspaceId, actorId: keyId, conversationId: conversation.id }
        const file = await openMedia(inbox, asker, file_id.toLowerCase(), 'file')
        const { store, log, clock } = inbox
        return sendFile({ store, log, mayGoOn: stillReads(guard, clock, request, reply) }, file, request, reply)
      })
    },
  })
}

function stillReads(
  guard: Pick<Guard, 'stillReads'>,
  clock: Clock,
  request: FastifyRequest,
  reply: FastifyReply,
): () => Promise<boolean> {
  let lookedAt = clock.now().getTime()
  return async () => {
    const now = clock.now().getTime()
    if (now - lookedAt < lookAgainMs) return true
    lookedAt = now
    return guard.stillReads(request, reply).then(
      () => true,
      () => false,
    )
  }
}
