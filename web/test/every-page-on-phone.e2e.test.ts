import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atEnd } from '../../server/test/support/file-end.ts'
import { issuesOf } from './support/accessibility.ts'
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
let isAmidst = false

for (const stop of stops)
  test(`nothing of ${shownPlace(stop)} on a phone has a fault that axe knows, nor scrolls sideways`, async () => {
    // What a test before has left, when it failed.
    if (isAmidst) await page.reload()
    isAmidst = true
    assert.deepEqual(await walk(stop, issuesOf, onDesktop), [])
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), phone.width)
    isAmidst = false
  })
