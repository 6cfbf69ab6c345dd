import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { until } from './support/composing.ts'
import { openDemo, picture } from './support/demo.ts'

const demo = await openDemo()
const workspace = `/workspaces/${demo.workspaceId}`
/** The focus comes there by itself. */
const hasFocus = (one: Locator) =>
  until(
    () => one.evaluate((element) => element === element.ownerDocument.activeElement),
    (isSo) => isSo,
  )
const button = (page: Page | Locator, name: string) => page.getByRole('button', { name, exact: true })
const begin = async (page: Page, typed: string) => {
  await page.keyboard.press('f')
  await page.getByRole('combobox', { name: 'Filter by' }).fill(typed)
  await page.keyboard.press('Enter')
}

test('a condition that was changed gives the focus back to its chip, however it was opened', async () => {
  const { page, problems } = await demo.open('leads?where=email.empty;estimatedValue.from.10')
  const chip = (name: string) => button(page, name)
  await chip('E-mail is empty').click()
  const how = page.getByRole('combobox', { name: 'E-mail' })
  await hasFocus(how)
  await how.selectOption('is not empty')
  await page.keyboard.press('Escape')
  await hasFocus(chip('E-mail is not empty'))
  // For a moment it is no condition of the address, and its chip stands elsewhere.
  await page.keyboard.press('Enter')
  await how.selectOption('contains')
  await page.getByRole('textbox', { name: 'Value' }).fill('@')
  await chip('E-mail contains “@”').waitFor()
  await page.keyboard.press('Escape')
  await hasFocus(chip('E-mail contains “@”'))
  await begin(page, 'phone')
  await page.getByRole('combobox', { name: 'Phone' }).selectOption('is empty')
  await page.keyboard.press('Escape')
  await hasFocus(chip('Phone is empty'))
  assert.deepEqual(problems, [])
})

test('a chip that is gone leaves the focus to what stands in its place', async () => {
  const { page, problems } = await demo.open('leads?where=email.empty')
  await begin(page, 'phone')
  await hasFocus(page.getByRole('dialog', { name: 'Phone' }).getByRole('textbox', { name: 'Value' }))
  await page.keyboard.press('Escape')
  await hasFocus(button(page, 'Filter'))
  assert.deepEqual(problems, [])
})

test('a panel opens on its first field and gives the focus back to what opened it, as it is or has become', async () => {
  const { page, problems } = await demo.open('leads')
  const made = page.getByRole('dialog', { name: 'New lead' })
  const first = made.getByLabel('First name', { exact: true })
  await button(page, 'New lead').click()
  await hasFocus(first)
  await page.keyboard.press('Escape')
  await made.waitFor({ state: 'detached' })
  await hasFocus(button(page, 'New lead'))
  await page.locator('[data-row="0"]').getByRole('button').first().waitFor()
  await page.getByRole('grid').focus()
  await page.keyboard.press('c')
  await hasFocus(first)
  await page.keyboard.press('Escape')
  await hasFocus(page.getByRole('grid'))
  await page.keyboard.press('?')
  const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await sheet.waitFor()
  // Nothing to type into: what a key would press has no focus.
  await page.keyboard.press(' ')
  await sheet.waitFor()
  await page.keyboard.press('Escape')
  await sheet.waitFor({ state: 'detached' })
  await hasFocus(page.getByRole('grid'))
  await demo.team('POST', `${workspace}/labels`, { name: 'Aardvark', color: 'red' })
  await page.goto(`${demo.url}/w/${demo.workspaceId}/settings/labels`)
  await button(page, 'Aardvark').click()
  const name = page.getByRole('dialog').getByLabel('Name', { exact: true })
  await hasFocus(name)
  await name.fill('Aardwolf')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await hasFocus(button(page, 'Aardwolf'))
  assert.deepEqual(problems, [])
})

test('what destroys opens on Cancel, or on the word to type, and Escape closes it alone', async () => {
  const { page, problems } = await demo.open('keys')
  await button(page, 'Demo key').click()
  const panel = page.getByRole('dialog', { name: 'Demo key' })
  const rotate = panel.getByRole('button', { name: 'Rotate' })
  await rotate.click()
  const ask = page.getByRole('dialog', { name: 'Rotate the key?' })
  await hasFocus(button(ask, 'Cancel'))
  await picture(page, 'focus-cancel')
  await page.keyboard.press('Escape')
  await ask.waitFor({ state: 'detached' })
  await hasFocus(rotate)
  const revoke = panel.getByRole('button', { name: 'Revoke' })
  await revoke.click()
  await hasFocus(page.getByLabel('Type Demo key to confirm'))
  await page.keyboard.press('Escape')
  await hasFocus(revoke)
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })
  await hasFocus(button(page, 'Demo key'))
  assert.deepEqual(problems, [])
})

test('what was asked from a menu gives the focus to the button of the menu, and what deleted a row to the next', async () => {
  const { forms } = await demo.team('GET', `${workspace}/forms`)
  const { page, problems } = await demo.open(`forms/${forms[0].id}`)
  await button(page, 'More').click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await hasFocus(page.getByRole('dialog').getByRole('textbox'))
  await page.keyboard.press('Escape')
  await hasFocus(button(page, 'More'))
  for (const name of ['Zebra one', 'Zebra two']) await demo.team('POST', `${workspace}/labels`, { name, color: 'red' })
  await page.goto(`${demo.url}/w/${demo.workspaceId}/settings/labels`)
  await button(page, 'Zebra one').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  const ask = page.getByRole('dialog', { name: 'Delete the label Zebra one?' })
  await ask.getByRole('textbox').fill('Zebra one')
  await page.keyboard.press('Enter')
  await button(page, 'Zebra one').waitFor({ state: 'detached' })
  await hasFocus(button(page, 'Zebra two'))
  assert.deepEqual(problems, [])
})

test('what goes a moment after it was given the focus leaves it to what stands in its place', async () => {
  for (const name of ['Yak one', 'Yak two']) await demo.team('POST', `${workspace}/labels`, { name, color: 'red' })
  const { page, problems } = await demo.open('settings/labels')
  await button(page, 'Yak one').click()
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await hasFocus(button(page, 'Yak one'))
  // As a list does that is drawn anew late, which depends on how busy the page is.
  await page.getByRole('row', { name: /^Yak one/ }).evaluate((row) => row.remove())
  await hasFocus(button(page, 'Yak two'))
  assert.deepEqual(problems, [])
})
