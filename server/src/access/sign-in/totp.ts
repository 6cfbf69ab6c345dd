import { Secret, TOTP } from 'otpauth'

const periodSeconds = 30
// One step each way forgives a phone whose clock is half a minute off.
const driftSteps = 1

export interface Enrolment {
  /** Base32, for typing. */
  secret: string
  /** `otpauth://…`, for a QR code. */
  uri: string
}

export function newEnrolment(email: string): Enrolment {
  const secret = new Secret({ size: 20 })
  return { secret: secret.base32, uri: totpOf(secret.base32, email).toString() }
}

/** The 30-second step that the code belongs to, or null when it is of none near `now`. */
export function stepOfCode(secret: string, code: string, now: Date): number | null {
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
