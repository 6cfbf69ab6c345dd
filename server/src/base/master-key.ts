import { hash, randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

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
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  writeDurably(draft, `${randomBytes(32).toString('hex')}\n`)
  try {
    // A link, unlike a rename, fails when the name is taken: a key that seals data already must not be lost.
    linkSync(draft, path)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  } finally {
    unlinkSync(draft)
  }
  if (process.platform !== 'win32') syncFolder(folder)
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
