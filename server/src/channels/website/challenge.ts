import { hash, timingSafeEqual } from 'node:crypto'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { badRequest } from '../../base/errors.ts'
import { isUuid, newId, timeOfId } from '../../base/id.ts'

// Proof of work before an anonymous visitor's first message: a person's browser solves it unnoticed, a thousand chats
// of a bot cost a thousand times as much. The more chats begin, the harder it gets.

/** About 16,000 hashes, a few dozen milliseconds; each further bit doubles that. */
const minBits = 14
/** Some seconds on a phone. */
const maxBits = 22
/** Chats per minute from which it gets harder. */
const [calmConnection, calmAddress] = [16, 2]
const validMs = 5 * 60_000

/** Returns the difficulty for the number of challenges in the last minute. */
export function difficultyFor({ connection, address }: { connection: number; address: number }): number {
  const extra = (used: number, calm: number) => Math.max(0, Math.ceil(Math.log2(Math.max(1, used) / calm)))
  return Math.min(maxBits, minBits + Math.max(extra(connection, calmConnection), extra(address, calmAddress)))
}

/** Issues a challenge of this connection. It is not stored: the signature proves that it is ours. */
export function issueChallenge(keyring: Keyring, connectionId: string, bits: number, now: Date): string {
  const nonce = newId(now)
  return `${nonce}.${bits}.${sign(keyring, connectionId, nonce, bits).toString('base64url')}`
}

export const maxChallengeLength = 100

/**
 * Returns the nonce of a solved challenge, for the caller to spend: the same challenge must not open two sessions.
 * Throws 400 if the challenge is not ours or too old, or if the solution is wrong.
 */
export function verifySolution(
  keyring: Keyring,
  connectionId: string,
  { challenge, solution }: { challenge: string; solution: string },
  now: Date,
): string {
  const [nonce = '', bitsText = '', signature = '', extra] = challenge.slice(0, maxChallengeLength).split('.')
  const bits = /^\d{1,2}$/.test(bitsText) ? Number(bitsText) : 0
  const given = Buffer.from(signature, 'base64url')
  const isOurs =
    extra === undefined &&
    isUuid(nonce) &&
    given.length === 16 &&
    timingSafeEqual(sign(keyring, connectionId, nonce, bits), given)
  if (!isOurs) throw badRequest('This challenge was not issued here. Get a new one.', { code: 'CHALLENGE_INVALID' })
  const ageMs = now.getTime() - timeOfId(nonce).getTime()
  if (ageMs > validMs || ageMs < -validMs) throw challengeUsed()
  if (leadingZeros(hash('sha256', `${challenge}:${solution}`, 'buffer')) < bits) {
    throw badRequest('The solution of the challenge is wrong. Solve it again.', { code: 'CHALLENGE_INVALID' })
  }
  return nonce
}

export const challengeUsed = () =>
  badRequest('This challenge was used before or is too old. Get a new one.', { code: 'CHALLENGE_INVALID' })

const sign = (keyring: Keyring, connectionId: string, nonce: string, bits: number): Buffer =>
  keyring.stable('website.challenge', `${connectionId} ${nonce} ${bits}`)

/** Number of zero bits at the start. */
export function leadingZeros(bytes: Uint8Array): number {
  let zeros = 0
  for (const byte of bytes) {
    zeros += Math.clz32(byte) - 24
    if (byte !== 0) break
  }
  return zeros
}
