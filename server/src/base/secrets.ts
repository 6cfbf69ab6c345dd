import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { Sql, Tx } from './db.ts'
import { masterKeyId } from './master-key.ts'

export type SecretPurpose = 'data' | 'index'

/** Which secret it is; its wrapping is bound to this, so that rows cannot be exchanged for each other. */
export interface SecretName {
  scopeId: string
  purpose: SecretPurpose
  version: number
}

export interface SecretRow {
  purpose: SecretPurpose
  version: number
  master_key_id: string
  wrapped: Buffer
  current: boolean
}

/** Every version of a scope's secrets, still wrapped. */
export async function listSecrets(sql: Sql, scopeId: string): Promise<SecretRow[]> {
  return sql<SecretRow[]>`
    select purpose, version, master_key_id, wrapped, current
    from secrets
    where scope_id = ${scopeId}
    order by purpose, version`
}

/**
 * Makes a new random secret and stores it wrapped; does nothing when that version, or another current one, exists.
 * Insert a further version as not current and make it current later: nodes learn of new versions within seconds.
 */
export async function insertSecret(
  tx: Tx,
  name: SecretName & { current: boolean },
  masterKey: Buffer,
  now: Date,
): Promise<void> {
  const wrapped = wrapSecret(masterKey, name, randomBytes(32))
  await tx`
    insert into secrets (scope_id, purpose, version, master_key_id, wrapped, current, created_at)
    values (${name.scopeId}, ${name.purpose}, ${name.version}, ${masterKeyId(masterKey)}, ${wrapped}, ${name.current}, ${now})
    on conflict do nothing`
}

const nonceBytes = 12
const tagBytes = 16

/** Encrypts a secret under the master key with AES-256-GCM: nonce, ciphertext, tag. */
export function wrapSecret(masterKey: Buffer, name: SecretName, secret: Buffer): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', masterKey, nonce).setAAD(nameBytes(name))
  return Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()])
}

/** The secret within `row`; throws when its master key is not among `masterKeys` or when the row was tampered with. */
export function unwrapSecret(masterKeys: readonly Buffer[], scopeId: string, row: SecretRow): Buffer {
  const masterKey = masterKeys.find((key) => masterKeyId(key) === row.master_key_id)
  if (masterKey === undefined) {
    throw new Error(`Secrets are wrapped by master key ${row.master_key_id}: give it as the current or a previous key`)
  }
  const { purpose, version, wrapped } = row
  try {
    const decipher = createDecipheriv('aes-256-gcm', masterKey, wrapped.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    })
    decipher.setAAD(nameBytes({ scopeId, purpose, version })).setAuthTag(wrapped.subarray(-tagBytes))
    return Buffer.concat([decipher.update(wrapped.subarray(nonceBytes, -tagBytes)), decipher.final()])
  } catch (cause) {
    throw new Error(`The ${purpose} secret ${version} of scope ${scopeId} does not open: restore its row`, { cause })
  }
}

function nameBytes({ scopeId, purpose, version }: SecretName): Buffer {
  return Buffer.from(`parley secret|${scopeId}|${purpose}|${version}`)
}
