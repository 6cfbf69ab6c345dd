import { api } from '../../api/client.ts'
import { currentUser } from '../../session/session.ts'
import { language } from '../../text/index.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/notices/push-subscriptions'
const worker = '/sw.js'

/**
 * Notification state of this browser. `denied` can be changed only in the browser itself; `open`: no push service, so
 * notifications appear only while a page is open.
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

// Per user: the next person who signs in here has to opt in separately.
const storageKeyOf = (workspaceId: string): string => `parley.told.${currentUser().id}.${workspaceId}`

// On networks that block the push service, browsers retry forever.
const maxWaitMs = 10_000

/**
 * Requests permission and enables notifications, also while no page is open. Without a push service, as in some private
 * windows and networks, open pages show them.
 */
export async function enableBrowserNotifications(workspaceId: string, pushKey: string): Promise<void> {
  if (browserPushState(workspaceId) === 'unsupported') return
  if ((await Notification.requestPermission()) !== 'granted') return
  localStorage.setItem(storageKeyOf(workspaceId), '')
  const patience = new Promise((resolve) => setTimeout(resolve, maxWaitMs))
  await Promise.race([subscribe(workspaceId, pushKey), patience])
}

/** Subscribes again on every page load, since the server deletes subscriptions with the session. */
export async function renewSubscription(workspaceId: string, pushKey: string): Promise<void> {
  if (isBrowserEnabled(workspaceId)) await subscribe(workspaceId, pushKey)
}

const subscribing = new Map<string, Promise<void>>()

/** Shares a subscription that is under way, for example when someone enables notifications while a page is loading. */
function subscribe(workspaceId: string, pushKey: string): Promise<void> {
  const before = subscribing.get(workspaceId)
  if (before !== undefined) return before
  const registering = register(workspaceId, pushKey).finally(() => subscribing.delete(workspaceId))
  subscribing.set(workspaceId, registering)
  return registering
}

async function register(workspaceId: string, pushKey: string): Promise<void> {
  const registration = await navigator.serviceWorker.register(worker)
  const subscription = await subscriptionOf(registration, pushKey)
  // Notifications may have been disabled meanwhile.
  if (!isBrowserEnabled(workspaceId)) return
  if (subscription === null) return localStorage.setItem(storageKeyOf(workspaceId), '')
  const { endpoint, keys = {} } = subscription.toJSON()
  const { p256dh, auth } = keys
  if (endpoint === undefined || p256dh === undefined || auth === undefined) return
  const { id } = await api.POST(path, { workspaceId, body: { endpoint, p256dh, auth, language } })
  localStorage.setItem(storageKeyOf(workspaceId), id)
}

async function subscriptionOf(registration: ServiceWorkerRegistration, pushKey: string) {
  if (!('pushManager' in registration)) return null
  await navigator.serviceWorker.ready
  const options = { userVisibleOnly: true, applicationServerKey: pushKey }
  try {
    return await registration.pushManager.subscribe(options)
  } catch {
    // A subscription of another installation at this address, with another key: replace it.
    const older = await registration.pushManager.getSubscription().catch(() => null)
    if (older === null) return null
    await older.unsubscribe()
    return registration.pushManager.subscribe(options).catch(() => null)
  }
}

export async function disableBrowserNotifications(workspaceId: string): Promise<void> {
  const id = localStorage.getItem(storageKeyOf(workspaceId)) ?? ''
  localStorage.removeItem(storageKeyOf(workspaceId))
  // It may already be deleted.
  if (id !== '') await api.DELETE(`${path}/{id}`, { workspaceId, id }).catch(() => {})
}

export interface BrowserNotification {
  id: string
  title: string
  body: string
  url: string
}

/** Shows a system notification. One that also arrives by push is shown once. */
export async function showBrowserNotification(
  workspaceId: string,
  { id, title, body, url }: BrowserNotification,
): Promise<void> {
  if (!isBrowserEnabled(workspaceId)) return
  const registration = await navigator.serviceWorker.register(worker)
  await navigator.serviceWorker.ready
  await registration.showNotification(title, { body, tag: id, icon: '/icon-192.png', data: { url } })
}
