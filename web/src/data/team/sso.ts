import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../../api/client.ts'
import type { paths } from '../../api/schema.ts'

const path = '/api/team/v1/identity-providers'
const one = `${path}/{providerId}` as const
const at = (providerId: string) => ({ params: { path: { providerId } } })

export type IdentityProvider = Awaited<ReturnType<typeof readProviders>>[number]
export type ProviderInput = paths[typeof one]['put']['requestBody']['content']['application/json']
export type AccessRule = ProviderInput['access'][number]
export type SignOnEntry = Awaited<ReturnType<typeof readLog>>[number]

export const providersKey = ['identity-providers'] as const

const readProviders = async () => (await unwrap(api.GET(path))).providers

/** Refetched when the page opens, because a test at the provider ends with a new page. */
export const useIdentityProviders = () => useQuery({ queryKey: providersKey, queryFn: readProviders, staleTime: 0 })

const readLog = async () =>
  (await unwrap(api.GET('/api/team/v1/audit', { params: { query: { thing: 'sso', limit: 20 } } }))).entries

export const useSignOnLog = () => useQuery({ queryKey: [...providersKey, 'log'], queryFn: readLog, staleTime: 0 })

export const saveProvider = async (providerId: string, body: ProviderInput) =>
  (await unwrap(api.PUT(one, { ...at(providerId), body }))).provider

export const deleteProvider = (providerId: string) => unwrap(api.DELETE(one, at(providerId)))

/** Returns the address at which the test continues. */
export const testProvider = async (providerId: string) => (await unwrap(api.POST(`${one}/test`, at(providerId)))).url

export const forceProvider = async (providerId: string, isForced: boolean) =>
  (await unwrap(api.POST(`${one}/forced`, { ...at(providerId), body: { isForced } }))).ended

export const createScimToken = async (providerId: string) =>
  (await unwrap(api.POST(`${one}/scim-token`, at(providerId)))).value

export const deleteScimToken = (providerId: string) => unwrap(api.DELETE(`${one}/scim-token`, at(providerId)))

const mine = '/api/team/v1/me/identities'

export type MyIdentities = Awaited<ReturnType<typeof readIdentities>>
export const identitiesKey = ['identities'] as const

const readIdentities = () => unwrap(api.GET(mine))

export const useMyIdentities = () => useQuery({ queryKey: identitiesKey, queryFn: readIdentities, staleTime: 0 })

/** Returns the address at which linking continues. */
export const linkIdentity = async (providerId: string, { password, code }: { password: string; code: string }) =>
  (await unwrap(api.POST(mine, { body: { providerId, password, ...(code !== '' && { code }) } }))).url

export const unlinkIdentity = (providerId: string) => unwrap(api.DELETE(`${mine}/{providerId}`, at(providerId)))

export const disabledUsersKey = ['disabled-users'] as const

const listDisabledUsers = async () => (await unwrap(api.GET('/api/team/v1/users/disabled'))).users

export const useDisabledUsers = () => useQuery({ queryKey: disabledUsersKey, queryFn: listDisabledUsers, staleTime: 0 })

export const enableUser = (email: string) => unwrap(api.POST('/api/team/v1/users/enable', { body: { email } }))
