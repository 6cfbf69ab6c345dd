import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { allowLoadFailure, desktop, phone } from './support/browser.ts'
import { field, newWriter } from './support/composing.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()

test('a page that was not loaded says so while offline, and loads when online again', async () => {
  const { page, context } = await demo.open('home', { isAlone: true })
  await page.getByRole('link', { name: 'Forms' }).waitFor()
  allowLoadFailure(page)
  await context.setOffline(true)
  await page.getByRole('link', { name: 'Forms' }).click()
  await page.getByText('This page hasn’t loaded yet.', { exact: false }).waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('This page hasn’t loaded yet.', { exact: false }).waitFor()
  // What is already loaded keeps working.
  await page.getByRole('link', { name: 'Home' }).click()
  await page.getByRole('heading', { name: 'Home' }).waitFor()
  await page.getByRole('link', { name: 'Forms' }).click()
  await page.getByText('This page hasn’t loaded yet.', { exact: false }).waitFor()
  await context.setOffline(false)
  await page.getByRole('heading', { name: 'Forms' }).waitFor()
})

const noticeOf = (page: Page) => page.getByRole('alert').filter({ has: page.getByRole('button', { name: 'Undo' }) })

async function areApart(one: Locator, other: Locator): Promise<boolean> {
  const [a, b] = [await one.boundingBox(), await other.boundingBox()]
  assert.ok(a !== null && b !== null)
  return a.x >= b.x + b.width || b.x >= a.x + a.width || a.y >= b.y + b.height || b.y >= a.y + a.height
}

test('a toast never covers a focused text field', async () => {
  for (const viewport of [desktop, { width: 1024, height: 768 }, phone]) {
    const ida = await newWriter(demo, `Ida Mar ${viewport.width}`, 'Hello')
    const { page } = await demo.open(ida.place, { viewport })
    await page.evaluate(`localStorage.setItem('parley.opens-next', 'no')`)
    await field(page).waitFor()
    await page.getByRole('button', { name: 'Resolve' }).click()
    await noticeOf(page).waitFor()
    assert.ok(await areApart(noticeOf(page), field(page)))
  }
})
