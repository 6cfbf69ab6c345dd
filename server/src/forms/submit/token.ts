import { timingSafeEqual } from 'node:crypto'
import { isUuid, newId } from '../../base/id.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'

/** Faster than a person fills a form. */
export const minFillMs = 2_000
export const maxFillMs = 24 * 3_600_000

export type TokenReading = { ok: true; nonce: string } | { ok: false; problem: 'tampered' | 'too fast' | 'too old' }

/** Marks one served page: a nonce that holds the time of issue, signed by the form's workspace for this form. */
export function issueToken(keyring: Keyring, formId: string, now: Date): string {
  const nonce = newId(now)
  return `${nonce}.${sign(keyring, formId, nonce).toString('base64url')}`
}

export function readToken(keyring: Keyring, formId: string, token: string, now: Date): TokenReading {
  const [nonce = '', signature = '', extra] = token.split('.')
  const given = Buffer.from(signature, 'base64url')
  const isOurs =
    extra === undefined && isUuid(nonce) && given.length === 16 && timingSafeEqual(sign(keyring, formId, nonce), given)
  if (!isOurs) return { ok: false, problem: 'tampered' }
  const ageMs = now.getTime() - issuedAtMs(nonce)
  if (ageMs < minFillMs) return { ok: false, problem: 'too fast' }
  if (ageMs > maxFillMs) return { ok: false, problem: 'too old' }
  return { ok: true, nonce }
}

function sign(keyring: Keyring, formId: string, nonce: string): Buffer {
  return keyring.stable('form.token', `${formId} ${nonce}`)
}

function issuedAtMs(nonce: string): number {
  return Number.parseInt(nonce.slice(0, 8) + nonce.slice(9, 13), 16)
}
