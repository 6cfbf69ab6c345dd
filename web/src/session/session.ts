import { useSyncExternalStore } from 'react'
import { ApiError } from '../api/api-error.ts'
import { api, setSessionToken } from '../api/client.ts'
import { roleValues } from '../api/schema.ts'
import { claimPrivateStorage, clearPrivateStorage, closePrivateStorage, ownerKey } from './private-storage.ts'

export type Role = 'member' | 'admin' | 'owner'
export type Session = Awaited<ReturnType<typeof readSession>>
export type SignedInUser = NonNullable<Session['user']>

const readSession = () => api.GET('/api/team/v1/session')

let current: Session | null = null
const listeners = new Set<() => void>()

/** Loads the session; null while the browser navigates to the sign-in page. */
export async function loadSession(): Promise<Session | null> {
  setSessionToken('', goToSignIn)
  current = await readSessionIfAny()
  if (current === null || current.user === null) return null
  setSessionToken(current.csrfToken ?? '', () => void verifySession())
  claimPrivateStorage(localStorage, current.user.id)
  window.addEventListener('storage', onOtherTabSignOut)
  return current
}

/** Loads the session; null if nobody is signed in, without leaving the page. */
export async function findSession(): Promise<Session | null> {
  const session = await readSessionIfAny()
  if (session !== null) setSessionToken(session.csrfToken ?? '', () => {})
  return session
}

const isSignedOut = (error: unknown): boolean => error instanceof ApiError && error.status === 401

const readSessionIfAny = (): Promise<Session | null> =>
  readSession().catch((error: unknown) => {
    if (isSignedOut(error)) return null
    throw error
  })

/**
 * Reloads the session after a change of the person or their memberships. Takes the new CSRF token if the change
 * replaced the session.
 */
export async function refreshSession(csrfToken?: string): Promise<Session> {
  if (csrfToken !== undefined) setSessionToken(csrfToken, () => void verifySession())
  const session = await readSession()
  current = session
  for (const listener of listeners) listener()
  return session
}

/** Returns the session; renders again when it changes. */
export function useSession(): Session {
  return useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, currentSession)
}

/** Returns the current session. */
export function currentSession(): Session {
  if (current === null) throw new Error('The app is not open yet')
  return current
}

export function currentUser(): SignedInUser {
  const { user } = currentSession()
  if (user === null) throw new Error('Nobody is signed in')
  return user
}

/** From the lowest to the highest role. */
const ranks: readonly Role[] = roleValues

/** Returns whether the signed-in person has at least this role. */
export function hasRole(workspaceId: string, role: Role): boolean {
  const { user, workspaces } = currentSession()
  if (user?.isOperator) return true
  const own = workspaces.find(({ id }) => id === workspaceId)?.role
  return own !== undefined && ranks.indexOf(own) >= ranks.indexOf(role)
}

/** Ends the session and removes unsent texts from this browser. */
export async function signOut(): Promise<void> {
  try {
    await api.POST('/api/team/v1/sign-out')
  } catch (error) {
    if (!isSignedOut(error)) throw error
  }
  closePrivateStorage()
  clearPrivateStorage(localStorage)
  // The badge must not be visible to the next person.
  if ('clearAppBadge' in navigator) await navigator.clearAppBadge().catch(() => {})
  window.location.assign('/sign-in')
}

/** Handles sign-out, or a different sign-in, in another tab. */
function onOtherTabSignOut({ key, newValue }: StorageEvent): void {
  if (key !== ownerKey || newValue === currentUser().id) return
  closePrivateStorage()
  goToSignIn()
}

// Time for a response with a new session to arrive.
const renewalMs = 1000
let isVerifying = false

/**
 * Goes to the sign-in page unless there is a session. A change that ends all sessions gives this browser a new one, and
 * a request sent just before fails with the old one.
 */
async function verifySession(): Promise<void> {
  if (isVerifying) return
  isVerifying = true
  if ((await isSignedIn()) === false) {
    await new Promise((resolve) => setTimeout(resolve, renewalMs))
    if ((await isSignedIn()) === false) goToSignIn()
  }
  isVerifying = false
}

/** Returns null if the server is unreachable. */
async function isSignedIn(): Promise<boolean | null> {
  try {
    return (await readSession()).user !== null
  } catch (error) {
    return isSignedOut(error) ? false : null
  }
}

function goToSignIn(): void {
  window.location.assign(`/sign-in?next=${encodeURIComponent(window.location.pathname + window.location.search)}`)
}
