import { unauthorized } from '../../base/errors.ts'
import { instanceScope } from '../../base/sealing/vault.ts'
import type { TeamDeps, Visitor } from '../users/team-deps.ts'
import { forgiveAttempt, ownAttempt, takeAttempt } from './login-throttle.ts'
import { useSecondFactor } from './second-factor.ts'
import type { NewSession } from './sessions.ts'
import { enter, recordFailure } from './sign-in.ts'
import { endChallenge, findChallenge } from './sign-in-challenge.ts'

/** The second step: a code of the authenticator, or a recovery code. Guesses are throttled like passwords. */
export async function signInWithCode(
  deps: TeamDeps,
  visitor: Visitor,
  { challenge, code }: { challenge: string; code: string },
): Promise<NewSession> {
  const found = await findChallenge(deps.db.sql, challenge, deps.wallClock.now())
  if (found === undefined) throw challengeOver()
  const instanceKeys = await deps.vault.keyring(instanceScope)
  const counters = ownAttempt(instanceKeys, `totp ${found.user_id}`, visitor)
  await deps.db.tx((tx) => takeAttempt(tx, counters, deps.wallClock.now()))
  const session = await deps.db.tx(async (tx) => {
    const now = deps.wallClock.now()
    if (!(await useSecondFactor(tx, instanceKeys, found.user_id, code, now))) return null
    if (!(await endChallenge(tx, challenge))) throw challengeOver()
    await forgiveAttempt(tx, counters, now)
    return enter(tx, instanceKeys, found.user_id, found.signed_in_by, visitor, now)
  })
  if (session !== null) return session
  await recordFailure(deps, 'second-factor.failed', found.user_id)
  throw unauthorized('Wrong code')
}

const challengeOver = () => unauthorized('This sign-in took too long. Sign in again.')
