import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { atEnd } from '../../server/test/support/file-end.ts'
import { issuesOf, overlays } from './support/accessibility.ts'
import { phone } from './support/browser.ts'
import { sharedDemo } from './support/demo.ts'
import { everyPage, shownPlace, walkerOf } from './support/every-page.ts'

const demo = await sharedDemo()
const { stops } = await everyPage(demo)
const { page } = await demo.open('nowhere', { isKept: true, viewport: phone })
atEnd(() => page.close())
const { walk } = walkerOf(demo, page)
/** What belongs to the list beside a conversation, which a phone does not show with it, or to what a phone has no room for. */
const onDesktop = ['filters', 'mentions', 'search', 'columns']
/** Also whatever reaches beyond the edges. */
async function look(page: Page, within?: string): Promise<string[]> {
  const wide = await page.locator(`html, ${overlays}`).filter({ visible: true }).evaluateAll(reachingOut, phone.width)
  return [...(await issuesOf(page, within)), ...wide]
}

/** Runs in the page. */
function reachingOut(
  all: { getBoundingClientRect(): { left: number; right: number }; scrollWidth: number; outerHTML: string }[],
  width: number,
) {
  const isWide = (one: (typeof all)[number]) => {
    const { left, right } = one.getBoundingClientRect()
    return left < 0 || right > width + 1 || one.scrollWidth > width
  }
  return all.filter(isWide).map(({ outerHTML }) => `too wide: ${outerHTML.slice(0, 160)}`)
}

let isAmidst = false

for (const stop of stops)
  test(`nothing of ${shownPlace(stop)} on a phone has a fault that axe knows, nor reaches beyond its edges`, async () => {
    // What a test before has left, when it failed.
    if (isAmidst) await page.reload()
    isAmidst = true
    assert.deepEqual(await walk(stop, look, onDesktop), [])
    isAmidst = false
  })
