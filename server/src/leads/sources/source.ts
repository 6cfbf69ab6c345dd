import { randomBytes } from 'node:crypto'
import type { Db, Sql, Tx } from '../../base/db.ts'
import type { KeyStore } from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { createToken } from '../../base/encryption/secret-token.ts'
import { InvalidInput, notFound, unprocessable } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { type MappedField, mappingIssues } from './mapping.ts'

export const sourceKinds = ['webhook', 'lead_ads'] as const
export type SourceKind = (typeof sourceKinds)[number]

/** How a webhook proves who sends it: by a signature, or by a secret in its URL for senders that cannot sign. */
export const sourceProofs = ['signature', 'url'] as const
export const matchFields = ['phone', 'email', 'externalRef'] as const

export interface SourceSettings {
  /** Signing secret, secret of the URL, or the verify token of lead ads. */
  secret: string
  proof: (typeof sourceProofs)[number]
  /** By what an existing lead is found. */
  match: (typeof matchFields)[number]
  mapping: MappedField[]
  /** Where the sender's own id of the request is; null: only a repeat of the same bytes is recognized. */
  idPath: string | null
  /** For lead ads: the connection whose app calls and whose token reads, the page, and the forms; empty: all. */
  connectionId: string | null
  pageId: string | null
  formIds: string[]
}

export interface LeadSource {
  id: string
  kind: SourceKind
  name: string
  isEnabled: boolean
  settings: SourceSettings
  createdAt: Date
}

type SourceRow = Omit<LeadSource, 'settings'> & { settings: Buffer }

export const maxSources = 50

const placeOf = (id: string) => ({ table: 'lead_sources', row: id, column: 'settings' })

const columns = (sql: Sql) => sql`id, kind, name, is_enabled as "isEnabled", settings, created_at as "createdAt"`

const decrypt = (keyring: Keyring, row: SourceRow): LeadSource => ({
  ...row,
  settings: JSON.parse(keyring.decryptText(placeOf(row.id), row.settings)) as SourceSettings,
})

/** Returns a new secret: for signatures as in Standard Webhooks, otherwise text that is safe in a URL. */
export const createSourceSecret = (kind: SourceKind, proof: SourceSettings['proof']): string =>
  kind === 'webhook' && proof === 'signature' ? `whsec_${randomBytes(32).toString('base64')}` : createToken()

export async function listSources(sql: Sql, keyring: Keyring, workspaceId: string): Promise<LeadSource[]> {
  const rows = await sql<SourceRow[]>`
    select ${columns(sql)}
    from lead_sources
    where workspace_id = ${workspaceId}
    order by id`
  return rows.map((row) => decrypt(keyring, row))
}

export async function findSource(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  id: string,
): Promise<LeadSource | undefined> {
  const [row] = await sql<SourceRow[]>`
    select ${columns(sql)}
    from lead_sources
    where workspace_id = ${workspaceId}
      and id = ${id}`
  return row === undefined ? undefined : decrypt(keyring, row)
}

/** Returns the source that a sender calls, before anything is known about who it is. */
export async function findCalledSource(
  { db, keyStore }: { db: Db; keyStore: KeyStore },
  workspaceId: string,
  id: string,
): Promise<LeadSource | undefined> {
  const [row] = await db.sql<SourceRow[]>`
    select ${columns(db.sql)}
    from lead_sources
    where workspace_id = ${workspaceId}
      and id = ${id}
      and is_enabled`
  return row === undefined ? undefined : keyStore.withKeyring(workspaceId, async (keyring) => decrypt(keyring, row))
}

export const sourceNotFound = () => notFound('Lead source not found')

export async function requireSource(sql: Sql, keyring: Keyring, workspaceId: string, id: string): Promise<LeadSource> {
  const source = await findSource(sql, keyring, workspaceId, id)
  if (source === undefined) throw sourceNotFound()
  return source
}

