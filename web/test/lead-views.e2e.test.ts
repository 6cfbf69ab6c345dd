import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { pickItem } from './support/actions.ts'
import { waitUntil } from './support/composing.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()
const tabsOf = (page: Page) => page.getByRole('navigation', { name: 'Saved views' })
const tab = (page: Page, name: string) => tabsOf(page).getByRole('link', { name: new RegExp(`${name}( Changed)?$`) })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const head = (page: Page, name: string) => page.getByRole('columnheader', { name })

async function saveAs(page: Page, open: string, name: string, shared = false): Promise<void> {
  await button(page, open).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('View name').fill(name)
  if (shared) await dialog.getByLabel('Share with everyone in the workspace').check()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await tab(page, name).waitFor()
}

test('a view stores filters, order and columns, shows unsaved changes, and is saved, saved as a copy or reset', async () => {
  const { page } = await demo.open('leads?status=new&sort=createdAt')
  await saveAs(page, 'Save this view', 'New ones')
  await button(page, 'Save this view').waitFor({ state: 'detached' })
  assert.equal(await tab(page, 'New ones').getAttribute('aria-current'), 'page')
  await button(page, 'Columns').click()
  await page.getByRole('checkbox', { name: 'Email' }).check()
  await page.keyboard.press('Escape')
  await head(page, 'Email').waitFor()
  await button(page, 'Reset').click()
  await head(page, 'Email').waitFor({ state: 'detached' })
  await button(page, 'Columns').click()
  await page.getByRole('checkbox', { name: 'Phone' }).uncheck()
  await page.keyboard.press('Escape')
  await button(page, 'Save').click()
  await button(page, 'Save').waitFor({ state: 'detached' })

  await tab(page, 'All').click()
  await head(page, 'Phone').waitFor()
  await page.keyboard.press('.')
  await head(page, 'Phone').waitFor({ state: 'detached' })
  await page.waitForURL(/status=new/)
  await page.getByRole('button', { name: 'Remove filter: Status is New' }).click()
  await saveAs(page, 'Save as new view', 'Everybody', true)
  await page.reload()
  await head(page, 'Phone').waitFor({ state: 'detached' })
  assert.equal(await tab(page, 'Everybody').getAttribute('aria-current'), 'page')
  await page.keyboard.press(',')
  await head(page, 'Phone').waitFor()
  await assertAccessible(page)
})

test('views are reordered by mouse, keyboard and menu, and keep the order', async () => {
  const filters = `/workspaces/${demo.workspaceId}/saved-filters`
  for (const name of ['Fresh', 'Fresh 2'])
    await demo.team('POST', filters, { page: 'leads', name, query: `q=${name.length}`, shared: true })
  const { page } = await demo.open('leads')
  const order = async () => (await tabsOf(page).getByRole('link').allInnerTexts()).slice(1, 4).join()
  await waitUntil(order, 'Everybody,Fresh,Fresh 2')
  await tab(page, 'Fresh 2').dragTo(tab(page, 'Everybody'))
  await waitUntil(order, 'Fresh 2,Everybody,Fresh')
  await tab(page, 'Everybody').focus()
  await page.keyboard.press('Shift+ArrowRight')
  await waitUntil(order, 'Fresh 2,Fresh,Everybody')
  await tab(page, 'Fresh').click()
  await pickItem(button(page, 'Menu for view Fresh'), { name: 'Move left', exact: true })
  await waitUntil(order, 'Fresh,Fresh 2,Everybody')
  await page.reload()
  await waitUntil(order, 'Fresh,Fresh 2,Everybody')
})
