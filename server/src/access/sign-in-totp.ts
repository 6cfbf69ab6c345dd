import { unauthorized } from '../base/errors.ts'
import { instanceScope } from '../base/vault.ts'
import { attemptKeys, forgiveAttempt, takeAttempt } from './login-throttle.ts'
import { useSecondFactor } from './second-factor.ts'
import type { NewSession } from './sessions.ts'
import { enter } from './sign-in.ts'
import { endChallenge, findChallenge } from './sign-in-challenge.ts'
import type { TeamDeps, Visitor } from './team-deps.ts'

/** The second step: a code of the authenticator, or a recovery code. Guesses are throttled like passwords. */
export async function signInWithCode(
  deps: TeamDeps,
  visitor: Visitor,
  { challenge, code }: { challenge: string; code: string },
): Promise<NewSession> {
  const found = await findChallenge(deps.db.sql, challenge, deps.clock.now())
  if (found === undefined) throw challengeOver()
  const instanceKeys = await deps.vault.keyring(instanceScope)
  const keys = attemptKeys(instanceKeys, `totp ${found.user_id}`, visitor.address)
  await deps.db.tx((tx) => takeAttempt(tx, keys, deps.clock.now()))
  return deps.db.tx(async (tx) => {
    const now = deps.clock.now()
    if (!(await useSecondFactor(tx, instanceKeys, found.user_id, code, now))) throw unauthorized('Wrong code')
    if (!(await endChallenge(tx, challenge))) throw challengeOver()
    await forgiveAttempt(tx, keys, now)
    return enter(tx, found.user_id, found.signed_in_by, visitor, now)
  })
}

const challengeOver = () => unauthorized('This sign-in took too long. Sign in again.')
