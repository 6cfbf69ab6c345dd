import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from './support/composing.ts'
import { issuesInEachLook, openDemo, picture } from './support/demo.ts'

const demo = await openDemo()
const fieldsPath = `/workspaces/${demo.workspaceId}/lead-fields`
const byKey = async (ref: string) => {
  const headers = { authorization: `Bearer ${demo.apiKey}` }
  return (await demo.call('GET', `/api/v1/leads/${ref}`, undefined, headers)).body.data
}
const write = (ref: string, customFieldValues: object) =>
  demo.call('PATCH', `/api/v1/leads/${ref}`, { customFieldValues }, { authorization: `Bearer ${demo.apiKey}` })
const labels = async (): Promise<string[]> =>
  (await demo.team('GET', fieldsPath)).fields.map(({ label }: { label: string }) => label)
const openPanel = (page: Page) => page.getByRole('complementary', { name: /^Lead / })

test('an admin defines, orders and archives fields by keys alone, and pages that are open follow', async () => {
  const { page, problems } = await demo.open('settings/fields')
  const list = page.getByRole('list', { name: 'Lead fields' })
  await list.getByRole('button', { name: /^Interested in/ }).waitFor()
  await page.getByRole('button', { name: 'New field' }).click()
  const panel = page.getByRole('dialog', { name: 'New field' })
  await panel.getByLabel('Name', { exact: true }).fill('Interested in')
  await panel.getByRole('button', { name: 'Save' }).click()
  await panel
    .getByText(/already|taken|exists/i)
    .first()
    .waitFor()
  await panel.getByLabel('Name', { exact: true }).fill('Cidade')
  await panel.getByRole('combobox', { name: 'Type' }).click()
  await page.getByRole('option', { name: 'One choice' }).click()
  await panel.getByLabel('Choices', { exact: true }).fill('Recife\nNatal\n')
  await picture(page, 'fields-new')
  await panel.getByRole('button', { name: 'Save' }).click()
  await panel.waitFor({ state: 'detached' })
  await list.getByRole('button', { name: /^Cidade/ }).focus()
  await page.keyboard.press('Alt+ArrowUp')
  await page.getByText('Cidade is now number 3').waitFor({ state: 'attached' })
  await until(labels, (all) => all.indexOf('Cidade') === 2)
  await list.getByRole('button', { name: 'Move Cidade up' }).click()
  await until(labels, (all) => all.indexOf('Cidade') === 1)
  await list.getByRole('button', { name: /^Cidade/ }).click()
  await page.getByRole('dialog', { name: 'Change Cidade' }).getByRole('button', { name: 'Archive' }).click()
  const archived = page.getByRole('list', { name: 'Archived' })
  await archived.getByText('Cidade').waitFor()
  assert.deepEqual(await issuesInEachLook(page, 'fields-settings'), [])
  await archived.getByRole('button', { name: 'Bring back Cidade' }).click()
  await archived.waitFor({ state: 'detached' })
  await demo.team('POST', fieldsPath, { key: 'site', label: 'Site', type: 'url' })
  await list.getByRole('button', { name: /^Site/ }).waitFor()
  assert.deepEqual(problems, [])
})

