import { openPerson } from '../../access/users/users.ts'
import type { Db } from '../../base/db.ts'
import { instanceScope, type Vault } from '../../base/sealing/vault.ts'
import type { Contact, InboxDeps, LeadCard } from '../conversation/conversation.ts'
import { openContact } from '../conversation/sealed.ts'

/** What has a name that a page shows beside its id. */
export interface Named {
  type: 'agent' | 'user' | 'token' | 'connection'
  id: string
}

/** The name of an API key, a person, a team token or a connection; null for what is no more, and for all else. */
export type Names = (type: string, id: string | null) => string | null

interface NameRow {
  type: Named['type']
  id: string
  name: string | null
  person: Buffer | null
}

/** Looks the names up in one statement, however many there are. */
export async function readNames(
  { db, vault }: { db: Db; vault: Vault },
  workspaceId: string,
  wanted: readonly Named[],
): Promise<Names> {
  if (wanted.length === 0) return () => null
  const of = (type: Named['type']) => [...new Set(wanted.flatMap((one) => (one.type === type ? [one.id] : [])))]
  const { sql } = db
  const rows = await sql<NameRow[]>`
    select 'agent' as type, id, name, null::bytea as person
    from api_keys
    where workspace_id = ${workspaceId}
      and id = any (${of('agent')}::uuid[])
    union all
    select 'connection', id, name, null
    from connections
    where workspace_id = ${workspaceId}
      and id = any (${of('connection')}::uuid[])
    union all
    select 'token', id, name, null
    from team_tokens
    where id = any (${of('token')}::uuid[])
      and (workspace_id is null or workspace_id = ${workspaceId})
    union all
    select 'user', id, null, person
    from users
    where id = any (${of('user')}::uuid[])`
  const keys = await vault.keyring(instanceScope)
  const names = new Map(
    rows.map(({ type, id, name, person }) => [
      `${type} ${id}`,
      person === null ? name : openPerson(keys, id, person).name,
    ]),
  )
  return (type, id) => names.get(`${type} ${id}`) ?? null
}

/** A customer as the team sees them. */
export interface NamedContact {
  /** The name of their lead; without one the name that they gave themselves. */
  name: string | null
  /** That one, whatever the lead is called. */
  profileName: string | null
  phone: string | null
  /** The lead that has their phone. */
  leadId: string | null
}

/** Names customers as their leads are named now, by one look-up however many they are; in the order in which they were given. */
export async function nameContacts(
  leadsOf: InboxDeps['leadsOf'],
  workspaceId: string,
  contacts: readonly Pick<Contact, 'name' | 'phone'>[],
): Promise<NamedContact[]> {
  const phones = new Set(contacts.flatMap(({ phone }) => phone ?? []))
  const leads = phones.size === 0 ? new Map<string, LeadCard>() : await leadsOf(workspaceId, [...phones])
  return contacts.map((contact) => nameContact(contact, leads.get(contact.phone ?? '') ?? null))
}

/** A lead that was made of a customer without a name is called by its number, which is no name. */
export function nameContact(
  { name, phone }: Pick<Contact, 'name' | 'phone'>,
  lead: Pick<LeadCard, 'id' | 'name'> | null,
): NamedContact {
  const isNamed = lead !== null && /[^\d\s()+.-]/.test(lead.name)
  return { name: isNamed ? lead.name : name, profileName: name, phone, leadId: lead?.id ?? null }
}

/** Who the customers of these conversations are, by the conversation's id. */
export async function readContacts(
  { db, vault, leadsOf }: Pick<InboxDeps, 'db' | 'vault' | 'leadsOf'>,
  workspaceId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, NamedContact>> {
  if (ids.length === 0) return new Map()
  const rows = await db.sql<{ id: string; contact: Buffer }[]>`
    select id, contact
    from conversations
    where workspace_id = ${workspaceId}
      and id = any (${[...new Set(ids)]}::uuid[])`
  const contacts = await vault.withKeyring(workspaceId, (keyring) =>
    rows.map(({ id, contact }) => openContact(keyring, id, contact)),
  )
  const named = await nameContacts(leadsOf, workspaceId, contacts)
  return new Map(rows.flatMap(({ id }, n) => (named[n] === undefined ? [] : [[id, named[n]]])))
}

/** What of these actors has a name. */
export function namedActors(actors: readonly ({ type: string; id: string | null } | null)[]): Named[] {
  return actors.flatMap((actor) => {
    if (actor === null || actor.id === null) return []
    const { type, id } = actor
    return type === 'agent' || type === 'user' || type === 'token' ? [{ type, id }] : []
  })
}
