import { openPerson } from '../../access/users/users.ts'
import type { Db } from '../../base/db.ts'
import { instanceScope, type Vault } from '../../base/sealing/vault.ts'
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

/** Who the customers of these conversations are, by the conversation's id. */
export async function readContacts(
  { db, vault }: { db: Db; vault: Vault },
  workspaceId: string,
  ids: readonly string[],
): Promise<Map<string, { name: string | null; phone: string | null }>> {
  if (ids.length === 0) return new Map()
  const rows = await db.sql<{ id: string; contact: Buffer }[]>`
    select id, contact
    from conversations
    where workspace_id = ${workspaceId}
      and id = any (${[...new Set(ids)]}::uuid[])`
  return vault.withKeyring(workspaceId, (keyring) => {
    const opened = rows.map(({ id, contact }) => ({ id, ...openContact(keyring, id, contact) }))
    return new Map(opened.map(({ id, name, phone }) => [id, { name, phone }]))
  })
}

/** What of these actors has a name. */
export function namedActors(actors: readonly ({ type: string; id: string | null } | null)[]): Named[] {
  return actors.flatMap((actor) => {
    if (actor === null || actor.id === null) return []
    const { type, id } = actor
    return type === 'agent' || type === 'user' || type === 'token' ? [{ type, id }] : []
  })
}
