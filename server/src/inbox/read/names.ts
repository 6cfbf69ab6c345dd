import { decryptPerson } from '../../auth/users/users.ts'
import { andWorkspace } from '../../base/citus/distributed-sql.ts'
import type { Sql } from '../../base/db.ts'
import { instanceScope } from '../../base/encryption/key-store.ts'
import type { Contact, Conversation, InboxDeps, LeadSummary, ReadDeps } from '../conversation/conversation.ts'
import { type Author, actorOf, authorOf, type MessageRow } from '../conversation/message.ts'
import { keyIdOf } from '../conversation/owner.ts'
import { opaqueWorkspaceId } from '../conversation/queries.ts'
import { decryptCachedContact } from './conversation-list-item.ts'

/** Id whose name a page shows. */
export interface NameReference {
  /** `system`: an automation rule, a broadcast or a sequence. */
  type: 'agent' | 'user' | 'token' | 'connection' | 'team' | 'system'
  id: string
}

/** Returns the name of a key, person, team token, connection, team, rule or sequence; null if deleted or of another type. */
export type Names = (type: string, id: string | null) => string | null

interface NameRow {
  type: NameReference['type']
  id: string
  name: string | null
  person: Buffer | null
}

/** Reads all names in one statement. */
export async function readNames(
  { db, keyStore }: ReadDeps,
  workspaceId: string,
  references: readonly NameReference[],
): Promise<Names> {
  if (references.length === 0) return () => null
  const idsOf = (type: NameReference['type']) => [
    ...new Set(references.flatMap((one) => (one.type === type ? [one.id] : []))),
  ]
  const { sql } = db
  const rows = await sql<NameRow[]>`
    select 'agent' as type, id, name, null::bytea as person
    from api_keys
    where workspace_id = ${workspaceId}
      and id = any (${idsOf('agent')}::uuid[])
    union all
    select 'connection', id, name, null
    from connections
    where workspace_id = ${workspaceId}
      and id = any (${idsOf('connection')}::uuid[])
    union all
    select 'team', id, name, null
    from teams
    where workspace_id = ${workspaceId}
      and id = any (${idsOf('team')}::uuid[])
    union all
    select 'system', id, name, null
    from automation_rules
    where workspace_id = ${workspaceId}
      and id = any (${idsOf('system')}::uuid[])
    union all
    select 'system', id, name, null
    from broadcasts
    where workspace_id = ${workspaceId}
      and id = any (${idsOf('system')}::uuid[])
    union all
    select 'system', id, name, null
    from sequences
    where workspace_id = ${workspaceId}
      and id = any (${idsOf('system')}::uuid[])
    union all
    select 'token', id, name, null
    from team_tokens
    where id = any (${idsOf('token')}::uuid[])
      and (workspace_id is null or workspace_id = ${workspaceId})
    union all
    select 'user', id, null, person
    from users
    where id = any (${idsOf('user')}::uuid[])`
  const keys = await keyStore.keyring(instanceScope)
  const names = new Map(
    rows.map(({ type, id, name, person }) => [
      `${type} ${id}`,
      person === null ? name : decryptPerson(keys, id, person).name,
    ]),
  )
  return (type, id) => names.get(`${type} ${id}`) ?? null
}

/** A customer as the team sees them. */
export interface NamedContact {
  /** Name of their lead, else of their profile on the platform. */
  name: string | null
  /** Name of the platform profile, even if the lead has a name. */
  profileName: string | null
  phone: string | null
  /** Lead with their phone. */
  leadId: string | null
}

/** Adds the current names of leads to contacts, with one lookup; keeps the order. */
export async function resolveContacts(
  findLeadsByPhone: InboxDeps['findLeads'],
  workspaceId: string,
  contacts: readonly Pick<Contact, 'name' | 'phone'>[],
): Promise<NamedContact[]> {
  const phones = new Set(contacts.flatMap(({ phone }) => phone ?? []))
  const leads = phones.size === 0 ? new Map<string, LeadSummary>() : await findLeadsByPhone(workspaceId, [...phones])
  return contacts.map((contact) => resolveContact(contact, leads.get(contact.phone ?? '') ?? null))
}

