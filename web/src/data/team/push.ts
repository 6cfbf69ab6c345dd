import { api, unwrap } from '../../api/client.ts'
import { currentUser } from '../../session/session.ts'
import { language } from '../../text/index.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/notices/push-subscriptions'
const worker = '/sw.js'

/**
 * What this browser does with notices: `denied` is for the person to change in the browser itself; `open` shows them as long as a
 * page is open, for want of a push service.
 */
export type BrowserPushState = 'unsupported' | 'denied' | 'off' | 'open' | 'on'

export function browserPushState(workspaceId: string): BrowserPushState {
  if (!('Notification' in window) || !('serviceWorker' in navigator)) return 'unsupported'
  if (Notification.permission === 'denied') return 'denied'
  const id = localStorage.getItem(storageKeyOf(workspaceId))
  if (Notification.permission !== 'granted' || id === null) return 'off'
  return id === '' ? 'open' : 'on'
}

export const isBrowserEnabled = (workspaceId: string): boolean => ['open', 'on'].includes(browserPushState(workspaceId))

// Whoever signs in after somebody else asks for themselves.
const storageKeyOf = (workspaceId: string): string => `parley.told.${currentUser().id}.${workspaceId}`

// Where a network lets nobody reach the push service, browsers try for ever.
const maxWaitMs = 10_000

/**
 * Asks the browser, and has it told from now on, while no page is open as well. Without a push service, as in some private
 * windows and networks, it is told by the pages that are open.
 */
export async function enableBrowserNotifications(workspaceId: string, pushKey: string): Promise<void> {
  if (browserPushState(workspaceId) === 'unsupported') return
  if ((await Notification.requestPermission()) !== 'granted') return
  localStorage.setItem(storageKeyOf(workspaceId), '')
  const patience = new Promise((resolve) => setTimeout(resolve, maxWaitMs))
  await Promise.race([subscribe(workspaceId, pushKey), patience])
}

/** What the service knows of this browser ends with the session, so that each page that is opened says it again. */
export async function renewSubscription(workspaceId: string, pushKey: string): Promise<void> {
  if (isBrowserEnabled(workspaceId)) await subscribe(workspaceId, pushKey)
}

const subscribing = new Map<string, Promise<void>>()

/** Who turns it on while a page that was just opened says it again waits for the same. */
function subscribe(workspaceId: string, pushKey: string): Promise<void> {
  const before = subscribing.get(workspaceId)
  if (before !== undefined) return before
  const asked = register(workspaceId, pushKey).finally(() => subscribing.delete(workspaceId))
  subscribing.set(workspaceId, asked)
  return asked
}

async function register(workspaceId: string, pushKey: string): Promise<void> {
  const registration = await navigator.serviceWorker.register(worker)
  const subscription = await subscriptionOf(registration, pushKey)
  // Whoever waited for it may have turned it off meanwhile.
  if (!isBrowserEnabled(workspaceId)) return
  if (subscription === null) return localStorage.setItem(storageKeyOf(workspaceId), '')
  const { endpoint, keys = {} } = subscription.toJSON()
  const { p256dh, auth } = keys
  if (endpoint === undefined || p256dh === undefined || auth === undefined) return
  const { id } = await unwrap(
    api.POST(path, { params: { path: { workspaceId } }, body: { endpoint, p256dh, auth, language } }),
  )
  localStorage.setItem(storageKeyOf(workspaceId), id)
}

async function subscriptionOf(registration: ServiceWorkerRegistration, pushKey: string) {
  if (!('pushManager' in registration)) return null
  await navigator.serviceWorker.ready
  const options = { userVisibleOnly: true, applicationServerKey: pushKey }
  try {
    return await registration.pushManager.subscribe(options)
  } catch {
    // One of another installation that stood at this address before: it takes nothing of ours.
    const older = await registration.pushManager.getSubscription().catch(() => null)
    if (older === null) return null
    await older.unsubscribe()
    return registration.pushManager.subscribe(options).catch(() => null)
  }
}

export async function disableBrowserNotifications(workspaceId: string): Promise<void> {
  const id = localStorage.getItem(storageKeyOf(workspaceId)) ?? ''
  localStorage.removeItem(storageKeyOf(workspaceId))
  // It may be gone already, which is what is wanted.
  if (id !== '') await api.DELETE(`${path}/{id}`, { params: { path: { workspaceId, id } } }).catch(() => {})
}

export interface BrowserNotification {
  id: string
  title: string
  body: string
  url: string
}

/** Has the browser show it, beside whatever page is looked at. One that comes by push as well is shown once. */
export async function showBrowserNotification(
  workspaceId: string,
  { id, title, body, url }: BrowserNotification,
): Promise<void> {
  if (!isBrowserEnabled(workspaceId)) return
  const registration = await navigator.serviceWorker.register(worker)
  await navigator.serviceWorker.ready
  await registration.showNotification(title, { body, tag: id, icon: '/icon-192.png', data: { url } })
}
