import { type Static, Type } from 'typebox'
import { nullable, timestamp } from '../../base/route.ts'
import { cursor, text, visible } from '../../base/schema-types.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { idSchema } from '../../team/team-schema.ts'
import * as schema from '../api/schema.ts'
import { described, strict } from '../api/schema.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import { actorOf, authorOf } from '../conversation/message.ts'
import { actorReferences, readContacts, readNames } from '../read/names.ts'
import { type MessageHit, searchMessages } from '../search/search-messages.ts'
import { maxStretches, maxStretchLength, snippetOf } from '../search/search-terms.ts'
import { inboxPath, scopeOf } from './inbox-request.ts'
import { author, TeamContact } from './inbox-schema.ts'
import { presentContact, presentNamed } from './present-conversation.ts'

const maxFound = 50

const SearchQuery = strict({
  search: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: visible,
    description:
      'Words that a message has to say, all of them, in any order, whatever their case and accents. The last one may be the beginning of a word, from three letters on. In quotes: words that follow each other.',
    example: 'blue sofa deliv',
  }),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxFound, default: 20 })),
  cursor: Type.Optional(cursor('From the page before.')),
})

const FoundInMessage = described('FoundMessage', 'A message that says what was looked for.', {
  id: idSchema('The message: `aroundMessage` of the timeline shows what stands around it.'),
  conversationId: idSchema('Its conversation.'),
  contact: TeamContact,
  direction: schema.messageFields.direction,
  kind: schema.messageFields.kind,
  author,
  occurredAt: schema.messageFields.occurred_at,
  snippet: Type.Array(
    Type.Object({
      text: text(maxStretchLength, 'A stretch of the text.', { example: 'sofa' }),
      isHit: Type.Boolean({ description: 'Whether it is what was looked for.', example: true }),
    }),
    { maxItems: maxStretches, description: 'What stands around the first hit, in order.' },
  ),
})

export function searchRoutes(api: TeamApi, deps: InboxDeps): void {
  const { db, keyStore } = deps
  api.get(`${inboxPath}/messages`, 'member', {
    operationId: 'searchMessages',
    summary: 'Search what messages say',
    description:
      'In all conversations, the messages that came last first. A page may have few or none while its cursor says that older ones have not been looked through.',
    query: SearchQuery,
    answers: {
      200: Type.Object({
        messages: Type.Array(FoundInMessage, { maxItems: maxFound }),
        cursor: nullable(cursor('For what is older; null when all was looked through.')),
        lookedTo: nullable(timestamp('How far back was looked; null when all was looked through.')),
      }),
    },
    allErrors: [400, 401, 404],
    run: async ({ member, query }) => {
      const { search, limit = 20, cursor: from = null } = query
      const { workspaceId } = member
      return keyStore.withKeyring(workspaceId, async (keyring) => {
        const found = await searchMessages(db.sql, keyring, scopeOf(member), { search, limit, cursor: from })
        return {
          messages: await presentHits(deps, workspaceId, found.messages),
          cursor: found.cursor,
          lookedTo: found.lookedTo?.toISOString() ?? null,
        }
      })
    },
  })
}

async function presentHits(
  deps: InboxDeps,
  workspaceId: string,
  messages: readonly MessageHit[],
): Promise<Static<typeof FoundInMessage>[]> {
  const actors = messages.map(actorOf)
  const [contacts, names] = await Promise.all([
    readContacts(
      deps,
      workspaceId,
      messages.map((one) => one.conversation_id),
    ),
    readNames(deps, workspaceId, actorReferences(actors)),
  ])
  return messages.flatMap(({ id, conversation_id: conversationId, direction, kind, text: said, hits, ...row }, n) => {
    const contact = contacts.get(conversationId)
    // Erased since it was found.
    if (contact === undefined) return []
    return {
      id,
      conversationId,
      contact: presentContact(contact),
      direction,
      kind,
      author: presentNamed(authorOf({ direction, kind, actor: actors[n] ?? null }), names),
      occurredAt: row.occurred_at.toISOString(),
      snippet: snippetOf(said, hits),
    }
  })
}
