import type { Sql, Tx } from '../../base/db.ts'
import { instanceScope } from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { createToken } from '../../base/encryption/secret-token.ts'
import { tooManyRequests } from '../../base/errors.ts'
import { addressGroup } from '../../base/outgoing/address.ts'
import { byteaArray } from '../../base/postgres/values.ts'
import type { Visitor } from '../users/users.ts'

/** A counter of attempts. After `free` attempts each one doubles the wait for the next, up to the longest. */
export interface Counter {
  key: Buffer
  free: number
  longestSeconds: number
  /** Whether other people count on it too. A right password then refunds only its own attempt. */
  isShared: boolean
}

const ownLimits = { free: 5, longestSeconds: 900, isShared: false } as const
/** Higher, because many people share an address. */
const addressLimits = { free: 25, longestSeconds: 900, isShared: true } as const
/** All attempts at an account from unknown networks: about 50 in the first hour, then 12 an hour. */
const accountLimits = { free: 30, longestSeconds: 300, isShared: true } as const
/** Mails with a link to an account, from anywhere: each is unwanted if a stranger asks for it. */
const mailLimits = { free: 3, longestSeconds: 3600, isShared: true } as const
const resetAfterMs = 24 * 3_600_000

/** Returns the counters for a caller who already has a session or the password. Nobody else can exhaust them. */
export function ownAttempt(instanceKeys: Keyring, account: string, { address }: Visitor): Counter[] {
  return [accountCounter(instanceKeys, account, ownLimits), addressCounter(instanceKeys, address)]
}

/**
 * Returns the counters for a password from anywhere. A stranger's attempts exhaust only the counters for strangers,
 * never those of a browser or network from which the right password came before.
 */
export async function signInAttempt(
  tx: Tx,
  instanceKeys: Keyring,
  { account, userId }: { account: string; userId: string | null },
  visitor: Visitor,
): Promise<Counter[]> {
  const { device, network } = await findKnownOrigin(tx, signInOriginOf(instanceKeys, userId, visitor))
  if (device !== null) return [{ key: device, ...ownLimits }]
  const networkCounter = accountCounter(instanceKeys, `${account} from ${addressGroup(visitor.address)}`, ownLimits)
  const address = addressCounter(instanceKeys, visitor.address)
  return network === null
    ? [networkCounter, accountCounter(instanceKeys, account, accountLimits), address]
    : [networkCounter, address]
}

/** Returns the counters for a mail with a link. Apart from those of passwords, which it must not exhaust. */
export function mailAttempt(instanceKeys: Keyring, account: string, { address }: Visitor): Counter[] {
  const sender = accountCounter(instanceKeys, `mail from ${addressGroup(address)}`, addressLimits)
  return [accountCounter(instanceKeys, `mail ${account}`, mailLimits), sender]
}

/**
 * Counts an attempt before the check, so that parallel attempts cannot bypass the limit. Throws 429 during the wait,
 * whether or not the account exists.
 */
export async function countAttempt(tx: Tx, counters: readonly Counter[], now: Date): Promise<void> {
  for (const counter of counters) await incrementCounter(tx, counter, now)
}

/** Clears the caller's own counters after a right answer, and refunds this attempt on shared ones. */
export async function clearAttempt(tx: Tx, counters: readonly Counter[], now: Date): Promise<void> {
  for (const { key, isShared } of counters) {
    if (isShared) await takeBack(tx, key, now)
    else await tx`delete from login_attempts where key = ${key}`
  }
}

function accountCounter(instanceKeys: Keyring, account: string, limits: Omit<Counter, 'key'>): Counter {
  return { key: instanceKeys.stable('login_attempts.account', account), ...limits }
}

function addressCounter(instanceKeys: Keyring, address: string | null): Counter {
  return { key: instanceKeys.stable('login_attempts.address', addressGroup(address)), ...addressLimits }
}

async function takeBack(tx: Tx, key: Buffer, now: Date): Promise<void> {
  await tx`
    update login_attempts
    set failures = failures - 1,
      blocked_until = ${now}
    where key = ${key}
      and failures > 0`
}

async function incrementCounter(tx: Tx, { key, free, longestSeconds }: Counter, now: Date): Promise<void> {
  const resetBefore = new Date(now.getTime() - resetAfterMs)
  const [counted] = await tx`
    insert into login_attempts as a (key, failures, last_at, blocked_until)
    values (${key}, 1, ${now}, ${now})
    on conflict (key) do update
    set failures = case when a.last_at < ${resetBefore} then 1 else a.failures + 1 end,
      last_at = ${now},
      blocked_until = case
        when a.last_at < ${resetBefore} or a.failures + 1 < ${free}::integer then ${now}
        else ${now} + make_interval(
          secs => least(${longestSeconds}::integer, power(2, least(a.failures + 1 - ${free}::integer, 20)))
        )
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

/** Keyed hashes of the browser, by a token of its own, and the address group that a person signed in from. */
interface SignInOrigin {
  device: Buffer | null
  network: Buffer | null
}

/** How long a browser or network is remembered after the last sign-in from it. */
export const rememberedForMs = 90 * 24 * 3_600_000
const tokenPattern = /^[\w-]{43}$/

/** Returns the visitor's marks for this user. An unknown user gets marks of the instance, to take the same time. */
function signInOriginOf(
  instanceKeys: Keyring,
  userId: string | null,
  { address, deviceToken }: Pick<Visitor, 'address' | 'deviceToken'>,
): SignInOrigin {
  const mark = (what: string) => instanceKeys.stable('known_sign_ins.mark', `${userId ?? instanceScope} ${what}`)
  return {
    device: deviceToken !== null && tokenPattern.test(deviceToken) ? mark(`device ${deviceToken}`) : null,
    network: address === null ? null : mark(`place ${addressGroup(address)}`),
  }
}

/** Returns the marks that are stored, with null for the others. */
async function findKnownOrigin(sql: Sql, { device, network }: SignInOrigin): Promise<SignInOrigin> {
  const candidates = [device, network].filter((mark) => mark !== null)
  if (candidates.length === 0) return { device: null, network: null }
  const rows = await sql<{ mark: Buffer }[]>`
    select mark
    from known_sign_ins
    where mark = any (${byteaArray(candidates)}::bytea[])`
  const known = (mark: Buffer | null) => (mark !== null && rows.some((row) => row.mark.equals(mark)) ? mark : null)
  return { device: known(device), network: known(network) }
}

/** Stores the browser and network of a sign-in. Returns the token that the browser must keep. */
export async function rememberSignInOrigin(
  tx: Tx,
  instanceKeys: Keyring,
  userId: string,
  { address, deviceToken }: Visitor,
  now: Date,
): Promise<string> {
  const token = deviceToken !== null && tokenPattern.test(deviceToken) ? deviceToken : createToken()
  const { device, network } = signInOriginOf(instanceKeys, userId, { address, deviceToken: token })
  for (const mark of [device, network]) {
    if (mark === null) continue
    await tx`
      insert into known_sign_ins (mark, user_id, last_at)
      values (${mark}, ${userId}, ${now})
      on conflict (mark) do update
      set last_at = ${now}`
  }
  return token
}

/** Deletes the known browsers and networks of a person, because someone else may have signed in as them. */
export async function forgetSignInOrigins(tx: Tx, userId: string): Promise<void> {
  await tx`
    delete from known_sign_ins
    where user_id = ${userId}`
}
