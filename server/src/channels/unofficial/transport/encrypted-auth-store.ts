import type { Tx } from '../../../base/db.ts'
import { DecryptionError, UnknownKeyVersion } from '../../../base/encryption/encrypt.ts'
import type { Keyring } from '../../../base/encryption/keyring.ts'
import { unnested } from '../../../base/postgres/rows.ts'
import type { CallbackDeps } from '../../store-callback.ts'
import { type Lease, requireLease } from '../session/session-lease.ts'
import type { AuthKey, AuthStore } from './transport.ts'

type AuthStoreDeps = Pick<CallbackDeps, 'db' | 'keyStore' | 'log'>

/** The credentials are stored as another row of the key table. */
const credsType = 'creds'

/**
 * Stores a session's credentials and keys, each encrypted for its row, while the lease is valid: a write with an older
 * fence throws LeaseLostError and changes nothing.
 */
export function encryptedAuthStore(deps: AuthStoreDeps, lease: Lease): AuthStore {
  const { db, keyStore } = deps
  const write = async (entries: readonly AuthKey[]) => {
    if (entries.length === 0) return
    const keyring = await keyStore.keyring(lease.workspaceId)
    await db.tx((tx) => writeKeys(tx, keyring, lease, entries))
  }
  const read = (type: string, ids: readonly string[]) =>
    keyStore.withKeyring(lease.workspaceId, (keyring) => readKeys(deps, keyring, lease, type, ids))
  return {
    readCreds: async () => (await read(credsType, [''])).get('') ?? null,
    writeCreds: (value) => write([{ type: credsType, id: '', value }]),
    readKeys: read,
    writeKeys: write,
  }
}

async function readKeys(
  { db, log }: AuthStoreDeps,
  keyring: Keyring,
  lease: Lease,
  type: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const idOf = new Map(ids.map((id) => [keyDigest(keyring, lease.connectionId, type, id), id]))
  if (idOf.size === 0) return new Map()
  const rows = await db.sql<{ digest: string; value: Buffer }[]>`
    select digest, value
    from session_keys
    where workspace_id = ${lease.workspaceId}
      and connection_id = ${lease.connectionId}
      and type = ${type}
      and digest = any (${[...idOf.keys()]}::text[])`
  const found = new Map<string, string>()
  for (const { digest, value } of rows) {
    const id = idOf.get(digest)
    if (id === undefined) continue
    const key = { connection_id: lease.connectionId, type, digest }
    try {
      found.set(id, keyring.decryptText(keyPlace(key), value))
    } catch (error) {
      if (!(error instanceof DecryptionError) || error instanceof UnknownKeyVersion || type === credsType) throw error
      // The network replaces a missing chat key; without credentials the device is lost.
      log.error('failed to decrypt a session key; treating it as missing', { connectionId: lease.connectionId }, error)
    }
  }
  return found
}

async function writeKeys(tx: Tx, keyring: Keyring, lease: Lease, entries: readonly AuthKey[]): Promise<void> {
  const { workspaceId, connectionId } = lease
  await requireLease(tx, lease)
  const rows = [...new Map(entries.map((entry) => [`${entry.type} ${entry.id}`, entry])).values()]
    .map(({ type, id, value }) => ({ type, digest: keyDigest(keyring, lease.connectionId, type, id), value }))
    .sort((a, b) => (a.type + a.digest < b.type + b.digest ? -1 : 1))
  const deleted = rows.filter(({ value }) => value === null)
  const kept = rows.flatMap(({ type, digest, value }) =>
    value === null
      ? []
      : [{ type, digest, value: keyring.encrypt(keyPlace({ connection_id: connectionId, type, digest }), value) }],
  )
  if (deleted.length > 0) {
    await tx`
      delete from session_keys k
      using ${unnested(deleted, { text: ['type', 'digest'] })}
      where k.workspace_id = ${workspaceId}
        and k.connection_id = ${connectionId}
        and k.type = n.type
        and k.digest = n.digest`
  }
  if (kept.length === 0) return
  await tx`
    insert into session_keys (workspace_id, connection_id, type, digest, value)
    select ${workspaceId}::uuid, ${connectionId}::uuid, n.type, n.digest, n.value
    from ${unnested(kept, { text: ['type', 'digest'], bytea: ['value'] })}
    on conflict (workspace_id, connection_id, type, digest) do update
    set value = excluded.value`
}

// Returns a digest of the key's name, which may contain a customer's phone. Not affected by rotations of the index key,
// because rows can be found only by it; the rows are deleted with the pairing.
export function keyDigest(keyring: Keyring, connectionId: string, type: string, id: string): string {
  return keyring.stable('session.key', `${connectionId} ${type} ${id}`).toString('hex')
}

export const keyPlace = ({ connection_id, type, digest }: { connection_id: string; type: string; digest: string }) => ({
  table: 'session_keys',
  row: `${connection_id} ${type} ${digest}`,
  column: 'value',
})
