import { useQuery } from '@tanstack/react-query'
import { api, type Schemas } from '../../api/client.ts'
import type { Language } from '../../text/languages.ts'

export type DeviceSession = Schemas['Session']

export const sessionsKey = ['sessions'] as const

export function useSessions() {
  const queryFn = async () => (await api.GET('/api/team/v1/sessions')).sessions
  return useQuery({ queryKey: sessionsKey, queryFn, staleTime: 0 })
}

export const endSession = (sessionId: string) => api.DELETE('/api/team/v1/sessions/{sessionId}', { sessionId })

export const renameMe = (name: string) => api.PATCH('/api/team/v1/me', { body: { name } })

/** Stores the language of this browser, in which the person gets mail. */
export const saveLanguage = (language: Language) => api.PATCH('/api/team/v1/me', { body: { language } })

export const sendTestMail = (email: string, language: Language) =>
  api.POST('/api/team/v1/mail/test', { body: { email, language } })

export const changePassword = (password: string, currentPassword: string) =>
  api.PATCH('/api/team/v1/me', { body: { password, ...(currentPassword !== '' && { currentPassword }) } })

export const endOtherSessions = () => api.DELETE('/api/team/v1/sessions')

export const beginTwoFactor = (password: string) => api.POST('/api/team/v1/me/totp', { body: { password } })

export const confirmTwoFactor = (code: string) => api.POST('/api/team/v1/me/totp/confirm', { body: { code } })

export const endTwoFactor = (proof: { password: string; code: string }) =>
  api.DELETE('/api/team/v1/me/totp', { body: proof })
