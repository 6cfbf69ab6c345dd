import { Type } from 'typebox'
import { forbidden } from '../../base/errors.ts'
import { type App, errors, nullable, timestamp } from '../../base/route.ts'
import { count, cursor, page } from '../../base/schema-types.ts'
import { type Member, memberOf, type TeamGuard } from '../../team/member.ts'
import { closed, idSchema, teamRoute, workspaceParams } from '../../team/team-schema.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import { countUnreadMentions, listMentions, markMentionsRead } from '../notes/mentions.ts'
import { nameContacts } from '../read/names.ts'
import { presentContact, presentTeamNotes } from './team-present.ts'
import { inboxPath } from './team-request.ts'
import { TeamContact, TeamNote } from './team-schema.ts'

const path = `${inboxPath}/mentions`
const params = Type.Object(workspaceParams)
const unread = count('How many are unread, of all.', { example: 2 })

const Mention = Type.Object(
  {
    note: TeamNote,
    conversation: Type.Object({ id: idSchema('Where it stands.'), contact: TeamContact }),
    readAt: nullable(timestamp('When it was marked read.')),
  },
  { title: 'Mention' },
)

/** The notes in which colleagues name a member. */
export function serveMentions(app: App, deps: InboxDeps, guard: TeamGuard): void {
  serveListing(app, deps, guard)
  serveReading(app, deps, guard)
}

function serveListing(app: App, { db, vault, leadsOf }: InboxDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: path,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Team inbox'),
      operationId: 'listMentions',
      summary: 'List the notes that mention me',
      description: 'Newest first. For members; a token is mentioned nowhere (403).',
      params,
      querystring: Type.Object(
        {
          unread: Type.Optional(Type.Boolean({ description: 'Only those not marked read.' })),
          limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 30 })),
          cursor: Type.Optional(cursor('From the page before.')),
        },
        closed,
      ),
      response: {
        200: Type.Object({
          mentions: Type.Array(Mention, page),
          unread,
          cursor: Type.Union([cursor('For the next page.'), Type.Null()]),
        }),
        ...errors(400, 401, 403, 404),
      },
    },
    handler: async (request) => {
      const { workspaceId } = memberOf(request)
      const userId = personOf(memberOf(request))
      const { unread: unreadOnly = false, limit = 30, cursor = null } = request.query
      const keyring = await vault.keyring(workspaceId)
      const [page, count] = await Promise.all([
        listMentions(db.sql, keyring, workspaceId, userId, { limit, unreadOnly, cursor }),
        countUnreadMentions(db.sql, workspaceId, userId),
      ])
      const written = page.mentions.map(({ note }) => note)
      const customers = page.mentions.map(({ contact }) => contact)
      const [notes, contacts] = await Promise.all([
        presentTeamNotes({ db, vault }, workspaceId, written),
        nameContacts(leadsOf, workspaceId, customers),
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
}

function serveReading(app: App, { db, clock }: InboxDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: `${path}/read`,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Team inbox'),
      operationId: 'markMentionsRead',
      summary: 'Mark my mentions read',
      description: 'Those of one conversation, or all.',
      params,
      body: Type.Object({ conversationId: Type.Optional(idSchema('Only those of this conversation.')) }, closed),
      response: { 200: Type.Object({ unread }), ...errors(400, 401, 403, 404, 413, 415) },
    },
    handler: async (request) => {
      const { workspaceId } = memberOf(request)
      const userId = personOf(memberOf(request))
      await markMentionsRead(db, workspaceId, userId, request.body.conversationId ?? null, clock.now())
      return { unread: await countUnreadMentions(db.sql, workspaceId, userId) }
    },
  })
}

function personOf({ userId }: Member): string {
  if (userId === null) throw forbidden('A token is nobody whom a note could mention. Sign in as a member.')
  return userId
}
