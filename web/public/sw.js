// What people are told of while no page is open. Nothing is kept here: the app is never older than the service.

self.addEventListener('install', () => self.skipWaiting())
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()))

self.addEventListener('push', (event) => event.waitUntil(show(event.data?.json() ?? {})))

async function show({ id, title = 'Parley', body = '', url = '/' }) {
  const pages = await self.clients.matchAll({ type: 'window', includeUncontrolled: true })
  // Who looks at the app is told by it.
  if (pages.some((page) => page.focused)) return
  await self.registration.showNotification(title, { body, tag: id, icon: '/icon-192.png', data: { url } })
  await self.navigator.setAppBadge?.().catch(() => {})
}

self.addEventListener('notificationclick', (event) => {
  event.notification.close()
  event.waitUntil(open(event.notification.data?.url ?? '/'))
})

async function open(url) {
  const pages = await self.clients.matchAll({ type: 'window', includeUncontrolled: true })
  const page = pages.find((one) => new URL(one.url).pathname.startsWith('/w/'))
  if (page === undefined) return self.clients.openWindow(url)
  page.postMessage({ open: url })
  return page.focus()
}
