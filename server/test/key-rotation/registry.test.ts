import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyedTables } from '../../src/app/tables.ts'
import { testDatabase } from '../support/database.ts'

/** Columns of bytes that no rotation touches, and why. */
const notSealed: Record<string, string> = {
  'api_keys.key_hash': 'SHA-256 of a random key',
  'api_keys.previous_key_hash': 'SHA-256 of a random key',
  'invitations.token_hash': 'SHA-256 of a random token',
  'sessions.token_hash': 'SHA-256 of a random token',
  'sessions.sso_sid': 'a stable digest of a random id',
  'sso_identities.subject': 'a stable digest of a random id',
  'sso_logouts.jti': 'SHA-256 of a random id, forgotten within minutes',
  'sso_providers.scim_token_hash': 'SHA-256 of a random token',
  'sign_in_challenges.token_hash': 'SHA-256 of a random token',
  'sign_in_links.token_hash': 'SHA-256 of a random token',
  'team_tokens.token_hash': 'SHA-256 of a random token',
  'oauth_codes.code_hash': 'SHA-256 of a random code',
  'oauth_tokens.token_hash': 'SHA-256 of a random token',
  'website_sessions.token_hash': 'SHA-256 of a random token',
  'login_attempts.key': 'a stable digest, forgotten within a day',
  'known_sign_ins.mark': 'a stable digest, forgotten after 90 days',
  'lead_import_dry_names.name': 'a stable digest, forgotten with its import',
  'lead_source_requests.digest': 'a stable digest, forgotten after 30 days',
  'messages.external_index': 'a stable digest of a random id',
  'message_parts.external_index': 'a stable digest of a random id',
  'message_reactions.about_index': 'a stable digest of a random id',
  'message_charges.external_index': 'a stable digest of a random id',
  'parked_revisions.about_index': 'a stable digest of a random id',
  'parked_statuses.external_index': 'a stable digest of a random id',
  'push_subscriptions.endpoint_hash': 'SHA-256 of an address with a random part, which tells browsers apart',
  'events.trace': 'the random ids of a trace',
  'secrets.wrapped': 'wrapped by the master key, which has a rotation of its own',
}

const digests = [
  'email_index',
  'user_name_index',
  'external_id_index',
  'phone_index',
  'phone_exact_index',
  'user_index',
  'identity_index',
  'digest',
  'tokens',
]

test('every bytea column is rotated, or listed here with a reason', async () => {
  const rotated = keyedTables.encrypted.flatMap(({ table, locations }) =>
    Object.keys(locations).map((column) => `${table}.${column}`),
  )
  const columns = await columnsOf(['bytea'])
  const bytes = columns.filter(({ name, table }) => !(digests.includes(name) && isIndexed(table)))
  assert.deepEqual(
    bytes.map(({ table, name }) => `${table}.${name}`).sort(),
    [...rotated, ...Object.keys(notSealed)].sort(),
  )
})

test('every table with versioned digests is rotated', async () => {
  const versioned = (await columnsOf(['integer'])).filter(({ name }) => name === 'index_version')
  assert.deepEqual(versioned.map(({ table }) => table).sort(), keyedTables.indexed.map(({ table }) => table).sort())
})

test('the rotation key of a table identifies its rows', async () => {
  const { db } = await testDatabase()
  const keys = await db.sql<{ table: string; key: string }[]>`
    select conrelid::regclass::text as table, replace(pg_get_constraintdef(oid), '"', '') as key
    from pg_constraint
    where contype = 'p'`
  for (const { table, keyScope, key } of [...keyedTables.encrypted, ...keyedTables.indexed]) {
    const columns = [...(keyScope === 'workspace' ? ['workspace_id'] : []), ...key].join(', ')
    assert.equal(keys.find((each) => each.table === table)?.key, `PRIMARY KEY (${columns})`)
  }
})

const isIndexed = (table: string) => keyedTables.indexed.some((each) => each.table === table)

async function columnsOf(types: string[]): Promise<{ table: string; name: string }[]> {
  const { db } = await testDatabase()
  return db.sql<{ table: string; name: string }[]>`
    select table_name as table, column_name as name
    from information_schema.columns
    where table_schema = 'public'
      and data_type = any (${types})
      and not (select relispartition from pg_class where oid = to_regclass(table_name))`
}
