import { randomBytes } from 'node:crypto'
import { hashToken } from '../../base/sealing/secret-token.ts'

const count = 10
// Base32 without what is easily misread; 32 letters, so that a byte's lower five bits choose evenly.
const letters = 'abcdefghjkmnpqrstuvwxyz023456789'

/** Ten codes of 80 random bits, `xxxx-xxxx-xxxx-xxxx`: shown once, stored as hashes. */
export function makeRecoveryCodes(): string[] {
  return Array.from({ length: count }, makeRecoveryCode)
}

/** Reads a code as people type it: any case, spaces or dashes. */
export function hashRecoveryCode(code: string): string {
  return hashToken(code.toLowerCase().replace(/[\s-]/g, '')).toString('hex')
}

function makeRecoveryCode(): string {
  const text = Array.from(randomBytes(16), (byte) => letters.charAt(byte & 31)).join('')
  return text.replace(/(.{4})(?=.)/g, '$1-')
}
