import { hash, randomBytes } from 'node:crypto'
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

/** Reads a 32-byte master key from 64 hex digits or from base64; throws when it is neither. */
export function masterKeyFrom(text: string): Buffer {
  const trimmed = text.trim()
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return Buffer.from(trimmed, 'hex')
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)) return Buffer.from(trimmed, 'base64')
  throw new Error('A master key is 64 hex digits or the base64 of 32 bytes: make one with `openssl rand -hex 32`')
}

/** Names a master key without revealing it: the first 8 hex digits of its SHA-256. */
export function masterKeyId(masterKey: Buffer): string {
  return hash('sha256', masterKey).slice(0, 8)
}

/**
 * The master key kept in the file at `path`; the file is made, readable by its owner only, when there is none.
 * Several processes may start at once: all get the key of the one that came first. A file is never overwritten.
 */
export function loadOrCreateMasterKeyFile(path: string): Buffer {
  return readKeyFile(path) ?? createKeyFile(path)
}

/**
 * Puts a new key into the file at `path`. The one before goes into a file beside it, named by its id, before the new
 * one takes its place: whenever the process is killed, both are there, or the old one alone.
 */
export function replaceMasterKeyFile(path: string): { masterKey: Buffer; previousFile: string } {
  const before = readFileSync(path, 'utf8')
  const previousFile = `${path}.${masterKeyId(masterKeyFrom(before))}`
  if (!existsSync(previousFile)) placeDurably(previousFile, before, linkSync)
  const masterKey = randomBytes(32)
  placeDurably(path, `${masterKey.toString('hex')}\n`, renameSync)
  return { masterKey, previousFile }
}

/** The keys that were in the file at `path` before, from the files beside it. */
export function readPreviousMasterKeyFiles(path: string): Buffer[] {
  const name = new RegExp(`^${basename(path).replaceAll('.', '\\.')}\\.[0-9a-f]{8}$`)
  const folder = dirname(path)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((file) => name.test(file))
    .flatMap((file) => readKeyFile(join(folder, file)) ?? [])
}

/** Writes the text beside `path` and lets `place` put it there, so that no half-written file ever goes by this name. */
function placeDurably(path: string, text: string, place: (from: string, to: string) => void): void {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  writeDurably(draft, text)
  try {
    place(draft, path)
  } finally {
    rmSync(draft, { force: true })
  }
  if (process.platform !== 'win32') syncFolder(dirname(path))
}

function readKeyFile(path: string): Buffer | null {
  try {
    return masterKeyFrom(readFileSync(path, 'utf8'))
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw new Error(`The master key file ${path} cannot be read: put the right key back, never a new one`, {
      cause: error,
    })
  }
}

function createKeyFile(path: string): Buffer {
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  try {
    // A link, unlike a rename, fails when the name is taken: a key that seals data already must not be lost.
    placeDurably(path, `${randomBytes(32).toString('hex')}\n`, linkSync)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  }
  return masterKeyFrom(readFileSync(path, 'utf8'))
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
