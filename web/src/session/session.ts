import { useSyncExternalStore } from 'react'
import { ApiError } from '../api/api-error.ts'
import { api, setSessionToken, unwrap } from '../api/client.ts'
import { roleValues } from '../api/schema.ts'
import { claimPrivateStorage, clearPrivateStorage, closePrivateStorage, ownerKey } from './private-storage.ts'

export type Role = 'member' | 'admin' | 'owner'
export type Session = Awaited<ReturnType<typeof readSession>>
export type SignedInUser = NonNullable<Session['user']>

const readSession = () => unwrap(api.GET('/api/team/v1/session'))

let current: Session | null = null
const listeners = new Set<() => void>()

/** Who is signed in; null when the browser is on its way to the sign-in page. */
export async function loadSession(): Promise<Session | null> {
  setSessionToken('', goToSignIn)
  try {
    current = await readSession()
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null
    throw error
  }
  if (current.user === null) return null
  setSessionToken(current.csrfToken ?? '', () => void verifySession())
  claimPrivateStorage(localStorage, current.user.id)
  window.addEventListener('storage', onOtherTabSignOut)
  return current
}

/** The same for who may be a stranger: null, and they stay where they are. */
export async function findSession(): Promise<Session | null> {
  try {
    const session = await readSession()
    setSessionToken(session.csrfToken ?? '', () => {})
    return session
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null
    throw error
  }
}

/**
 * Reads again who is signed in and where they are a member, after one of these has changed. A change that ended the
 * session returns the token of the next one.
 */
export async function refreshSession(csrfToken?: string): Promise<Session> {
  if (csrfToken !== undefined) setSessionToken(csrfToken, () => void verifySession())
  const session = await readSession()
  current = session
  for (const listener of listeners) listener()
  return session
}

/** The session; the component is drawn again when it changes. */
export function useSession(): Session {
  return useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, currentSession)
}

/** The session as it is now. */
export function currentSession(): Session {
  if (current === null) throw new Error('The app is not open yet')
  return current
}

export function currentUser(): SignedInUser {
  const { user } = currentSession()
  if (user === null) throw new Error('Nobody is signed in')
  return user
}

/** The higher, the more it may. */
const ranks: readonly Role[] = roleValues

/** Whether the signed-in person may do what takes this role. */
export function hasRole(workspaceId: string, role: Role): boolean {
  const { user, workspaces } = currentSession()
  if (user?.isOperator) return true
  const own = workspaces.find(({ id }) => id === workspaceId)?.role
  return own !== undefined && ranks.indexOf(own) >= ranks.indexOf(role)
}

/** Ends the session; what was written in this browser and not sent goes with it. */
export async function signOut(): Promise<void> {
  try {
    await api.POST('/api/team/v1/sign-out')
  } catch (error) {
    const isOver = error instanceof ApiError && error.status === 401
    if (!isOver) throw error
  }
  closePrivateStorage()
  clearPrivateStorage(localStorage)
  // What waits for somebody is nothing for who comes after them.
  if ('clearAppBadge' in navigator) await navigator.clearAppBadge().catch(() => {})
  window.location.assign('/sign-in')
}

/** Somebody has signed out, or another person in, in another tab of this browser. */
function onOtherTabSignOut({ key, newValue }: StorageEvent): void {
  if (key !== ownerKey || newValue === currentUser().id) return
  closePrivateStorage()
  goToSignIn()
}

// As long as the answer with the next session may be on its way.
const renewalMs = 1000
let isVerifying = false

/**
 * Goes to the sign-in page, unless there is a session: a change that ends all sessions gives this browser a new one, and a
 * request that left just before is refused with the former.
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

/** Null when nobody can tell, as the service is out of reach. */
async function isSignedIn(): Promise<boolean | null> {
  try {
    return (await readSession()).user !== null
  } catch (error) {
    return error instanceof ApiError && error.status === 401 ? false : null
  }
}

function goToSignIn(): void {
  window.location.assign(`/sign-in?next=${encodeURIComponent(window.location.pathname + window.location.search)}`)
}
