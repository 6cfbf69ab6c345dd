import { Type } from 'typebox'
import { nullable, timestamp } from '../../base/route.ts'
import { cursor, text, visiblePattern } from '../../base/schema-types.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { idSchema } from '../../team/team-schema.ts'
import * as schema from '../api/schema.ts'
import { described, strict } from '../api/schema.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import { actorOf, authorOf } from '../conversation/message.ts'
import { actorReferences, readContacts, readNames } from '../read/names.ts'
import { type MessageHit, searchMessages } from '../search/search-messages.ts'
import { maxSnippetPartLength, maxSnippetParts, snippetOf } from '../search/search-terms.ts'
import { author, TeamContact } from './inbox-schema.ts'
import { inboxPath, presentContact, presentWithName, scopeOf } from './present-conversation.ts'

const maxFound = 50

const SearchQuery = strict({
  search: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: visiblePattern,
    description:
      'Words that a message must contain, in any order, ignoring case and accents. The last word also matches as a prefix if it has at least three letters. Words in quotes must follow each other.',
    example: 'blue sofa deliv',
  }),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxFound, default: 20 })),
  cursor: Type.Optional(cursor('Cursor from the previous page.')),
})

const FoundMessage = described('FoundMessage', 'Message that matches the search.', {
  id: idSchema('Message id; use it as `aroundMessage` of the timeline to show its context.'),
  conversationId: idSchema('Conversation of the message.'),
  contact: TeamContact,
  direction: schema.messageFields.direction,
  kind: schema.messageFields.kind,
  author,
  occurredAt: schema.messageFields.occurred_at,
  snippet: Type.Array(
    Type.Object({
      text: text(maxSnippetPartLength, 'Part of the text.', { example: 'sofa' }),
      isHit: Type.Boolean({ description: 'Whether this part matches.', example: true }),
    }),
    { maxItems: maxSnippetParts, description: 'Text around the first match, in order.' },
  ),
})

export function searchRoutes(api: TeamApi, deps: InboxDeps): void {
  const { db, keyStore } = deps
  api.get(`${inboxPath}/messages`, 'member', {
    operationId: 'searchMessages',
    summary: 'Search messages',
    description:
      'Searches all conversations, newest arrival first. A page can have few or no messages while its cursor shows that older ones remain to be searched.',
    query: SearchQuery,
    answers: {
      200: Type.Object({
        messages: Type.Array(FoundMessage, { maxItems: maxFound }),
        cursor: nullable(cursor('Cursor of older messages; null when the search is complete.')),
        lookedTo: nullable(timestamp('Arrival time of the last message searched; null when the search is complete.')),
      }),
    },
    allErrors: [400, 401, 404],
    run: async ({ member, query }) => {
      const { search, limit = 20, cursor: from = null } = query
      const { workspaceId } = member
      return keyStore.withKeyring(workspaceId, async (keyring) => {
        const found = await searchMessages(
          { sql: db.sql, keyring, ...scopeOf(member) },
          { search, limit, cursor: from },
        )
        return {
          messages: await presentHits(deps, workspaceId, found.messages),
          cursor: found.cursor,
          lookedTo: found.lookedTo?.toISOString() ?? null,
        }
      })
    },
  })
}

async function presentHits(deps: InboxDeps, workspaceId: string, messages: readonly MessageHit[]) {
  const actors = messages.map(actorOf)
  const conversationIds = messages.map((one) => one.conversation_id)
  const [contacts, names] = await Promise.all([
    readContacts(deps, workspaceId, conversationIds),
    readNames(deps, workspaceId, actorReferences(actors)),
  ])
  return messages.flatMap(
    ({ id, conversation_id: conversationId, direction, kind, text: messageText, hits, ...row }, n) => {
      const contact = contacts.get(conversationId)
      // Erased since the search.
      if (contact === undefined) return []
      return {
        id,
        conversationId,
        contact: presentContact(contact),
        direction,
        kind,
        author: presentWithName(authorOf({ direction, kind, actor: actors[n] ?? null }), names),
        occurredAt: row.occurred_at.toISOString(),
        snippet: snippetOf(messageText, hits),
      }
    },
  )
}
