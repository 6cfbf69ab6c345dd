import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { pickOption } from './support/actions.ts'
import { waitUntil } from './support/composing.ts'
import { openDemo } from './support/demo.ts'

const demo = await openDemo()
const at = `/workspaces/${demo.workspaceId}`
const fieldsPath = `${at}/lead-fields`
const byKey = async (ref: string) => {
  const headers = { authorization: `Bearer ${demo.apiKey}` }
  return (await demo.call('GET', `/api/v1/leads/${ref}`, undefined, headers)).body.data
}
const write = (ref: string, customFieldValues: object) =>
  demo.call('PATCH', `/api/v1/leads/${ref}`, { customFieldValues }, { authorization: `Bearer ${demo.apiKey}` })
const labels = async (): Promise<string[]> =>
  (await demo.team('GET', fieldsPath)).fields.map(({ label }: { label: string }) => label)
const openPanel = (page: Page) => page.getByRole('complementary', { name: /^Lead / })

test('an admin defines, orders and archives fields by keyboard, and open pages update', async () => {
  const { page } = await demo.open('settings/fields')
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
  await pickOption(panel.getByRole('combobox', { name: 'Type' }), { name: 'Single choice' })
  await panel.getByLabel('Options', { exact: true }).fill('Recife\nNatal\n')
  await panel.getByRole('button', { name: 'Save' }).click()
  await panel.waitFor({ state: 'detached' })
  await list.getByRole('button', { name: /^Cidade/ }).focus()
  await page.keyboard.press('Alt+ArrowUp')
  await page.getByText('Cidade moved to position 3').waitFor({ state: 'attached' })
  await waitUntil(labels, (all) => all.indexOf('Cidade') === 2)
  await list.getByRole('button', { name: 'Move Cidade up' }).click()
  await waitUntil(labels, (all) => all.indexOf('Cidade') === 1)
  await list.getByRole('button', { name: /^Cidade/ }).click()
  await page.getByRole('dialog', { name: 'Edit Cidade' }).getByRole('button', { name: 'Archive' }).click()
  const archived = page.getByRole('list', { name: 'Archived' })
  await archived.getByText('Cidade').waitFor()
  await assertAccessible(page)
  await archived.getByRole('button', { name: 'Restore Cidade' }).click()
  await archived.waitFor({ state: 'detached' })
  await demo.team('POST', fieldsPath, { key: 'site', label: 'Site', type: 'url' })
  await list.getByRole('button', { name: /^Site/ }).waitFor()
})

test('the panel edits fields by type, marks invalid values, and defines undefined fields', async () => {
  const lead = await byKey('DEMO-001')
  await write(lead.id, { budget: '1500.50', cidade: 'Olinda', k_loja: 'Centro' })
  const { page } = await demo.open(`leads?lead=${lead.id}`)
  const panel = openPanel(page)
  const budget = panel.getByLabel('Budget', { exact: true })
  await budget.waitFor()
  assert.equal(await budget.inputValue(), '1,500.50', 'as people read it')
  await budget.focus()
  assert.equal(await budget.inputValue(), '1500.5', 'as it is typed')
  await budget.fill('a lot')
  await budget.press('Enter')
  await panel.getByText('Enter an amount').waitFor()
  await budget.press('Escape')
  await panel.getByText('Enter an amount').waitFor({ state: 'detached' })
  await budget.fill('2.500,75')
  await panel.getByText('Will be saved as 2,500.75').waitFor()
  await budget.press('Enter')
  await waitUntil(() => byKey(lead.id), { customFieldValues: { budget: '2500.75' } })
  await panel.getByText('Doesn’t match the type: Single choice').waitFor()
  await pickOption(panel.getByRole('combobox', { name: 'Cidade' }), { name: 'Recife' })
  await waitUntil(() => byKey(lead.id), { customFieldValues: { cidade: 'Recife' } })
  await panel.getByText('Doesn’t match the type').waitFor({ state: 'detached' })
  await assertAccessible(page)
  await panel.getByRole('button', { name: 'Define Loja as a field' }).click()
  const definition = page.getByRole('dialog', { name: 'New field' })
  assert.equal(await definition.getByLabel('Key', { exact: true }).inputValue(), 'k_loja')
  await definition.getByRole('button', { name: 'Save' }).click()
  await definition.waitFor({ state: 'detached' })
  await panel.getByRole('button', { name: 'Define Loja as a field' }).waitFor({ state: 'detached' })
})
