import type { Tx } from '../../base/db.ts'
import { unauthorized } from '../../base/errors.ts'
import { hashToken, makeToken } from '../../base/sealing/secret-token.ts'
import { instanceScope } from '../../base/sealing/vault.ts'
import type { TeamDeps, Visitor } from '../users/team-deps.ts'
import { findUser } from '../users/users.ts'
import { admit, type SignInStep } from './sign-in.ts'

const lifeMs = 24 * 3_600_000

export interface SignInLink {
  url: string
  expiresAt: Date
}

/** Makes a link that lets its holder in as this user, once, for 24 hours unless told otherwise. */
export async function createSignInLink(
  tx: Tx,
  publicUrl: string,
  userId: string,
  now: Date,
  validMs: number = lifeMs,
): Promise<SignInLink> {
  const token = makeToken()
  const expiresAt = new Date(now.getTime() + validMs)
  await tx`
    insert into sign_in_links (token_hash, user_id, created_at, expires_at)
    values (${hashToken(token)}, ${userId}, ${now}, ${expiresAt})`
  return { url: `${publicUrl}/sign-in/${token}`, expiresAt }
}

/** Uses the link up: of any number of tries at once, one gets in. A second factor is asked for as ever. */
export async function signInByLink(deps: TeamDeps, visitor: Visitor, token: string): Promise<SignInStep> {
  const instanceKeys = await deps.vault.keyring(instanceScope)
  return deps.db.tx(async (tx) => {
    const now = deps.wallClock.now()
    const userId = await takeLink(tx, token, now)
    const user = userId === undefined ? undefined : await findUser(tx, userId)
    if (user === undefined) throw unauthorized('This link is no longer valid. Ask for a new one.')
    return admit(tx, instanceKeys, user, 'link', visitor, now)
  })
}

/** Voids the links that nobody has used, and sign-ins that wait for their second factor. */
export async function dropSignIns(tx: Tx, userId: string): Promise<void> {
  await tx`
    delete from sign_in_links
    where user_id = ${userId}
      and used_at is null`
  await tx`
    delete from sign_in_challenges
    where user_id = ${userId}`
}

async function takeLink(tx: Tx, token: string, now: Date): Promise<string | undefined> {
  const [row] = await tx<{ user_id: string }[]>`
    update sign_in_links
    set used_at = ${now}
    where token_hash = ${hashToken(token)}
      and used_at is null
      and expires_at > ${now}
    returning user_id`
  return row?.user_id
}
