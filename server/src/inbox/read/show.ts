import type { Sql } from '../../base/db.ts'
import { andNamed } from '../../base/distribution/spread.ts'
import type { Conversation, InboxDeps } from '../conversation/conversation.ts'
import { type Author, actorOf, authorOf, type MessageRow } from '../conversation/message.ts'
import { keyIdOf } from '../conversation/owner.ts'
import { type NamedContact, type Names, nameContact, nameContacts, namedActors, readNames } from './names.ts'

/** A conversation with all that a row of the list shows. */
export interface ShownConversation {
  conversation: Conversation
  contact: NamedContact
  newest: NewestMessage | null
  names: Names
}

/** Of the newest message, what the conversation does not hold itself. */
export interface NewestMessage {
  id: string
  status: MessageRow['status']
  errorCode: string | null
  author: Author
}

/** Three look-ups, however many conversations there are. */
export async function showConversations(
  { db, vault, leadsOf }: Pick<InboxDeps, 'db' | 'vault' | 'leadsOf'>,
  workspaceId: string,
  conversations: readonly Conversation[],
): Promise<ShownConversation[]> {
  const ids = conversations.map(({ id }) => id)
  const contacts = conversations.map(({ contact }) => contact)
  const [newest, called] = await Promise.all([
    selectNewest(db.sql, workspaceId, ids),
    nameContacts(leadsOf, workspaceId, contacts),
  ])
  const names = await readNames({ db, vault }, workspaceId, [
    ...namedActors([...newest.values()].map(({ author }) => author)),
    ...conversations.flatMap(({ connectionId, assignedTo, owner }) => [
      { type: 'connection' as const, id: connectionId },
      ...namedActors([
        { type: 'user', id: assignedTo },
        { type: 'agent', id: keyIdOf(owner) },
      ]),
    ]),
  ])
  return conversations.map((conversation, n) => ({
    conversation,
    contact: called[n] ?? nameContact(conversation.contact, null),
    newest: newest.get(conversation.id) ?? null,
    names,
  }))
}

type NewestRow = Pick<
  MessageRow,
  'id' | 'conversation_id' | 'direction' | 'kind' | 'status' | 'error_code' | 'actor_type' | 'actor_id'
>

/** Passes over the reactions sent here, as conversations do. No plan reads all of them for one value of each message. */
async function selectNewest(
  sql: Sql,
  workspaceId: string,
  conversationIds: string[],
): Promise<Map<string, NewestMessage>> {
  if (conversationIds.length === 0) return new Map()
  const rows = await sql<NewestRow[]>`
    select m.id, m.conversation_id, m.direction, m.kind, m.status, m.error_code, m.actor_type, m.actor_id
    from unnest(${conversationIds}::uuid[]) as c (id)
    cross join lateral (
      select *
      from messages one
      where workspace_id = ${workspaceId}
        and conversation_id = c.id
        and (
          direction = 'inbound'
          or origin <> 'live'
          or (
            select r.message_id
            from message_reactions r
            where r.workspace_id = one.workspace_id
              and r.message_id = one.id
              ${andNamed(sql, workspaceId, 'r')}
          ) is null
        )
      order by occurred_at desc
      limit 1
    ) m`
  return new Map(
    rows.map((row) => {
      const { id, direction, kind, status, error_code: errorCode } = row
      return [
        row.conversation_id,
        { id, status, errorCode, author: authorOf({ direction, kind, actor: actorOf(row) }) },
      ]
    }),
  )
}
