import { useSyncExternalStore } from 'react'
import { api, body, useSession as carryToken } from '../api/client.ts'
import { Failure } from '../api/failure.ts'
import { roleValues } from '../api/schema.ts'
import { claimPrivate, closePrivateStorage, forgetPrivate, ownerPlace } from './private-storage.ts'

export type Role = 'member' | 'admin' | 'owner'
export type Session = Awaited<ReturnType<typeof readSession>>
export type SignedInUser = NonNullable<Session['user']>

const readSession = () => body(api.GET('/api/team/v1/session'))

let current: Session | null = null
const watchers = new Set<() => void>()

/** Who is signed in; null when the browser is on its way to the sign-in page. */
export async function openSession(): Promise<Session | null> {
  carryToken('', goToSignIn)
  try {
    current = await readSession()
  } catch (error) {
    if (error instanceof Failure && error.status === 401) return null
    throw error
  }
  if (current.user === null) return null
  carryToken(current.csrfToken ?? '', () => void leaveWithoutSession())
  claimPrivate(localStorage, current.user.id)
  window.addEventListener('storage', leaveWithOthers)
  return current
}

/** The same for who may be a stranger: null, and they stay where they are. */
export async function findSession(): Promise<Session | null> {
  try {
    const session = await readSession()
    carryToken(session.csrfToken ?? '', () => {})
    return session
  } catch (error) {
    if (error instanceof Failure && error.status === 401) return null
    throw error
  }
}

/**
 * Reads again who is signed in and where they are a member, after one of these has changed. A change that ended the
 * session returns the token of the next one.
 */
export async function refreshSession(csrfToken?: string): Promise<Session> {
  if (csrfToken !== undefined) carryToken(csrfToken, () => void leaveWithoutSession())
  const session = await readSession()
  current = session
  for (const changed of watchers) changed()
  return session
}

/** The session; the component is drawn again when it changes. */
export function useSession(): Session {
  return useSyncExternalStore((changed) => {
    watchers.add(changed)
    return () => watchers.delete(changed)
  }, session)
}

/** The session as it is now. */
export function session(): Session {
  if (current === null) throw new Error('The app is not open yet')
  return current
}

export function me(): SignedInUser {
  const { user } = session()
  if (user === null) throw new Error('Nobody is signed in')
  return user
}

/** The higher, the more it may. */
const ranks: readonly Role[] = roleValues

/** Whether the signed-in person may do what takes this role. */
export function mayIn(workspaceId: string, role: Role): boolean {
  const { user, workspaces } = session()
  if (user?.isOperator) return true
  const own = workspaces.find(({ id }) => id === workspaceId)?.role
  return own !== undefined && ranks.indexOf(own) >= ranks.indexOf(role)
}

/** Ends the session; what was written in this browser and not sent goes with it. */
export async function signOut(): Promise<void> {
  try {
    await api.POST('/api/team/v1/sign-out')
  } catch (error) {
    const isOver = error instanceof Failure && error.status === 401
    if (!isOver) throw error
  }
  closePrivateStorage()
  forgetPrivate(localStorage)
  // What waits for somebody is nothing for who comes after them.
  if ('clearAppBadge' in navigator) await navigator.clearAppBadge().catch(() => {})
  window.location.assign('/sign-in')
}

/** Somebody has signed out, or another person in, in another tab of this browser. */
function leaveWithOthers({ key, newValue }: StorageEvent): void {
  if (key !== ownerPlace || newValue === me().id) return
  closePrivateStorage()
  goToSignIn()
}

// As long as the answer with the next session may be on its way.
const renewalMs = 1000
let isAsking = false

/**
 * Goes to the sign-in page, unless there is a session: a change that ends all sessions gives this browser a new one, and a
 * request that left just before is refused with the former.
 */
async function leaveWithoutSession(): Promise<void> {
  if (isAsking) return
  isAsking = true
  if ((await isSignedIn()) === false) {
    await new Promise((resolve) => setTimeout(resolve, renewalMs))
    if ((await isSignedIn()) === false) goToSignIn()
  }
  isAsking = false
}

/** Null when nobody can tell, as the service is out of reach. */
async function isSignedIn(): Promise<boolean | null> {
  try {
    return (await readSession()).user !== null
  } catch (error) {
    return error instanceof Failure && error.status === 401 ? false : null
  }
}

function goToSignIn(): void {
  window.location.assign(`/sign-in?next=${encodeURIComponent(window.location.pathname + window.location.search)}`)
}
