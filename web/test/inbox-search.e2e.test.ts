import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { sharedDemo } from './support/demo.ts'
import { newCustomer, openId } from './support/inbox.ts'

const demo = await sharedDemo()
const found = (page: Page) => page.getByRole('region', { name: 'Results' })
const group = (page: Page, name: 'Conversations' | 'Messages') => found(page).getByRole('region', { name })

/** Types into the search field, which `/` focuses. */
async function search(page: Page, text: string): Promise<void> {
  const field = page.getByRole('searchbox', { name: 'Search conversations' })
  if (!(await field.isVisible())) await page.keyboard.press('/')
  await field.fill(text)
}

test('a search finds customers and messages, and opens the found message', async () => {
  const lena = await newCustomer(demo, 'Lena Öström', '46700112233')
  await lena.says('Is the crimson wardrobe still there?')
  for (let n = 0; n < 70; n++) await lena.says(`Something else, number ${n}`)
  const { page } = await demo.open('inbox')
  await page.locator('[data-row]').getByText('Lena Öström').waitFor()
  await search(page, 'ostrom')
  await group(page, 'Conversations')
    .getByRole('link', { name: /Lena Öström/ })
    .waitFor()
  await group(page, 'Messages').getByText('No messages found').waitFor()
  await search(page, 'wardrobe crim')
  await group(page, 'Conversations').getByText('No conversations with this name or number').waitFor()
  const hit = group(page, 'Messages').getByRole('link', { name: /Lena Öström/ })
  await hit.waitFor()
  assert.deepEqual(await hit.locator('mark').allInnerTexts(), ['crimson', 'wardrobe'])
  await assertAccessible(page)
  await hit.click()
  const said = page.getByRole('log').getByText('Is the crimson wardrobe still there?')
  await said.waitFor()
  await page.locator('[id^=message-]:focus').waitFor()
  assert.ok(await said.isVisible())
  await page.waitForURL(/search=wardrobe/)
})

test('the keyboard moves from the field through both groups and back, and opens the focused result', async () => {
  const otto = await newCustomer(demo, 'Otto Lindqvist', '46700112244')
  await otto.says('This is Otto: a turquoise lamp, please')
  const { page } = await demo.open('inbox')
  await page.locator('[data-row]').getByText('Otto Lindqvist').waitFor()
  await search(page, 'otto')
  const row = group(page, 'Conversations').getByRole('link', { name: /Otto Lindqvist/ })
  const hit = group(page, 'Messages').getByRole('link', { name: /turquoise/ })
  await row.waitFor()
  await hit.waitFor()
  const hasFocus = (one: typeof row) => one.evaluate((element) => element === element.ownerDocument.activeElement)
  await page.keyboard.press('ArrowDown')
  assert.ok(await hasFocus(row))
  await page.keyboard.press('ArrowDown')
  assert.ok(await hasFocus(hit))
  await page.keyboard.press('ArrowUp')
  assert.ok(await hasFocus(row))
  await page.keyboard.press('ArrowUp')
  assert.ok(await hasFocus(page.getByRole('searchbox')))
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('log').getByText('a turquoise lamp').waitFor()
  assert.notEqual(openId(page), 'inbox')
  await page.getByRole('searchbox').focus()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: /^Mine/ }).waitFor()
  await found(page).waitFor({ state: 'detached' })
})
