// Shows push notifications while no page is open. Caches nothing: the app always has the version of the server.

self.addEventListener('install', () => self.skipWaiting())
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()))

self.addEventListener('push', (event) => event.waitUntil(show(event.data?.json() ?? {})))

async function show({ id, title = 'Parley', body = '', url = '/' }) {
  // A focused page shows the notification itself.
  if ((await appPages()).some((page) => page.focused)) return
  await self.registration.showNotification(title, { body, tag: id, icon: '/icon-192.png', data: { url } })
  await self.navigator.setAppBadge?.().catch(() => {})
}

self.addEventListener('notificationclick', (event) => {
  event.notification.close()
  event.waitUntil(open(event.notification.data?.url ?? '/'))
})

async function open(url) {
  const [page] = await appPages()
  if (page === undefined) return self.clients.openWindow(url)
  page.postMessage({ open: url })
  return page.focus()
}

/** Pages of the app. Public forms and the API reference have the same origin and do not show notifications. */
async function appPages() {
  const pages = await self.clients.matchAll({ type: 'window', includeUncontrolled: true })
  return pages.filter(({ url }) => new URL(url).pathname.startsWith('/w/'))
}