export type SourceFields = Pick<LeadSource, 'kind' | 'name' | 'isEnabled'> & Omit<SourceSettings, 'secret'>

interface WriteContext {
  tx: Tx
  keyring: Keyring
  workspaceId: string
  now: Date
}

/** Creates a source. Throws 400 for a mapping that cannot work, and 422 beyond 50 sources. */
export async function createSource(work: WriteContext, fields: SourceFields): Promise<LeadSource> {
  const { tx, keyring, workspaceId, now } = work
  await tx`select pg_advisory_xact_lock(hashtextextended(${`lead_sources ${workspaceId}`}, 0))`
  if ((await listSources(tx, keyring, workspaceId)).length >= maxSources)
    throw unprocessable(`A workspace has at most ${maxSources} lead sources. Delete one first.`)
  const { kind, name, isEnabled, ...rest } = fields
  const settings = { ...rest, secret: createSourceSecret(kind, rest.proof) }
  const source = { id: newId(now), kind, name: name.trim(), isEnabled, settings, createdAt: now }
  await check(work, source)
  await tx`
    insert into lead_sources (workspace_id, id, kind, name, is_enabled, settings, created_at, updated_at)
    values (
      ${workspaceId}, ${source.id}, ${kind}, ${source.name}, ${isEnabled},
      ${keyring.encrypt(placeOf(source.id), JSON.stringify(settings))}, ${now}, ${now}
    )`
  return source
}

/** Changes a source; `newSecret` replaces its secret, and the old one ends at once. Throws 400 and 404. */
export async function changeSource(
  work: WriteContext,
  id: string,
  { newSecret = false, ...changed }: Partial<Omit<SourceFields, 'kind'>> & { newSecret?: boolean | undefined },
): Promise<LeadSource> {
  const { tx, keyring, workspaceId, now } = work
  await tx`select from lead_sources where workspace_id = ${workspaceId} and id = ${id} for update`
  const before = await requireSource(tx, keyring, workspaceId, id)
  const { name = before.name, isEnabled = before.isEnabled, ...rest } = changed
  const settings = { ...before.settings, ...rest }
  // A secret of the other kind of proof has another form.
  if (newSecret || settings.proof !== before.settings.proof)
    settings.secret = createSourceSecret(before.kind, settings.proof)
  const source = { ...before, name: name.trim(), isEnabled, settings }
  await check(work, source)
  await tx`
    update lead_sources
    set name = ${source.name},
      is_enabled = ${isEnabled},
      settings = ${keyring.encrypt(placeOf(id), JSON.stringify(settings))},
      updated_at = ${now}
    where workspace_id = ${workspaceId}
      and id = ${id}`
  return source
}

/** Deletes a source with what it has sent; its leads stay. */
export async function deleteSource(tx: Tx, workspaceId: string, id: string): Promise<void> {
  const { count } = await tx`delete from lead_sources where workspace_id = ${workspaceId} and id = ${id}`
  if (count === 0) throw sourceNotFound()
  await tx`delete from lead_source_requests where workspace_id = ${workspaceId} and source_id = ${id}`
}

async function check({ tx, workspaceId }: WriteContext, { kind, settings }: LeadSource): Promise<void> {
  const { mapping, match, connectionId } = settings
  const issues = mappingIssues(mapping)
  const hasField = (field: string) => mapping.some((one) => one.field === field)
  if (!hasField(match)) issues.push({ path: 'mapping', message: `must set ${match}, by which leads are found` })
  if (!hasField('name') && !hasField('firstName'))
    issues.push({ path: 'mapping', message: 'must set name or firstName' })
  if (kind === 'lead_ads') {
    const rows = await tx`
      select id
      from connections
      where workspace_id = ${workspaceId}
        and id = ${connectionId}
        and channel = 'waba'`
    if (rows.length === 0)
      issues.push({ path: 'connectionId', message: 'must be a connection of the official platform' })
  }
  if (issues.length > 0) throw new InvalidInput(issues)
}
