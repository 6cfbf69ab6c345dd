import type { Sql, Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { type ApiError, forbidden } from '../../base/errors.ts'
import { endSessionsWhere } from '../sign-in/sessions.ts'
import { decryptPerson, type UserRow } from '../users/users.ts'
import { allowsDomain, listProviders, type Provider } from './provider.ts'

type LocalMethod = 'password' | 'link' | 'invitation'
type LocalUser = Pick<UserRow, 'id' | 'person' | 'totp_confirmed_at' | 'is_operator' | 'disabled_at'>

/**
 * Throws 403 if the person cannot sign in by this method: the account is switched off, or a provider is the only way in.
 * Operators keep two ways for the day on which the provider fails: those that it names sign in by password and second
 * factor, and the command line creates links for any of them.
 */
export async function refuseLocalSignIn(
  sql: Sql,
  instanceKeys: Keyring,
  user: LocalUser,
  method: LocalMethod,
): Promise<void> {
  if (user.disabled_at !== null) throw accountOff()
  const forcing = await forcingProviders(sql, instanceKeys)
  if (forcing.length === 0) return
  const { email } = decryptPerson(instanceKeys, user.id, user.person)
  const provider = forcing.find(({ settings }) => allowsDomain(settings, email))
  if (provider !== undefined && !isExempt(provider, user, method)) throw useProvider(provider)
}

/** Throws 403 if a new account with this address can only be created by a provider. */
export async function refuseForcedEmail(sql: Sql, instanceKeys: Keyring, email: string): Promise<void> {
  const forcing = await forcingProviders(sql, instanceKeys)
  const provider = forcing.find(({ settings }) => allowsDomain(settings, email))
  if (provider !== undefined) throw useProvider(provider)
}

async function forcingProviders(sql: Sql, instanceKeys: Keyring): Promise<Provider[]> {
  return (await listProviders(sql, instanceKeys)).filter(({ isForced, isEnabled }) => isForced && isEnabled)
}

function isExempt({ settings }: Provider, user: LocalUser, method: LocalMethod): boolean {
  if (!user.is_operator) return false
  return method === 'link' || (settings.breakGlass.includes(user.id) && user.totp_confirmed_at !== null)
}

/** Ends the sessions that the provider did not begin, of the people who can now sign in only with it. */
export async function endLocalSessions(tx: Tx, instanceKeys: Keyring, provider: Provider): Promise<number> {
  const rows = await tx<(LocalUser & { session_id: string })[]>`
    select s.id as session_id, u.id, u.person, u.totp_confirmed_at, u.is_operator, u.disabled_at
    from sessions s
    join users u on u.id = s.user_id
    where s.signed_in_by <> 'sso'`
  const ended = rows.filter(
    (row) =>
      !isExempt(provider, row, 'password') &&
      allowsDomain(provider.settings, decryptPerson(instanceKeys, row.id, row.person).email),
  )
  return endSessionsWhere(tx, tx`id = any (${ended.map(({ session_id: id }) => id)}::uuid[])`)
}

export const accountOff = (): ApiError => forbidden('This account is switched off. Ask your administrator.')

const useProvider = ({ settings }: Provider): ApiError =>
  forbidden(`Your organization requires single sign-on. Continue with ${settings.name}.`, { code: 'SSO_REQUIRED' })
