import type { Sql, Tx } from '../../base/db.ts'
import { hashToken, makeToken } from '../../base/sealing/secret-token.ts'
import type { SignedInBy } from './sessions.ts'

const lifeMs = 5 * 60_000

export interface Challenge {
  /** To be sent back with the code. */
  token: string
  expiresAt: Date
}

export interface ChallengeRow {
  user_id: string
  signed_in_by: Exclude<SignedInBy, 'invitation'>
}

export async function startChallenge(
  tx: Tx,
  userId: string,
  signedInBy: ChallengeRow['signed_in_by'],
  now: Date,
): Promise<Challenge> {
  const challenge = { token: makeToken(), expiresAt: new Date(now.getTime() + lifeMs) }
  await tx`
    insert into sign_in_challenges (token_hash, user_id, signed_in_by, expires_at)
    values (${hashToken(challenge.token)}, ${userId}, ${signedInBy}, ${challenge.expiresAt})`
  return challenge
}

export async function findChallenge(sql: Sql, token: string, now: Date): Promise<ChallengeRow | undefined> {
  const [row] = await sql<ChallengeRow[]>`
    select user_id, signed_in_by
    from sign_in_challenges
    where token_hash = ${hashToken(token)}
      and expires_at > ${now}`
  return row
}

/** Returns whether the challenge was still there: of several right answers to it, one gets in. */
export async function endChallenge(tx: Tx, token: string): Promise<boolean> {
  const ended = await tx`
    delete from sign_in_challenges
    where token_hash = ${hashToken(token)}`
  return ended.count > 0
}
