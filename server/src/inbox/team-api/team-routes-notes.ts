import { Type } from 'typebox'
import { type App, errors } from '../../base/route.ts'
import { memberOf, type TeamGuard } from '../../team/member.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import { conversationNotFound } from '../conversation/errors.ts'
import { readIdempotencyKey } from '../conversation/idempotency-key.ts'
import { findConversation } from '../conversation/queries.ts'
import { addTeamNote } from '../notes/add-note.ts'
import { listNotes } from '../notes/notes.ts'
import { presentTeamNotes } from './team-present.ts'
import { conversationRoute, conversationsPath, scopeOf } from './team-request.ts'
import { NewNote, NoteHeaders, TeamConversationParams, TeamNote } from './team-schema.ts'

const path = `${conversationsPath}/:id/notes`
const notes = Type.Object({ notes: Type.Array(TeamNote, { maxItems: 200 }) })

/** Internal notes: nothing of them goes to the customer. */
export function serveTeamNotes(app: App, deps: InboxDeps, guard: TeamGuard): void {
  const { db, vault } = deps
  const list = async (workspaceId: string, id: string) => {
    const row = await findConversation(db.sql, { workspaceId, connectionIds: [] }, id)
    if (row === undefined) throw conversationNotFound()
    return presentTeamNotes(
      deps,
      workspaceId,
      await listNotes(db.sql, await vault.keyring(workspaceId), workspaceId, row.id),
    )
  }
  app.route({
    method: 'GET',
    url: path,
    onRequest: guard.member('member'),
    schema: {
      ...conversationRoute,
      operationId: 'listNotes',
      summary: "List a conversation's notes",
      description: 'The newest 200, oldest first.',
      params: TeamConversationParams,
      response: { 200: notes, ...errors(400, 401, 404) },
    },
    handler: async (request) => ({ notes: await list(memberOf(request).workspaceId, request.params.id) }),
  })
  app.route({
    method: 'POST',
    url: path,
    onRequest: guard.member('member'),
    schema: {
      ...conversationRoute,
      operationId: 'createNote',
      summary: 'Add a note',
      description:
        'Answers all notes with it. With an Idempotency-Key it is added once, however often the request is repeated; a repeat says so by `Idempotent-Replayed: true`. The same key with another note: 422.',
      params: TeamConversationParams,
      headers: NoteHeaders,
      body: NewNote,
      response: { 201: notes, ...errors(400, 401, 404, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const member = memberOf(request)
      const { text, mentions = [] } = request.body
      const header = request.headers['idempotency-key']
      const { isRepeat } = await addTeamNote(deps, scopeOf(member), member.actor, {
        conversationId: request.params.id,
        text,
        mentions: mentions.map((id) => id.toLowerCase()),
        key: header === undefined ? null : readIdempotencyKey(header),
      })
      if (isRepeat) reply.header('idempotent-replayed', 'true')
      return reply.code(201).send({ notes: await list(member.workspaceId, request.params.id) })
    },
  })
}
