import { addressGroup } from '../base/address.ts'
import type { Tx } from '../base/db.ts'
import { tooManyRequests } from '../base/errors.ts'
import type { Keyring } from '../base/keyring.ts'

/** What guesses are counted by. An address is shared by many people, so it has more of them free. */
export interface AttemptKeys {
  account: Buffer
  address: Buffer
}

const freeFailures = { account: 5, address: 25 } as const
const longestDelaySeconds = 900
const forgottenAfterMs = 24 * 3_600_000

export function attemptKeys(instanceKeys: Keyring, account: string, address: string | null): AttemptKeys {
  return {
    account: instanceKeys.stable('login_attempts.account', account),
    address: instanceKeys.stable('login_attempts.address', address === null ? 'unknown' : addressGroup(address)),
  }
}

/**
 * Counts a guess before it is checked, so that parallel guesses cannot all slip through. After some failures each one
 * doubles the wait, up to 15 minutes; too early is a 429, whether the account exists or not.
 */
export async function takeAttempt(tx: Tx, keys: AttemptKeys, now: Date): Promise<void> {
  await countFailure(tx, keys.account, freeFailures.account, now)
  await countFailure(tx, keys.address, freeFailures.address, now)
}

/** The guess was right: the account starts afresh, and the address gets this one back. */
export async function forgiveAttempt(tx: Tx, keys: AttemptKeys, now: Date): Promise<void> {
  await tx`
    delete from login_attempts
    where key = ${keys.account}`
  await tx`
    update login_attempts
    set failures = failures - 1,
      blocked_until = ${now}
    where key = ${keys.address}
      and failures > 0`
}

async function countFailure(tx: Tx, key: Buffer, free: number, now: Date): Promise<void> {
  const forgotten = new Date(now.getTime() - forgottenAfterMs)
  const [counted] = await tx`
    insert into login_attempts as a (key, failures, last_at, blocked_until)
    values (${key}, 1, ${now}, ${now})
    on conflict (key) do update
    set failures = case when a.last_at < ${forgotten} then 1 else a.failures + 1 end,
      last_at = ${now},
      blocked_until = case
        when a.last_at < ${forgotten} or a.failures + 1 < ${free}::integer then ${now}
        else ${now} + make_interval(secs => least(${longestDelaySeconds}::integer, power(2, a.failures + 1 - ${free}::integer)))
      end
    where a.blocked_until <= ${now}
    returning failures`
  if (counted !== undefined) return
  const [row] = await tx<{ blocked_until: Date }[]>`
    select blocked_until
    from login_attempts
    where key = ${key}`
  const waitMs = (row?.blocked_until.getTime() ?? now.getTime()) - now.getTime()
  throw tooManyRequests('Too many attempts. Wait before you try again.', waitMs / 1000, { code: 'RATE_LIMITED' })
}
