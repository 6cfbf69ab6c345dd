import type { FastifyReply, FastifyRequest } from 'fastify'
import { instanceScope } from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { ownCookie } from '../sign-in/visitor.ts'
import type { Attempt } from './oidc.ts'

/** A visit to a provider that has not come back. Its browser keeps it, encrypted, so that no other one can finish it. */
export interface PendingAttempt extends Attempt {
  providerId: string
  purpose: 'sign-in' | 'link' | 'test'
  /** Who links or tests; null for a sign-in. */
  userId: string | null
  /** Path of ours to open afterwards. */
  next: string
  /** In milliseconds. */
  expires: number
}

const lifeMs = 10 * 60_000
const maxNextLength = 1500
const context = { table: 'sso_attempts', row: instanceScope, column: 'cookie' }

export function keepAttempt(
  reply: FastifyReply,
  publicUrl: string,
  instanceKeys: Keyring,
  attempt: Omit<PendingAttempt, 'expires'>,
  now: Date,
): void {
  const content = JSON.stringify({ ...attempt, expires: now.getTime() + lifeMs })
  const sealed = instanceKeys.encrypt(context, content).toString('base64url')
  ownCookie(publicUrl, 'sso').set(reply, sealed, { maxAge: lifeMs / 1000 })
}

/** Returns the attempt of this browser and forgets it: it works once. Null if there is none, or it took too long. */
export function takeAttempt(
  request: FastifyRequest,
  reply: FastifyReply,
  publicUrl: string,
  instanceKeys: Keyring,
  now: Date,
): PendingAttempt | null {
  const cookie = ownCookie(publicUrl, 'sso')
  const sealed = cookie.read(request)
  cookie.clear(reply)
  if (sealed === null || sealed.length > 4096) return null
  try {
    const attempt: PendingAttempt = JSON.parse(instanceKeys.decryptText(context, Buffer.from(sealed, 'base64url')))
    return attempt.expires > now.getTime() ? attempt : null
  } catch {
    // Altered, or encrypted by a key that was replaced since.
    return null
  }
}

/** Only paths of ours: a second slash, or a backslash that browsers read as one, would lead elsewhere. */
const ownPath = /^\/(?!\/)[\w\-.~!*'(),:/?=&%+@]*$/

/** Returns the path to open after sign-in; `/` for everything that could lead to another site. */
export function safeNext(next: string | undefined, publicUrl: string): string {
  if (next === undefined || next.length > maxNextLength || !ownPath.test(next)) return '/'
  return new URL(next, publicUrl).origin === new URL(publicUrl).origin ? next : '/'
}
