import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { waitUntil } from './support/composing.ts'
import { openDemo } from './support/demo.ts'

const demo = await openDemo()
const at = `/workspaces/${demo.workspaceId}`
const { members } = await demo.team('GET', `${at}/members`)
const owner = members.find(({ role }: { role: string }) => role === 'owner').userId
// The demo's customers have waited since before the test.
await demo.team('PATCH', at, { answerGoalMinutes: null })
// The demo's customers write while it starts.
const { conversations } = await waitUntil(
  () => demo.team('GET', `${at}/inbox/conversations`),
  (found) => found.conversations.length >= 6,
)

/** Assigns a conversation to the owner, as someone else. */
async function assign(n = 0): Promise<{ id: string; contact: { name: string } }> {
  const path = `${at}/inbox/conversations/${conversations[n].id}`
  await demo.team('PATCH', path, { assignedTo: null })
  await demo.team('PATCH', path, { assignedTo: owner })
  return conversations[n]
}

const bell = (page: Page, name: string | RegExp = /^Notifications/) => page.getByRole('button', { name })
const panel = (page: Page) => page.getByRole('dialog', { name: 'Notifications' })

const nothingNew = (page: Page) => page.getByRole('button', { name: 'Notifications', exact: true }).waitFor()

/** Marks earlier notifications as read. */
async function readAll(page: Page): Promise<void> {
  await bell(page).click()
  await panel(page).getByRole('link', { name: 'Notification settings' }).waitFor()
  await panel(page).locator('[aria-busy="true"]').waitFor({ state: 'detached' })
  const all = panel(page).getByRole('button', { name: 'Mark all as read' })
  if (await all.isVisible()) await all.click()
  await page.keyboard.press('Escape')
  await nothingNew(page)
}

test('the bell counts notifications, links to them, and is empty once opened', async () => {
  const { page } = await demo.open()
  await readAll(page)
  const { id, contact } = await assign()
  await bell(page, 'Notifications: 1 unread').click()
  const row = panel(page)
    .getByRole('link', { name: /assigned you a conversation/ })
    .first()
  await row.getByText(contact.name).waitFor()
  await assertAccessible(page)
  await row.click()
  await page.waitForURL(`**/inbox/${id}`)
  await nothingNew(page)
})

test('the tooltip of the bell is inside the navigation landmark and closes when the panel opens', async () => {
  const { page } = await demo.open()
  // On a busy machine the page is still loading when the mouse arrives.
  await readAll(page)
  const tip = page.getByRole('navigation', { name: 'Main' }).getByRole('tooltip', { name: 'Notifications' })
  const ways = [() => bell(page).click(), () => page.keyboard.press('g').then(() => page.keyboard.press('n'))]
  for (const open of ways) {
    await page.mouse.move(700, 400)
    await bell(page).hover()
    await tip.waitFor()
    await assertAccessible(page)
    await open()
    await panel(page).getByRole('link', { name: 'Notification settings' }).waitFor()
    await tip.waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await panel(page).waitFor({ state: 'hidden' })
  }
})

test('sounds play only if enabled, after the first gesture, and once across tabs', async () => {
  const { page, context } = await demo.open('home', { isAlone: true })
  await context.addInitScript(`
    window.tones = 0
    const start = AudioScheduledSourceNode.prototype.start
    AudioScheduledSourceNode.prototype.start = function (...args) {
      window.tones++
      return start.apply(this, args)
    }`)
  await page.reload()
  const tones = (one: Page) => one.evaluate('window.tones') as Promise<number>
  await bell(page).waitFor()
  await readAll(page)
  const other = await context.newPage()
  await other.goto(page.url())
  await bell(other).waitFor()
  // Only tabs with a user gesture compete for the sound: two without one must not take it.
  const untouched = [await context.newPage(), await context.newPage()]
  for (const one of untouched) {
    await one.goto(page.url())
    await bell(one).waitFor()
    // Browsers do not count this key as a gesture.
    await one.keyboard.press('Escape')
  }
  await other.getByRole('main').click({ position: { x: 2, y: 2 } })
  await assign(4)
  const all = [page, other, ...untouched]
  for (const one of all) await bell(one, 'Notifications: 1 unread').waitFor()
  const sounds = async () => (await Promise.all(all.map(tones))).reduce((sum, count) => sum + count, 0)
  await waitUntil(sounds, (count) => count > 0)
  assert.equal(await sounds(), 2)
})

test('permission is requested only in the settings; then the browser shows notifications while the page is hidden', async () => {
  const { page, context } = await demo.open('profile', { isAlone: true })
  // Headless browsers deny permission without asking and show nothing: these replace the prompt, its answer and the
  // notifications.
  await context.addInitScript(`
    window.asked = 0
    window.shown = []
    Notification.requestPermission = async () => (window.asked++, Notification.permission)
    Object.defineProperty(Notification, 'permission', { get: () => (window.asked === 0 ? 'default' : 'granted') })
    ServiceWorkerRegistration.prototype.showNotification = async (title, { body }) => void window.shown.push({ title, body })
    document.hasFocus = () => false`)
  // Alerts compare with what was loaded, which happens shortly after the page is shown.
  const hasRead = page.waitForResponse((answer) => answer.url().includes('/notices?'))
  await page.reload()
  const turnOn = page.getByRole('button', { name: 'Enable in this browser' })
  await turnOn.waitFor()
  assert.equal(await page.evaluate('window.asked'), 0)
  await turnOn.click()
  // The test browser has no push service.
  await page
    .getByText('This browser shows notifications only while Parley is open: it can’t reach a push service.')
    .waitFor()
  assert.equal(await page.evaluate('window.asked'), 1)
  await hasRead
  const { contact } = await assign(5)
  const shown = () => page.evaluate('window.shown') as Promise<{ title: string; body: string }[]>
  await waitUntil(shown, (found) => found.length > 0)
  const found = await shown()
  assert.equal(found.length, 1)
  assert.match(found[0]?.title ?? '', /assigned you a conversation/)
  assert.equal(found[0]?.body, contact.name)
  await page.getByRole('button', { name: 'Disable in this browser' }).click()
  await turnOn.waitFor()
})

test('the app can be installed: manifest, icons and worker load without violations', async () => {
  const { page } = await demo.open()
  const href = await page.locator('link[rel="manifest"]').getAttribute('href')
  const manifest = (await demo.call('GET', `${href}`)).body
  assert.deepEqual([manifest.display, manifest.start_url], ['standalone', '/'])
  for (const { src } of manifest.icons) {
    const icon = await fetch(`${demo.url}${src}`)
    assert.deepEqual([icon.status, icon.headers.get('content-type')], [200, 'image/png'])
  }
  const worker = await fetch(`${demo.url}/sw.js`)
  assert.deepEqual([worker.status, worker.headers.get('cache-control')], [200, 'no-cache'])
  // The Content-Security-Policy of the worker's file must allow our icon.
  assert.match(worker.headers.get('content-security-policy') ?? '', /img-src 'self'/)
})
