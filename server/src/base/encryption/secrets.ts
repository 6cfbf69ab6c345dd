import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Sql, Tx } from '../db.ts'
import { byteaArray } from '../postgres/values.ts'

export type SecretPurpose = 'data' | 'index' | 'stable'

/** Identifies a secret. Authenticated with its wrapping, so that rows can't be exchanged. */
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
  retired_at: Date | null
}

/** Returns all versions of a scope's secrets, wrapped. */
export async function listSecrets(sql: Sql, scopeId: string): Promise<SecretRow[]> {
  return sql<SecretRow[]>`
    select purpose, version, master_key_id, wrapped, current, retired_at
    from secrets
    where scope_id = ${scopeId}
    order by purpose, version`
}

/**
 * Creates and stores a random secret, wrapped. Does nothing if that version, or another current one, exists. Insert a
 * further version as not current and make it current later, because nodes need seconds to load a new version.
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

/** Makes a version current for encryption. */
export async function makeSecretCurrent(tx: Tx, { scopeId, purpose, version }: SecretName): Promise<void> {
  await tx`
    update secrets
    set current = false
    where scope_id = ${scopeId}
      and purpose = ${purpose}
      and current`
  await tx`
    update secrets
    set current = true
    where scope_id = ${scopeId}
      and purpose = ${purpose}
      and version = ${version}`
}

/** Marks every earlier version as unused by rows. */
export async function retireSecretsBefore(tx: Tx, { scopeId, purpose, version }: SecretName, now: Date): Promise<void> {
  await tx`
    update secrets
    set retired_at = ${now}
    where scope_id = ${scopeId}
      and purpose = ${purpose}
      and version < ${version}
      and retired_at is null`
}

const rewrapBatchSize = 500

/** Rewraps secrets of other master keys with this one, and returns how many. */
export async function rewrapBatch(tx: Tx, masterKeys: readonly Buffer[], masterKey: Buffer): Promise<number> {
  const rows = await tx<(SecretRow & { scope_id: string })[]>`
    select scope_id, purpose, version, master_key_id, wrapped, current, retired_at
    from secrets
    where master_key_id <> ${masterKeyId(masterKey)}
    limit ${rewrapBatchSize}
    for update`
  const wrapped = rows.map((row) => {
    const name = { scopeId: row.scope_id, purpose: row.purpose, version: row.version }
    return wrapSecret(masterKey, name, unwrapSecret(masterKeys, row.scope_id, row))
  })
  await tx`
    update secrets s
    set wrapped = r.wrapped,
      master_key_id = ${masterKeyId(masterKey)}
    from unnest(
      ${rows.map((row) => row.scope_id)}::uuid[],
      ${rows.map((row) => row.purpose)}::text[],
      ${rows.map((row) => row.version)}::integer[],
      ${byteaArray(wrapped)}::bytea[]
    ) as r (scope_id, purpose, version, wrapped)
    where s.scope_id = r.scope_id
      and s.purpose = r.purpose
      and s.version = r.version`
  return rows.length
}

const nonceBytes = 12
const tagBytes = 16

/** Encrypts a secret with the master key, using AES-256-GCM: nonce, ciphertext, tag. */
function wrapSecret(masterKey: Buffer, name: SecretName, secret: Buffer): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', masterKey, nonce).setAAD(nameBytes(name))
  return Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()])
}

/** Returns the secret of `row`. Throws if its master key is not in `masterKeys` or the row was altered. */
export function unwrapSecret(masterKeys: readonly Buffer[], scopeId: string, row: SecretRow): Buffer {
  const masterKey = masterKeys.find((key) => masterKeyId(key) === row.master_key_id)
  if (masterKey === undefined) {
    throw new Error(`Secrets are wrapped by master key ${row.master_key_id}: set it as the current or a previous key`)
  }
  const { purpose, version, wrapped } = row
  try {
    const decipher = createDecipheriv('aes-256-gcm', masterKey, wrapped.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    })
    decipher.setAAD(nameBytes({ scopeId, purpose, version })).setAuthTag(wrapped.subarray(-tagBytes))
    return Buffer.concat([decipher.update(wrapped.subarray(nonceBytes, -tagBytes)), decipher.final()])
  } catch (cause) {
    throw new Error(`Cannot decrypt ${purpose} secret ${version} of scope ${scopeId}: restore its row`, { cause })
  }
}

function nameBytes({ scopeId, purpose, version }: SecretName): Buffer {
  return Buffer.from(`parley secret|${scopeId}|${purpose}|${version}`)
}

/** Parses a 32-byte master key from 64 hex digits or base64; throws otherwise. */
export function parseMasterKey(text: string): Buffer {
  const trimmed = text.trim()
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return Buffer.from(trimmed, 'hex')
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)) return Buffer.from(trimmed, 'base64')
  throw new Error('A master key is 64 hex digits or the base64 of 32 bytes: create one with `openssl rand -hex 32`')
}

/** Returns the id of a master key: the first 8 hex digits of its SHA-256. */
export function masterKeyId(masterKey: Buffer): string {
  return hash('sha256', masterKey).slice(0, 8)
}

/**
 * Returns the master key in the file at `path`. Creates the file, readable only by its owner, if it is missing. If
 * several processes start at once, all get the key of the first. Never overwrites a file.
 */
export function loadOrCreateMasterKeyFile(path: string): Buffer {
  return readKeyFile(path) ?? createKeyFile(path)
}

/**
 * Replaces the key in the file at `path`. First copies the old key to a file next to it, named by its id: whenever the
 * process is killed, there is the old key alone or both.
 */
export function replaceMasterKeyFile(path: string): { masterKey: Buffer; previousFile: string } {
  const previousText = readFileSync(path, 'utf8')
  const previousFile = `${path}.${masterKeyId(parseMasterKey(previousText))}`
  if (!existsSync(previousFile)) moveDurably(previousFile, previousText, linkSync)
  const masterKey = randomBytes(32)
  moveDurably(path, `${masterKey.toString('hex')}\n`, renameSync)
  return { masterKey, previousFile }
}

/** Returns the previous keys of the file at `path`, from the files next to it. */
export function readPreviousMasterKeyFiles(path: string): Buffer[] {
  const name = new RegExp(`^${basename(path).replaceAll('.', '\\.')}\\.[0-9a-f]{8}$`)
  const folder = dirname(path)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((file) => name.test(file))
    .flatMap((file) => readKeyFile(join(folder, file)) ?? [])
}

/** Writes the text to a temporary file and moves it with the given function, so that the file is never half-written. */
function moveDurably(path: string, text: string, move: (from: string, to: string) => void): void {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  writeDurably(draft, text)
  try {
    move(draft, path)
  } finally {
    rmSync(draft, { force: true })
  }
  if (process.platform !== 'win32') syncFolder(dirname(path))
}

function readKeyFile(path: string): Buffer | null {
  try {
    return parseMasterKey(readFileSync(path, 'utf8'))
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw new Error(`Cannot read the master key file ${path}: restore the original key, never create a new one`, {
      cause: error,
    })
  }
}

function createKeyFile(path: string): Buffer {
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  try {
    // A link, unlike a rename, fails if the name exists: a key that already encrypts data must not be lost.
    moveDurably(path, `${randomBytes(32).toString('hex')}\n`, linkSync)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  }
  return parseMasterKey(readFileSync(path, 'utf8'))
}

function writeDurably(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

function errorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
