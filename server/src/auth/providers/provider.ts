import type { Sql, Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { type ApiError, notFound } from '../../base/errors.ts'
import { emailKey } from '../../base/text/email.ts'
import type { ProviderSettings, TestResult } from './provider-schema.ts'

export interface Provider {
  id: string
  settings: ProviderSettings
  test: TestResult | null
  isEnabled: boolean
  isForced: boolean
  scimTokenAt: Date | null
}

interface ProviderRow {
  id: string
  settings: Buffer
  test: Buffer | null
  is_enabled: boolean
  is_forced: boolean
  scim_token_at: Date | null
}

export const maxProviders = 20

const columns = (sql: Sql) => sql`id, settings, test, is_enabled, is_forced, scim_token_at`

export async function listProviders(sql: Sql, instanceKeys: Keyring): Promise<Provider[]> {
  const rows = await sql<ProviderRow[]>`
    select ${columns(sql)}
    from sso_providers
    order by created_at, id
    limit ${maxProviders}`
  return rows.map((row) => decryptProvider(instanceKeys, row))
}

/** Throws 404. */
export async function requireProvider(sql: Sql, instanceKeys: Keyring, id: string): Promise<Provider> {
  const [row] = await sql<ProviderRow[]>`
    select ${columns(sql)}
    from sso_providers
    where id = ${id}`
  if (row === undefined) throw providerNotFound()
  return decryptProvider(instanceKeys, row)
}

/** Returns the enabled provider of a SCIM token. */
export async function findProviderByScimToken(
  sql: Sql,
  instanceKeys: Keyring,
  tokenHash: Buffer,
): Promise<Provider | undefined> {
  const [row] = await sql<ProviderRow[]>`
    select ${columns(sql)}
    from sso_providers
    where scim_token_hash = ${tokenHash}
      and is_enabled`
  return row === undefined ? undefined : decryptProvider(instanceKeys, row)
}

const providerNotFound = (): ApiError => notFound('Identity provider not found')

function decryptProvider(instanceKeys: Keyring, row: ProviderRow): Provider {
  return {
    id: row.id,
    settings: JSON.parse(instanceKeys.decryptText(contextOf(row.id, 'settings'), row.settings)),
    test: row.test === null ? null : JSON.parse(instanceKeys.decryptText(contextOf(row.id, 'test'), row.test)),
    isEnabled: row.is_enabled,
    isForced: row.is_forced,
    scimTokenAt: row.scim_token_at,
  }
}

const contextOf = (row: string, column: 'settings' | 'test') => ({ table: 'sso_providers', row, column })

/** Inserts or replaces the provider. `isSameClient` keeps its test. */
export async function saveProvider(
  tx: Tx,
  instanceKeys: Keyring,
  id: string,
  { settings, isEnabled, isSameClient }: { settings: ProviderSettings; isEnabled: boolean; isSameClient: boolean },
  now: Date,
): Promise<void> {
  const sealed = instanceKeys.encrypt(contextOf(id, 'settings'), JSON.stringify(settings))
  await tx`
    insert into sso_providers as p (id, settings, is_enabled, created_at, updated_at)
    values (${id}, ${sealed}, ${isEnabled}, ${now}, ${now})
    on conflict (id) do update
    set settings = ${sealed},
      is_enabled = ${isEnabled},
      test = case when ${isSameClient}::boolean then p.test end,
      updated_at = ${now}`
}

export async function saveTest(tx: Tx, instanceKeys: Keyring, id: string, test: TestResult): Promise<void> {
  await tx`
    update sso_providers
    set test = ${instanceKeys.encrypt(contextOf(id, 'test'), JSON.stringify(test))}
    where id = ${id}`
}

/** Returns the domain of an address in ASCII lower case. */
export function domainOf(email: string): string {
  const key = emailKey(email)
  return key.slice(key.lastIndexOf('@') + 1)
}

export const allowsDomain = ({ domains }: Pick<ProviderSettings, 'domains'>, email: string): boolean =>
  domains.length === 0 || domains.includes(domainOf(email))
