import { api } from '../../api/client.ts'
import { language } from '../../text/index.ts'

const path = '/api/team/v1'

/** Either signed in, or a code is required. */
export type SignInStep = Awaited<ReturnType<typeof signIn>>

export const signIn = (email: string, password: string) => api.POST(`${path}/sign-in`, { body: { email, password } })

export const signInWithCode = (challenge: string, code: string) =>
  api.POST(`${path}/sign-in/totp`, { body: { challenge, code } })

export const signInWithLink = (token: string) => api.POST(`${path}/sign-in/link`, { body: { token } })

export const readSignInMethods = () => api.GET(`${path}/sign-in/methods`)

/** Mails a link to sign in or to set a new password. The answer does not say whether the address has an account. */
export const mailSignInLink = (email: string, purpose: 'sign-in' | 'reset') =>
  api.POST(`${path}/sign-in/mail`, { body: { email, purpose, language } })

/** Returns the identity providers to offer before an address is known, or for an address. */
export const findProviders = (email?: string) =>
  api.POST(`${path}/sign-in/providers`, { body: email === undefined ? {} : { email } })

/** Page of ours that begins the sign-in at a provider. */
export const providerStart = (id: string, next: string): string =>
  `/sso/${id}${next === '/' ? '' : `?next=${encodeURIComponent(next)}`}`

export type Invitation = Awaited<ReturnType<typeof readInvitation>>

export const readInvitation = (token: string) => api.POST(`${path}/invitations/read`, { body: { token } })

/** Accepts an invitation as the signed-in user, or as a new user with a name and a password. */
export const acceptInvitation = (token: string, newcomer: { name: string; password: string } | null) =>
  api.POST(`${path}/invitations/accept`, { body: { token, ...newcomer } })