/** Ignores a lead name that is only a number: the lead was created from a customer without a name. */
export function resolveContact(
  { name, phone }: Pick<Contact, 'name' | 'phone'>,
  lead: Pick<LeadSummary, 'id' | 'name'> | null,
): NamedContact {
  const isNamed = lead !== null && /[^\d\s()+.-]/.test(lead.name)
  return { name: isNamed ? lead.name : name, profileName: name, phone, leadId: lead?.id ?? null }
}

/** Returns the contacts of these conversations by conversation id. */
export async function readContacts(
  { db, keyStore, findLeads }: Pick<InboxDeps, 'db' | 'keyStore' | 'findLeads'>,
  workspaceId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, NamedContact>> {
  if (ids.length === 0) return new Map()
  const rows = await db.sql<{ id: string; contact: string }[]>`
    select c.id, encode(c.contact, 'base64') as contact
    from conversations c
    where c.workspace_id = ${opaqueWorkspaceId(db.sql, workspaceId)}
      and c.id = any (${[...new Set(ids)]}::uuid[])`
  const contacts = await keyStore.withKeyring(workspaceId, (keyring) =>
    rows.map((row) => decryptCachedContact(keyring, row)),
  )
  const named = await resolveContacts(findLeads, workspaceId, contacts)
  return new Map(rows.flatMap(({ id }, n) => (named[n] === undefined ? [] : [[id, named[n]]])))
}

/** Returns the actors, and teams, that have names. */
export function actorReferences(actors: readonly ({ type: string; id: string | null } | null)[]): NameReference[] {
  return actors.flatMap((actor) => {
    if (actor === null || actor.id === null) return []
    const { type, id } = actor
    const hasName = type === 'agent' || type === 'user' || type === 'token' || type === 'team' || type === 'system'
    return hasName ? [{ type, id }] : []
  })
}

/** A conversation with everything that a list row shows. */
export interface ConversationView {
  conversation: Conversation
  contact: NamedContact
  newest: NewestMessage | null
  names: Names
}

/** Data of the newest message that the conversation does not contain. */
interface NewestMessage {
  id: string
  status: MessageRow['status']
  errorCode: string | null
  author: Author
}

/** Uses three lookups for any number of conversations. */
export async function readConversationViews(
  { db, keyStore, findLeads }: Pick<InboxDeps, 'db' | 'keyStore' | 'findLeads'>,
  workspaceId: string,
  conversations: readonly Conversation[],
): Promise<ConversationView[]> {
  const ids = conversations.map(({ id }) => id)
  const contacts = conversations.map(({ contact }) => contact)
  const [newest, resolved] = await Promise.all([
    selectNewest(db.sql, workspaceId, ids),
    resolveContacts(findLeads, workspaceId, contacts),
  ])
  const names = await readNames({ db, keyStore }, workspaceId, [
    ...actorReferences([...newest.values()].map(({ author }) => author)),
    ...conversations.flatMap(({ connectionId, assignedTo, teamId, owner }) => [
      { type: 'connection' as const, id: connectionId },
      ...(teamId === null ? [] : [{ type: 'team' as const, id: teamId }]),
      ...actorReferences([
        { type: 'user', id: assignedTo },
        { type: 'agent', id: keyIdOf(owner) },
      ]),
    ]),
  ])
  return conversations.map((conversation, n) => ({
    conversation,
    contact: resolved[n] ?? resolveContact(conversation.contact, null),
    newest: newest.get(conversation.id) ?? null,
    names,
  }))
}

type NewestRow = Pick<
  MessageRow,
  'id' | 'conversation_id' | 'direction' | 'kind' | 'status' | 'error_code' | 'actor_type' | 'actor_id'
>

/**
 * Skips reactions and automatic messages sent through this service, like `lastMessage`. The subquery is written so that no plan reads all
 * reactions for each message.
 */
async function selectNewest(sql: Sql, workspaceId: string, conversationIds: string[]) {
  if (conversationIds.length === 0) return new Map<string, NewestMessage>()
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
          or (actor_type is distinct from 'system' and (
            select r.message_id
            from message_reactions r
            where r.workspace_id = one.workspace_id
              and r.message_id = one.id
              ${andWorkspace(sql, workspaceId, 'r')}
          ) is null)
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
