import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { until } from './support/composing.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()
const leads = `/workspaces/${demo.workspaceId}/leads`
const labels = `/workspaces/${demo.workspaceId}/labels`
const rowOf = (page: Page, name: string) => page.getByRole('row', { name })
const panelOf = (page: Page, name: string) => page.getByRole('complementary', { name: `Lead ${name}` })
const shows = (page: Page, text: string) => page.getByRole('status').getByText(text, { exact: true }).waitFor()
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** A lead of the test's own, and what it has. */
async function newLead(firstName: string) {
  const { lead } = await demo.team('POST', leads, { firstName, status: 'proposal', source: 'event' })
  const has = async (): Promise<string[]> => (await demo.team('GET', `${leads}/${lead.id}`)).lead.labelIds
  return { id: lead.id as string, has }
}

const idOf = async (name: string): Promise<string | undefined> =>
  (await demo.team('GET', labels)).labels.find((one: { name: string }) => one.name === name)?.id

test('a lead is labelled in its panel, by typing, also with a label that is made for it, and the table and the board show it', async () => {
  const { has } = await newLead('Zulmira')
  const { page } = await demo.open('leads?q=zulmira')
  await page.getByRole('button', { name: 'Zulmira' }).click()
  const panel = panelOf(page, 'Zulmira')
  await panel.getByRole('button', { name: 'Labels' }).click()
  await page.getByPlaceholder('Search labels').waitFor()
  await page.keyboard.type('Gold')
  await page.keyboard.press('Enter')
  await panel.getByText('Gold', { exact: true }).waitFor()
  await page.keyboard.type('Silver')
  await page.keyboard.press('Enter')
  await panel.getByText('Silver', { exact: true }).waitFor()
  const both = [await idOf('Gold'), await idOf('Silver')].map(String)
  await until(has, (found) => both.every((id) => found.includes(id)))
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
  // What tells of another change keeps the labels.
  await demo.team('PATCH', `${leads}/${(await demo.team('GET', `${leads}?search=zulmira`)).leads[0].id}`, {
    lastName: 'Prado',
  })
  await rowOf(page, 'Zulmira Prado').getByText('Gold').waitFor()
  await page.keyboard.press('b')
  await page
    .getByRole('button', { name: /Zulmira Prado/ })
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
  await search.waitFor({ state: 'detached' })
  await cell.getByText('Gold', { exact: true }).waitFor({ state: 'detached' })
  assert.deepEqual(await has(), [])
  // The keys are the table's again a moment after what dropped is gone.
  await page.locator('[role=grid]:focus').waitFor()
  await page.keyboard.press('Enter')
  await search.waitFor()
  await page.keyboard.type('Bronze')
  await page.keyboard.press('Enter')
  await cell.getByText('Bronze', { exact: true }).waitFor()
  await page.keyboard.type('Gold')
  await page.keyboard.press('Enter')
  await cell.getByText('Gold', { exact: true }).waitFor()
  await page.keyboard.press('Tab')
  await search.waitFor({ state: 'detached' })
  const both = [await idOf('Bronze'), await idOf('Gold')].map(String)
  await until(has, (found) => found.length === 2 && both.every((id) => found.includes(id)))
  assert.equal(await grid.evaluate((element) => element.ownerDocument.activeElement === element), true)
  await button(page, 'Undo').click()
  await cell.getByText('Gold', { exact: true }).waitFor({ state: 'detached' })
  await until(has, { length: 0 })
  await cell.dblclick()
  await search.waitFor()
  await page.getByRole('option', { name: 'Bronze' }).click()
  await page.getByRole('searchbox', { name: 'Search leads' }).click()
  await until(has, { length: 1 })
})

test('leads are found by a label and without it, and another page hears of a label at once', async () => {
  const gold = String(await idOf('Gold'))
  const { id } = await newLead('Yolanda')
  const { page } = await demo.open('leads?source=event&status=proposal')
  await rowOf(page, 'Yolanda').waitFor()
  const addFilter = async () => {
    await page.keyboard.press('f')
    await page.getByRole('combobox', { name: 'Filter by' }).fill('label')
    await page.keyboard.press('Enter')
  }
  await addFilter()
  await page.getByRole('checkbox', { name: 'Gold' }).check()
  await page.keyboard.press('Escape')
  await button(page, 'Label is Gold').waitFor()
  await rowOf(page, 'Yolanda').waitFor({ state: 'detached' })
  await shows(page, '1 lead')
  await demo.team('PUT', `${leads}/${id}/labels`, { labelIds: [gold] })
  await rowOf(page, 'Yolanda').waitFor()
  await button(page, 'Remove: Label is Gold').click()
  await button(page, 'Label is Gold').waitFor({ state: 'detached' })
  await addFilter()
  await page.getByRole('combobox', { name: 'Label' }).selectOption('is not')
  await page.getByRole('checkbox', { name: 'Gold' }).check()
  await assertAccessible(page)
  await page.keyboard.press('Escape')
  await button(page, 'Label is not Gold').waitFor()
  await rowOf(page, 'Yolanda').waitFor({ state: 'detached' })
  await page.waitForURL(new RegExp(`withoutLabels=${gold}`))
  await addFilter()
  await page.getByRole('dialog', { name: 'Label' }).getByRole('combobox').selectOption('is not empty')
  await page.keyboard.press('Escape')
  await button(page, 'Label is not empty').waitFor()
  await button(page, 'All apply').click()
  await rowOf(page, 'Yolanda').waitFor()
  await button(page, 'Any applies').waitFor()
  assert.match(decodeURIComponent(page.url()), new RegExp(`labels.isNot.${gold};labels.notEmpty&match=any`))
})

test('several leads get a label and lose it at once, with their number, and it is undone', async () => {
  const made = [await newLead('Xavier'), await newLead('Xenia')]
  const { page } = await demo.open('leads?source=event&status=proposal')
  for (const name of ['Xavier', 'Xenia']) await page.getByRole('checkbox', { name: `Select ${name}` }).check()
  await button(page, 'Add label').click()
  await page.getByPlaceholder('Search labels').waitFor()
  await page.keyboard.type('Silver')
  await page.keyboard.press('Enter')
  const ask = page.getByRole('dialog', { name: 'Change 2 leads?' })
  await ask.getByText('Add label: Silver').waitFor()
  await ask.getByRole('button', { name: 'Change 2 leads' }).click()
  await page.getByText('2 leads changed.').waitFor()
  const silver = String(await idOf('Silver'))
  for (const { has } of made) await until(has, (found) => found.includes(silver))
  await button(page, 'Undo').first().click()
  await page.getByText('Undone for 2 leads.').waitFor()
  for (const { has } of made) await until(has, { length: 0 })
})
