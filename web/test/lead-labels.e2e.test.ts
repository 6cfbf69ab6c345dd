import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { until } from './support/composing.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()
const leads = `/workspaces/${demo.workspaceId}/leads`
const rowOf = (page: Page, name: string) => page.getByRole('row', { name })
const panelOf = (page: Page, name: string) => page.getByRole('complementary', { name: `Lead ${name}` })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** A lead of the test's own, and what it has. */
async function newLead(firstName: string) {
  const { lead } = await demo.team('POST', leads, { firstName, status: 'proposal', source: 'event' })
  const has = async (): Promise<string[]> => (await demo.team('GET', `${leads}/${lead.id}`)).lead.labelIds
  return { id: lead.id as string, has }
}

test('a lead is labelled in its panel, by typing, also with a label that is made for it, and the table and the board show it', async () => {
  const { has } = await newLead('Zulmira')
  const { page } = await demo.open('leads?q=zulmira')
  await page.getByRole('button', { name: 'Zulmira' }).click()
  const panel = panelOf(page, 'Zulmira')
  await panel.getByRole('button', { name: 'Labels' }).click()
  await page.getByPlaceholder('Search labels').waitFor()
  for (const name of ['Gold', 'Silver']) {
    await page.keyboard.type(name)
    await page.keyboard.press('Enter')
    await panel.getByText(name, { exact: true }).waitFor()
  }
  await until(has, { length: 2 })
  await page.keyboard.type('Silver')
  await page.keyboard.press('Enter')
  await panel.getByText('Silver', { exact: true }).waitFor({ state: 'detached' })
  await until(has, { length: 1 })
  await page.keyboard.press('Escape')
  await assertAccessible(page)
  await panel.getByRole('button', { name: 'Close' }).click()
  await button(page, 'Columns').click()
  await page.getByRole('checkbox', { name: 'Labels' }).check()
  await page.keyboard.press('Escape')
  await rowOf(page, 'Zulmira').getByText('Gold').waitFor()
  await page.keyboard.press('b')
  await page
    .getByRole('button', { name: /Zulmira/ })
    .getByRole('img', { name: 'Gold' })
    .waitFor()
})

test('labels are chosen in their cell by keys alone: leaving it keeps them, Escape does not, and it is undone', async () => {
  const { has } = await newLead('Wanda')
  const { page } = await demo.open('leads?q=wanda&cols=name,status,labels')
  const [grid, search] = [page.getByRole('grid'), page.getByPlaceholder('Search labels')]
  const cell = rowOf(page, 'Wanda').locator('[data-column="labels"]')
  await rowOf(page, 'Wanda').waitFor()
  await grid.focus()
  for (const key of ['Home', 'ArrowRight', 'ArrowRight', 'Enter']) await page.keyboard.press(key)
  await search.waitFor()
  await page.keyboard.type('Gold')
  await page.keyboard.press('Enter')
  await cell.getByText('Gold', { exact: true }).waitFor()
  await assertAccessible(page)
  await page.keyboard.press('Escape')
  await cell.getByText('Gold', { exact: true }).waitFor({ state: 'detached' })
  assert.deepEqual(await has(), [])
  // The keys are the table's again a moment after what dropped is gone.
  await page.locator('[role=grid]:focus').waitFor()
  await page.keyboard.press('Enter')
  await search.waitFor()
  await page.keyboard.type('Bronze')
  await page.keyboard.press('Enter')
  await cell.getByText('Bronze', { exact: true }).waitFor()
  await page.keyboard.press('Tab')
  await search.waitFor({ state: 'detached' })
  await until(has, { length: 1 })
  await page.locator('[role=grid]:focus').waitFor()
  await button(page, 'Undo').click()
  await cell.getByText('Bronze', { exact: true }).waitFor({ state: 'detached' })
  await until(has, { length: 0 })
})
