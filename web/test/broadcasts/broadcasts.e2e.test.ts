import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible } from '../support/accessibility.ts'
import { phone } from '../support/browser.ts'
import { openDemo } from '../support/demo.ts'

const demo = await openDemo()

test('a broadcast is prepared for a saved view, counted, started and followed to its results', async () => {
  const workspace = `/workspaces/${demo.workspaceId}`
  const name = 'Everybody new'
  await demo.team('POST', `${workspace}/saved-filters`, { page: 'leads', name, query: 'status=new', shared: true })
  const { page } = await demo.open('broadcasts')
  await page.getByRole('button', { name: 'New broadcast' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('Order news')
  await page.getByRole('combobox', { name: 'Saved view of leads' }).click()
  await page.getByRole('option', { name }).click()
  await page.getByRole('button', { name: 'Count audience' }).click()
  await page.getByText('Enter a name, choose a template and fill in its values.').first().waitFor()
  await page.getByRole('combobox', { name: 'Template' }).click()
  await page.getByRole('option', { name: /^new catalog/ }).click()
  await page.getByRole('textbox', { name: 'Address of the file' }).fill('http://shop.example/a.jpg')
  await page.getByRole('button', { name: 'Count audience' }).click()
  await page.getByText('Enter an https address from which WhatsApp can load the file.').waitFor()
  await page.getByRole('textbox', { name: 'Address of the file' }).fill('https://shop.example/a.jpg')
  await assertAccessible(page)
  await page.getByRole('combobox', { name: 'Template' }).click()
  await page.getByRole('option', { name: /^order update \(English/ }).click()
  const values = page.getByRole('textbox', { name: /: text$/ })
  for (let n = 0; n < (await values.count()); n++) await values.nth(n).fill('A-17')
  await page.getByRole('textbox', { name: /: if empty$/ }).fill('there')
  await page.getByRole('list', { name: '3. Preview' }).getByRole('listitem').first().waitFor()
  await assertAccessible(page)
  await page.setViewportSize(phone)
  const width = await page.evaluate('document.documentElement.scrollWidth')
  assert.ok((width as number) <= phone.width, `${width} wide`)
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.getByRole('button', { name: 'Count audience' }).click()
  await page.getByText('Get it', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Start broadcast' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Start broadcast' }).click()
  await page.getByText('Sent', { exact: true }).first().waitFor()
  await page.getByRole('table', { name: 'Recipients' }).getByRole('row').nth(1).waitFor()
  await assertAccessible(page)
})
