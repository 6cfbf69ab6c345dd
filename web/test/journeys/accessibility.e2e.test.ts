import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { atEnd } from '../../../server/test/support/file-lifecycle.ts'
import { assertAccessible, issuesIn, issuesInSchemes } from '../support/accessibility.ts'
import { phone, visitOf } from '../support/browser.ts'
import { sharedDemo } from '../support/demo.ts'
import { currentPath, everyPage, walkerOf } from '../support/every-page.ts'

const demo = await sharedDemo()
const { stops, forStrangers } = await everyPage(demo)
const { page } = await demo.open('nowhere', { isKept: true })
atEnd(() => page.close())
const { walk } = walkerOf(demo, page)
const mainPages = [
  'home',
  'inbox',
  'leads',
  'forms',
  'connections',
  'keys',
  'webhooks',
  'settings/workspace',
  'profile',
]
/** Checks what opens over a page in light mode; dark mode and phones in `every-page.e2e.test.ts`. */
const look = (page: Page, within?: string) =>
  within === undefined ? issuesInSchemes(page) : issuesIn(page, 'light', within)
let isAmidst = false

for (const stop of stops)
  test(`${currentPath(stop)} has no accessibility violations in light and dark mode`, async () => {
    // Left by an earlier test that failed.
    if (isAmidst) await page.reload()
    isAmidst = true
    assert.deepEqual(await walk(stop, look), [])
    isAmidst = false
  })

test('the main pages have no violations on a phone and no horizontal overflow', async () => {
  const { page: small } = await demo.open('nowhere', { viewport: phone })
  const { goTo } = walkerOf(demo, small)
  for (const stop of stops.filter(({ place }) => mainPages.includes(place))) {
    await goTo(stop)
    await assertAccessible(small)
    assert.equal(await small.evaluate('document.documentElement.scrollWidth'), phone.width, stop.place)
  }
})

test('menu items are large enough to hit: styles that load later override the base styles', async () => {
  const { page } = await demo.open('home')
  await page.getByRole('button', { name: /^You/ }).click()
  const item = page.getByRole('menuitem', { name: 'Profile', exact: true })
  await item.waitFor()
  const { height } = (await item.boundingBox()) ?? assert.fail()
  assert.ok(height >= 24, `${height} px`)
})

test('pages before sign-in have no accessibility violations in light and dark mode', async () => {
  const { page } = await visitOf(demo.browser)
  for (const address of forStrangers) {
    await page.goto(address)
    await page.getByRole('heading').first().waitFor()
    await assertAccessible(page)
  }
})

test('simulated phones have no accessibility violations in light and dark mode', async () => {
  const { page } = await visitOf(demo.browser)
  for (const place of ['phone', 'phone/owner']) {
    await page.goto(`${demo.simulatorUrl}/${place}`)
    await page.getByRole('button').first().waitFor()
    await assertAccessible(page)
  }
})
