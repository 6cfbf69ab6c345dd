import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { pickItem } from './support/actions.ts'
import { until } from './support/composing.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()
const filters = `/workspaces/${demo.workspaceId}/saved-filters`
const tabsOf = (page: Page) => page.getByRole('navigation', { name: 'Saved views' })
const tab = (page: Page, name: string) => tabsOf(page).getByRole('link', { name: new RegExp(`${name}( Changed)?$`) })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const head = (page: Page, name: string) => page.getByRole('columnheader', { name })
const names = (page: Page) => tabsOf(page).getByRole('link').allInnerTexts()
const order = async (page: Page) => (await names(page)).join()

// Run in the page: nothing is drawn in between.
const pressedAtOnce = (...keys: string[]) =>
  keys
    .map((key) => `document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true }))`)
    .join()

async function inMenu(page: Page, view: string, item: string): Promise<void> {
  await pickItem(button(page, `Menu of the view ${view}`), { name: item, exact: true })
}

async function saveAs(page: Page, open: string, name: string, shared = false): Promise<void> {
  await button(page, open).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name of the view').fill(name)
  if (shared) await dialog.getByLabel('For everybody in the workspace').check()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await tab(page, name).waitFor()
}

test('a view keeps filters, order and columns, says when it is changed, and is saved, saved anew or taken back', async () => {
  const { page } = await demo.open('leads?status=new&sort=createdAt')
  await saveAs(page, 'Save this view', 'New ones')
  await button(page, 'Save this view').waitFor({ state: 'detached' })
  assert.equal(await tab(page, 'New ones').getAttribute('aria-current'), 'page')
  await button(page, 'Columns').click()
  await page.getByRole('checkbox', { name: 'E-mail' }).check()
  await page.keyboard.press('Escape')
  await head(page, 'E-mail').waitFor()
  await button(page, 'Reset').click()
  await head(page, 'E-mail').waitFor({ state: 'detached' })
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
  await page.getByRole('button', { name: 'Remove: Status is New' }).click()
  await saveAs(page, 'Save as new view', 'Everybody', true)
  await page.reload()
  await head(page, 'Phone').waitFor({ state: 'detached' })
  assert.equal(await tab(page, 'Everybody').getAttribute('aria-current'), 'page')
  await page.keyboard.press(',')
  await head(page, 'Phone').waitFor()
  await assertAccessible(page)
})

test('keys that come faster than the page is drawn step on from each other', async () => {
  const { page } = await demo.open('leads')
  await tab(page, 'Everybody').waitFor()
  await page.evaluate(pressedAtOnce('.', '.'))
  await until(() => tab(page, 'New ones').getAttribute('aria-current'), 'page')
  await page.locator('[role="grid"][aria-busy="false"]').waitFor()
  await page.evaluate(pressedAtOnce('j', 'j', 'j', 'k'))
  await page.locator('[data-row="2"][data-active]').waitFor()
})

test('views are renamed, shared, copied, deleted and brought back by their menus', async () => {
  const { page } = await demo.open('leads')
  await tab(page, 'New ones').click()
  await inMenu(page, 'New ones', 'Rename')
  await page.getByRole('dialog').getByLabel('Name of the view').fill('Fresh')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await tab(page, 'Fresh').waitFor()
  await inMenu(page, 'Fresh', 'Share with everybody')
  await tab(page, 'Fresh').getByRole('img', { name: 'For everybody' }).waitFor()
  await inMenu(page, 'Fresh', 'Keep for myself')
  await inMenu(page, 'Fresh', 'Duplicate')
  await inMenu(page, 'Fresh 2', 'Delete')
  await tab(page, 'Fresh 2').waitFor({ state: 'detached' })
  assert.equal(await tab(page, 'All').getAttribute('aria-current'), 'page')
  await button(page, 'Undo').click()
  await tab(page, 'Fresh 2').waitFor()
})

test('views are put into an order by mouse and by keys, and it is there the next time', async () => {
  const { page } = await demo.open('leads')
  await tab(page, 'Fresh 2').waitFor()
  assert.deepEqual(await names(page), ['All', 'Everybody', 'Fresh', 'Fresh 2'])
  await tab(page, 'Fresh 2').dragTo(tab(page, 'Everybody'))
  await until(() => order(page), 'All,Fresh 2,Everybody,Fresh')
  await tab(page, 'Everybody').focus()
  await page.keyboard.press('Shift+ArrowRight')
  await until(() => order(page), 'All,Fresh 2,Fresh,Everybody')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('Enter')
  await until(
    async () => page.url(),
    (url) => url.includes('saved='),
  )
  await inMenu(page, 'Fresh', 'Move left')
  await until(() => order(page), 'All,Fresh,Fresh 2,Everybody')
  await page.reload()
  await tab(page, 'Everybody').waitFor()
  assert.deepEqual(await names(page), ['All', 'Fresh', 'Fresh 2', 'Everybody'])
})

test('views that do not fit are behind a button, and on a phone all are', async () => {
  for (let n = 1; n <= 12; n++) {
    await demo.team('POST', filters, {
      page: 'leads',
      name: `A long name of a view ${n}`,
      query: 'status=won',
      shared: true,
    })
  }
  const { page } = await demo.open('leads')
  const more = tabsOf(page).getByRole('button', { name: /more$/ })
  await pickItem(more, { name: 'A long name of a view 9' })
  await button(page, 'A long name of a view 9').waitFor()
  await button(page, 'Menu of the view A long name of a view 9').waitFor()
  await page.waitForURL(/status=won/)
  await assertAccessible(page)
})
