import { useQuery } from '@tanstack/react-query'
import { api, type RequestOf, type ResponseOf, type Schemas } from '../../api/client.ts'

const path = '/api/team/v1/identity-providers'
const one = `${path}/{providerId}` as const

export type IdentityProvider = Schemas['IdentityProvider']
export type ProviderInput = RequestOf<typeof one, 'put'>
export type AccessRule = ProviderInput['access'][number]
export type SignOnEntry = Schemas['AuditEntry']

export const providersKey = ['identity-providers'] as const

const readProviders = async () => (await api.GET(path)).providers

/** Refetched when the page opens, because a test at the provider ends with a new page. */
export const useIdentityProviders = () => useQuery({ queryKey: providersKey, queryFn: readProviders, staleTime: 0 })

const readLog = async () => (await api.GET('/api/team/v1/audit', { query: { thing: 'sso', limit: 20 } })).entries

export const useSignOnLog = () => useQuery({ queryKey: [...providersKey, 'log'], queryFn: readLog, staleTime: 0 })

export const saveProvider = async (providerId: string, body: ProviderInput) =>
  (await api.PUT(one, { providerId, body })).provider

export const deleteProvider = (providerId: string) => api.DELETE(one, { providerId })

/** Returns the address at which the test continues. */
export const testProvider = async (providerId: string) => (await api.POST(`${one}/test`, { providerId })).url

export const forceProvider = async (providerId: string, isForced: boolean) =>
  (await api.POST(`${one}/forced`, { providerId, body: { isForced } })).ended

export const createScimToken = async (providerId: string) => (await api.POST(`${one}/scim-token`, { providerId })).value

export const deleteScimToken = (providerId: string) => api.DELETE(`${one}/scim-token`, { providerId })

const mine = '/api/team/v1/me/identities'

export type MyIdentities = ResponseOf<typeof mine>
export const identitiesKey = ['identities'] as const

export const useMyIdentities = () => useQuery({ queryKey: identitiesKey, queryFn: () => api.GET(mine), staleTime: 0 })

/** Returns the address at which linking continues. */
export const linkIdentity = async (providerId: string, { password, code }: { password: string; code: string }) =>
  (await api.POST(mine, { body: { providerId, password, ...(code !== '' && { code }) } })).url

export const unlinkIdentity = (providerId: string) => api.DELETE(`${mine}/{providerId}`, { providerId })

export const disabledUsersKey = ['disabled-users'] as const

const listDisabledUsers = async () => (await api.GET('/api/team/v1/users/disabled')).users

export const useDisabledUsers = () => useQuery({ queryKey: disabledUsersKey, queryFn: listDisabledUsers, staleTime: 0 })

export const enableUser = (email: string) => api.POST('/api/team/v1/users/enable', { body: { email } })