test('the panel edits each field by its type, marks what does not fit, and defines what nobody has', async () => {
  const lead = await byKey('DEMO-001')
  await write(lead.id, { budget: '1500.50', cidade: 'Olinda', k_loja: 'Centro' })
  const { page } = await demo.open(`leads?lead=${lead.id}`)
  const panel = openPanel(page)
  const budget = panel.getByLabel('Budget', { exact: true })
  await budget.waitFor()
  assert.equal(await budget.inputValue(), '1500.5')
  await panel.getByText('Does not fit the type: One choice').waitFor()
  await budget.fill('2.500,75')
  await panel.getByText('Read as 2,500.75').waitFor()
  await budget.press('Enter')
  await until(
    () => byKey(lead.id),
    (now) => now.customFieldValues.budget === '2500.75',
  )
  await panel.getByLabel('Visit on', { exact: true }).fill('2026-12-24')
  await panel.getByLabel('Visit on', { exact: true }).press('Enter')
  await until(
    () => byKey(lead.id),
    (now) => now.customFieldValues.visit_on === '2026-12-24',
  )
  await panel.getByLabel('Site', { exact: true }).fill('example.com/shop')
  await panel.getByLabel('Site', { exact: true }).press('Enter')
  await panel.getByRole('link', { name: 'Open Site' }).waitFor()
  assert.equal(await panel.getByRole('link', { name: 'Open Site' }).getAttribute('href'), 'https://example.com/shop')
  await panel.getByRole('combobox', { name: 'Cidade' }).click()
  await page.getByRole('option', { name: 'Recife' }).click()
  await until(
    () => byKey(lead.id),
    (now) => now.customFieldValues.cidade === 'Recife',
  )
  await panel.getByText('Does not fit the type').waitFor({ state: 'detached' })
  await panel.getByLabel('Site', { exact: true }).scrollIntoViewIfNeeded()
  assert.deepEqual(await issuesInEachLook(page, 'fields-panel'), [])
  await panel.getByRole('button', { name: 'Define Loja as a field' }).click()
  const definition = page.getByRole('dialog', { name: 'New field' })
  assert.equal(await definition.getByLabel('Key', { exact: true }).inputValue(), 'k_loja')
  await definition.getByRole('button', { name: 'Save' }).click()
  await definition.waitFor({ state: 'detached' })
  await panel.getByRole('button', { name: 'Define Loja as a field' }).waitFor({ state: 'detached' })
  assert.equal(await panel.getByLabel('Loja', { exact: true }).inputValue(), 'Centro')
})

test('fields stand as columns in their own words, and others are chosen in the menu', async () => {
  const { page } = await demo.open('leads')
  await page.getByRole('columnheader', { name: 'Interested in' }).waitFor()
  assert.equal(await page.getByRole('columnheader', { name: 'Budget' }).count(), 0)
  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByRole('checkbox', { name: 'Budget' }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('columnheader', { name: 'Budget' }).waitFor()
  await page.getByRole('searchbox', { name: 'Search leads' }).fill('DEMO-001')
  await page.getByRole('gridcell', { name: '2,500.75' }).waitFor()
  await picture(page, 'fields-columns')
})

test('a lead made by hand is asked for what is required, and says what is missing', async () => {
  const { fields } = await demo.team('GET', fieldsPath)
  const { id } = fields.find(({ key }: { key: string }) => key === 'cidade')
  await demo.team('PATCH', `${fieldsPath}/${id}`, { required: true })
  const { page } = await demo.open('leads')
  await page.getByRole('columnheader', { name: 'Cidade' }).waitFor()
  await page.keyboard.press('c')
  const panel = page.getByRole('dialog', { name: 'New lead' })
  await panel.getByLabel('First name', { exact: true }).fill('Sexta')
  await panel.getByLabel('Budget', { exact: true }).fill('1.000')
  await panel.getByRole('button', { name: 'Create' }).click()
  await panel
    .getByText(/required|fill/i)
    .first()
    .waitFor()
  await picture(page, 'fields-new-lead')
  await panel.getByRole('combobox', { name: 'Cidade' }).click()
  await page.getByRole('option', { name: 'Natal' }).click()
  await panel.getByRole('button', { name: 'Create' }).click()
  await panel.waitFor({ state: 'detached' })
  const made = await demo.team('GET', `/workspaces/${demo.workspaceId}/leads?search=Sexta`)
  assert.deepEqual(made.leads[0].customFieldValues, { cidade: 'Natal', budget: '1000' })
})

test('a form is given a defined field with its choices', async () => {
  const { forms } = await demo.team('GET', `/workspaces/${demo.workspaceId}/forms`)
  const { page } = await demo.open(`forms/${forms[0].id}`)
  await page.getByRole('button', { name: 'Add a field' }).click()
  await page.getByRole('menuitem', { name: 'Cidade' }).click()
  assert.equal(await page.getByLabel('Options', { exact: true }).inputValue(), 'Recife\nNatal')
  await picture(page, 'fields-form')
})
