import { api, unwrap } from '../../api/client.ts'

const path = '/api/team/v1'

/** Done, or a code is asked for. */
export type SignInStep = Awaited<ReturnType<typeof signIn>>

export const signIn = (email: string, password: string) =>
  unwrap(api.POST(`${path}/sign-in`, { body: { email, password } }))

export const signInWithCode = (challenge: string, code: string) =>
  unwrap(api.POST(`${path}/sign-in/totp`, { body: { challenge, code } }))

export const signInWithLink = (token: string) => unwrap(api.POST(`${path}/sign-in/link`, { body: { token } }))

export type Invitation = Awaited<ReturnType<typeof readInvitation>>

export const readInvitation = (token: string) => unwrap(api.POST(`${path}/invitations/read`, { body: { token } }))

/** Who is signed in joins as who they are; anyone else with a name and a password. */
export const acceptInvitation = (token: string, newcomer: { name: string; password: string } | null) =>
  unwrap(api.POST(`${path}/invitations/accept`, { body: { token, ...newcomer } }))
