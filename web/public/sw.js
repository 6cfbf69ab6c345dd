// What people are told of while no page is open. Nothing is kept here: the app is never older than the service.

self.addEventListener('install', () => self.skipWaiting())
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()))

self.addEventListener('push', (event) => event.waitUntil(show(event.data?.json() ?? {})))

async function show({ id, title = 'Parley', body = '', url = '/' }) {
  // Who looks at the app is told by it.
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

/** Forms and the reference stand at the same address, and tell nobody of anything. */
async function appPages() {
  const pages = await self.clients.matchAll({ type: 'window', includeUncontrolled: true })
  return pages.filter(({ url }) => new URL(url).pathname.startsWith('/w/'))
}
