import type { Fragment, Sql, Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { notFound } from '../../base/errors.ts'
import { selectedAs } from '../../base/postgres/rows.ts'
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

type ProviderRow = Omit<Provider, 'settings' | 'test'> & { settings: Buffer; test: Buffer | null }

export const maxProviders = 20

const columns = selectedAs('sso_providers', ['id', 'settings', 'test', 'isEnabled', 'isForced', 'scimTokenAt'])

async function selectProviders(sql: Sql, instanceKeys: Keyring, rest: Fragment): Promise<Provider[]> {
  const rows = await sql<ProviderRow[]>`
    select ${columns}
    from sso_providers
    ${rest}`
  return rows.map((row) => decryptProvider(instanceKeys, row))
}

export const listProviders = (sql: Sql, instanceKeys: Keyring): Promise<Provider[]> =>
  selectProviders(sql, instanceKeys, sql`order by created_at, id limit ${maxProviders}`)

/** Throws 404. */
export async function requireProvider(sql: Sql, instanceKeys: Keyring, id: string): Promise<Provider> {
  const [provider] = await selectProviders(sql, instanceKeys, sql`where id = ${id}`)
  if (provider === undefined) throw notFound('Identity provider not found')
  return provider
}

/** Returns the enabled provider of a SCIM token. */
export async function findProviderByScimToken(
  sql: Sql,
  instanceKeys: Keyring,
  tokenHash: Buffer,
): Promise<Provider | undefined> {
  const rest = sql`where scim_token_hash = ${tokenHash} and is_enabled`
  const [provider] = await selectProviders(sql, instanceKeys, rest)
  return provider
}

const decryptProvider = (instanceKeys: Keyring, row: ProviderRow): Provider => ({
  ...row,
  settings: JSON.parse(instanceKeys.decryptText(contextOf(row.id, 'settings'), row.settings)),
  test: row.test === null ? null : JSON.parse(instanceKeys.decryptText(contextOf(row.id, 'test'), row.test)),
})

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
