import { randomBytes } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import type { Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { hashToken } from '../../base/encryption/secret-token.ts'

/** Consumes a code of the authenticator or a recovery code. Returns whether it was right. Neither works twice. */
export async function useSecondFactor(
  tx: Tx,
  instanceKeys: Keyring,
  userId: string,
  code: string,
  now: Date,
): Promise<boolean> {
  const digits = code.replace(/\s/g, '')
  return /^\d{6}$/.test(digits)
    ? useTotpCode(tx, instanceKeys, userId, digits, now)
    : useRecoveryCode(tx, userId, hashRecoveryCode(code))
}

export async function useTotpCode(
  tx: Tx,
  instanceKeys: Keyring,
  userId: string,
  code: string,
  now: Date,
): Promise<boolean> {
  const [row] = await tx<{ totp_secret: Buffer | null; totp_last_step: number | null }[]>`
    select totp_secret, totp_last_step
    from users
    where id = ${userId}
    for update`
  if (row === undefined || row.totp_secret === null) return false
  const step = stepOfCode(instanceKeys.decryptText(totpSecretContext(userId), row.totp_secret), code, now)
  if (step === null || (row.totp_last_step !== null && step <= row.totp_last_step)) return false
  await tx`
    update users
    set totp_last_step = ${step}
    where id = ${userId}`
  return true
}

export const totpSecretContext = (userId: string) => ({ table: 'users', row: userId, column: 'totp_secret' })

async function useRecoveryCode(tx: Tx, userId: string, codeHash: string): Promise<boolean> {
  const used = await tx`
    update users
    set recovery_hashes = array_remove(recovery_hashes, ${codeHash}::text)
    where id = ${userId}
      and totp_confirmed_at is not null
      and ${codeHash}::text = any (recovery_hashes)`
  return used.count > 0
}

const recoveryCodeCount = 10
// Base32 without letters that are easily misread; 32 letters, so that a byte's lower five bits select evenly.
const letters = 'abcdefghjkmnpqrstuvwxyz023456789'

/** Returns ten codes of 80 random bits, `xxxx-xxxx-xxxx-xxxx`. They are shown once and stored as hashes. */
export function makeRecoveryCodes(): string[] {
  return Array.from({ length: recoveryCodeCount }, makeRecoveryCode)
}

/** Hashes a code as people type it: any case, spaces or dashes. */
export function hashRecoveryCode(code: string): string {
  return hashToken(code.toLowerCase().replace(/[\s-]/g, '')).toString('hex')
}

function makeRecoveryCode(): string {
  const text = Array.from(randomBytes(16), (byte) => letters.charAt(byte & 31)).join('')
  return text.replace(/(.{4})(?=.)/g, '$1-')
}

const periodSeconds = 30
// One step in each direction allows for a phone clock that is half a minute off.
const driftSteps = 1

export interface Enrolment {
  /** In Base32, for typing. */
  secret: string
  /** `otpauth://…`, for a QR code. */
  uri: string
}

export function createEnrolment(email: string): Enrolment {
  const secret = new Secret({ size: 20 })
  return { secret: secret.base32, uri: totpOf(secret.base32, email).toString() }
}

/** Returns the 30-second step of the code, or null if it matches no step near `now`. */
function stepOfCode(secret: string, code: string, now: Date): number | null {
  const delta = totpOf(secret).validate({ token: code, timestamp: now.getTime(), window: driftSteps })
  return delta === null ? null : Math.floor(now.getTime() / 1000 / periodSeconds) + delta
}

export function codeAt(secret: string, now: Date): string {
  return totpOf(secret).generate({ timestamp: now.getTime() })
}

function totpOf(secret: string, label?: string): TOTP {
  return new TOTP({
    issuer: 'Parley',
    label: label ?? 'Parley',
    algorithm: 'SHA1',
    digits: 6,
    period: periodSeconds,
    secret: Secret.fromBase32(secret),
  })
}
