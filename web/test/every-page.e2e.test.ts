import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { atEnd } from '../../server/test/support/file-lifecycle.ts'
import { issuesIn, overlays } from './support/accessibility.ts'
import { desktop, phone } from './support/browser.ts'
import { sharedDemo } from './support/demo.ts'
import { currentPath, everyPage, type Stop, walkerOf } from './support/every-page.ts'

const demo = await sharedDemo()
const { stops } = await everyPage(demo)
const { page } = await demo.open('nowhere', { isKept: true })
atEnd(() => page.close())
const { walk } = walkerOf(demo, page)
/** Parts of the list beside a conversation, which phones do not show with it, or for which phones have no button. */
const onDesktop = ['filters', 'mentions', 'search', 'columns', 'templates']
/** Includes elements that overflow the viewport. */
async function onPhone(page: Page, within?: string): Promise<string[]> {
  const wide = await page.locator(`html, ${overlays}`).filter({ visible: true }).evaluateAll(reachingOut, phone.width)
  return [...(await issuesIn(page, 'phone', within)), ...wide]
}

interface Box {
  getBoundingClientRect(): { left: number; right: number }
  scrollWidth: number
  outerHTML: string
  querySelectorAll(selectors: string): Iterable<Box>
}

/** Runs in the page. Names overflowing elements by their innermost cause. */
function reachingOut(all: Box[], width: number) {
  const isOut = (one: Box) => {
    const { left, right } = one.getBoundingClientRect()
    return left < 0 || right > width + 1
  }
  const isWide = (one: Box) => isOut(one) || one.scrollWidth > width
  const start = ({ outerHTML }: Box) => outerHTML.slice(0, 160)
  return all.filter(isWide).map((one) => {
    const within = [...one.querySelectorAll('body *')].filter(isOut).slice(0, 4)
    return `too wide: ${start(one)}: ${within.map(start).join(', ')}`
  })
}

const inTheDark = async (page: Page, within?: string) => (within ? issuesIn(page, 'dark', within) : [])

let isAmidst = false

async function assertWalked(stop: Stop, look: typeof onPhone, left: readonly string[] = []): Promise<void> {
  // Left by an earlier test that failed.
  if (isAmidst) await page.goto(`${demo.url}/w/${demo.workspaceId}/nowhere`)
  isAmidst = true
  assert.deepEqual(await walk(stop, look, left), [])
  isAmidst = false
}

for (const stop of stops.filter(({ overlays }) => overlays !== undefined))
  test(`layers over ${currentPath(stop)} have sufficient contrast in dark mode`, async () => {
    await page.setViewportSize(desktop)
    await assertWalked(stop, inTheDark)
  })

for (const stop of stops)
  test(`${currentPath(stop)} on a phone has no accessibility violations and no horizontal overflow`, async () => {
    await page.setViewportSize(phone)
    // The app draws its navigation again when the media query has changed.
    await page
      .getByRole('navigation')
      .getByRole('link', { name: /^Webhooks/ })
      .waitFor({ state: 'detached' })
    await assertWalked(stop, onPhone, onDesktop)
  })

test('a panel that opens on a phone never makes the page wider, not even before it is placed', async () => {
  await page.setViewportSize(phone)
  const stop = stops.find(({ overlays }) => overlays?.['snooze-past'] !== undefined)
  assert.ok(stop !== undefined)
  await page.goto(`${demo.url}/w/${demo.workspaceId}/${stop.place}`)
  await stop.isReady(page).waitFor()
  const widest = await page.evaluateHandle(sampleWidth)
  // The second time its content is ready before its place is known, and takes the focus there.
  for (const _ of [1, 2]) {
    await stop.overlays?.['snooze-past']?.(page)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  assert.equal(await widest.evaluate(({ width }) => width), phone.width)
})

/** Runs in the page. Returns the largest width that the page has had since. */
function sampleWidth(): { width: number } {
  const { document, MutationObserver } = globalThis as unknown as {
    document: { documentElement: { scrollWidth: number } }
    MutationObserver: new (act: () => void) => { observe(target: object, options: object): void }
  }
  const root = document.documentElement
  const widest = { width: root.scrollWidth }
  const sample = () => {
    widest.width = Math.max(widest.width, root.scrollWidth)
  }
  new MutationObserver(sample).observe(root, { childList: true, subtree: true, attributes: true })
  return widest
}
