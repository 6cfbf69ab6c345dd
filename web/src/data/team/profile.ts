import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../../api/client.ts'
import type { Language } from '../../text/languages.ts'

export type DeviceSession = Awaited<ReturnType<typeof listSessions>>[number]

export const sessionsKey = ['sessions'] as const

const listSessions = async () => (await unwrap(api.GET('/api/team/v1/sessions'))).sessions

export function useSessions() {
  return useQuery({ queryKey: sessionsKey, queryFn: listSessions, staleTime: 0 })
}

export const endSession = (sessionId: string) =>
  unwrap(api.DELETE('/api/team/v1/sessions/{sessionId}', { params: { path: { sessionId } } }))

export const renameMe = (name: string) => unwrap(api.PATCH('/api/team/v1/me', { body: { name } }))

/** Stores the language of this browser, in which the person gets mail. */
export const saveLanguage = (language: Language) => unwrap(api.PATCH('/api/team/v1/me', { body: { language } }))

export const sendTestMail = (email: string, language: Language) =>
  unwrap(api.POST('/api/team/v1/mail/test', { body: { email, language } }))

export const changePassword = (password: string, currentPassword: string) =>
  unwrap(api.PATCH('/api/team/v1/me', { body: { password, ...(currentPassword !== '' && { currentPassword }) } }))

export const endOtherSessions = () => unwrap(api.DELETE('/api/team/v1/sessions'))

export const beginTwoFactor = (password: string) => unwrap(api.POST('/api/team/v1/me/totp', { body: { password } }))

export const confirmTwoFactor = (code: string) => unwrap(api.POST('/api/team/v1/me/totp/confirm', { body: { code } }))

export const endTwoFactor = (proof: { password: string; code: string }) =>
  unwrap(api.DELETE('/api/team/v1/me/totp', { body: proof }))
