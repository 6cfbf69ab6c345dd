import { Type } from 'typebox'
import { forbidden } from '../../base/errors.ts'
import { nullable, timestamp, titled } from '../../base/route.ts'
import { count, cursor, page } from '../../base/schema-types.ts'
import type { Member } from '../../team/member.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { closed, idSchema } from '../../team/team-schema.ts'
import { strict } from '../api/schema.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import { requireConversation } from '../conversation/queries.ts'
import { countUnreadMentions, listMentions, markMentionsRead } from '../notes/mentions.ts'
import { addTeamNote, listNotes } from '../notes/notes.ts'
import { resolveContacts } from '../read/names.ts'
import { parseIdempotencyKey } from '../send/send-command.ts'
import { NewNote, NoteHeaders, TeamContact, TeamConversationParams, TeamNote } from './inbox-schema.ts'
import { conversationsPath, inboxPath, presentContact, presentTeamNotes, scopeOf } from './present-conversation.ts'

const path = `${conversationsPath}/:id/notes`
const notes = Type.Object({ notes: Type.Array(TeamNote, { maxItems: 200 }) })

export function noteRoutes(api: TeamApi, deps: InboxDeps): void {
  const { db, keyStore } = deps
  const list = async (workspaceId: string, id: string) => {
    const row = await requireConversation(db.sql, { workspaceId, connectionIds: [] }, id)
    const found = await listNotes({ sql: db.sql, keyring: await keyStore.keyring(workspaceId), workspaceId }, row.id)
    return presentTeamNotes(deps, workspaceId, found)
  }
  api.get(path, 'member', {
    operationId: 'listNotes',
    summary: "List a conversation's notes",
    description: 'The newest 200, oldest first.',
    params: TeamConversationParams,
    answers: { 200: notes },
    allErrors: [400, 401, 404],
    run: async ({ member, params }) => ({ notes: await list(member.workspaceId, params.id) }),
  })
  api.post(path, 'member', {
    operationId: 'createNote',
    summary: 'Add a note',
    description:
      'Returns all notes including the new one. With an Idempotency-Key, repeated requests add the note once; a repeat has the header `Idempotent-Replayed: true`. Using the key for another note returns 422.',
    params: TeamConversationParams,
    headers: NoteHeaders,
    body: NewNote,
    answers: { 201: notes },
    errors: [422],
    run: async ({ member, params, body, headers, reply }) => {
      const { text, mentions = [] } = body
      const header = headers['idempotency-key']
      const { isRepeat } = await addTeamNote(deps, scopeOf(member), member.actor, {
        conversationId: params.id,
        text,
        mentions: mentions.map((id) => id.toLowerCase()),
        key: header === undefined ? null : parseIdempotencyKey(header),
      })
      if (isRepeat) reply.header('idempotent-replayed', 'true')
      return { notes: await list(member.workspaceId, params.id) }
    },
  })
}

const mentionsPath = `${inboxPath}/mentions`
const unread = count('Total number of unread mentions.', { example: 2 })

const Mention = titled('Mention', {
  note: TeamNote,
  conversation: Type.Object({ id: idSchema('Conversation of the note.'), contact: TeamContact }),
  readAt: nullable(timestamp('Time when it was marked read.')),
})

export function mentionRoutes(api: TeamApi, deps: InboxDeps): void {
  const { db, clock, keyStore, findLeads } = deps
  api.get(mentionsPath, 'member', {
    operationId: 'listMentions',
    summary: 'List the notes that mention me',
    description: 'Newest first. Only for members: tokens get 403.',
    query: strict({
      unread: Type.Optional(Type.Boolean({ description: 'Only unread mentions.' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 30 })),
      cursor: Type.Optional(cursor('Cursor from the previous page.')),
    }),
    answers: {
      200: Type.Object({
        mentions: Type.Array(Mention, page),
        unread,
        cursor: Type.Union([cursor('Cursor of the next page.'), Type.Null()]),
      }),
    },
    run: async ({ member, query }) => {
      const { workspaceId } = member
      const userId = userIdOf(member)
      const { unread: unreadOnly = false, limit = 30, cursor = null } = query
      const keyring = await keyStore.keyring(workspaceId)
      const [page, count] = await Promise.all([
        listMentions({ sql: db.sql, keyring, workspaceId }, userId, { limit, unreadOnly, cursor }),
        countUnreadMentions(db.sql, workspaceId, userId),
      ])
      const written = page.mentions.map(({ note }) => note)
      const customers = page.mentions.map(({ contact }) => contact)
      const [notes, contacts] = await Promise.all([
        presentTeamNotes({ db, keyStore }, workspaceId, written),
        resolveContacts(findLeads, workspaceId, customers),
      ])
      return {
        mentions: page.mentions.flatMap(({ conversationId: id, readAt }, n) => {
          const [note, contact] = [notes[n], contacts[n]]
          if (note === undefined || contact === undefined) return []
          return [
            { note, conversation: { id, contact: presentContact(contact) }, readAt: readAt?.toISOString() ?? null },
          ]
        }),
        unread: count,
        cursor: page.cursor,
      }
    },
  })
  api.post(`${mentionsPath}/read`, 'member', {
    operationId: 'markMentionsRead',
    summary: 'Mark my mentions read',
    description: 'Marks the mentions of one conversation, or all.',
    body: Type.Object({ conversationId: Type.Optional(idSchema('Only mentions in this conversation.')) }, closed),
    answers: { 200: Type.Object({ unread }) },
    run: async ({ member, body }) => {
      const { workspaceId } = member
      const userId = userIdOf(member)
      await markMentionsRead(db, workspaceId, userId, body.conversationId ?? null, clock.now())
      return { unread: await countUnreadMentions(db.sql, workspaceId, userId) }
    },
  })
}

function userIdOf({ userId }: Member): string {
  if (userId === null) throw forbidden('Tokens cannot be mentioned. Sign in as a member.')
  return userId
}
