import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { sharedDemo } from './support/demo.ts'

const demo = await (await sharedDemo()).newWorkspace()
const workspace = `/workspaces/${demo.workspaceId}`
const leads = `${workspace}/leads`
await demo.team('POST', `${workspace}/lead-fields`, { key: 'budget', label: 'Budget', type: 'amount' })
const rowOf = (page: Page, name: string) => page.getByRole('row', { name })

/** Creates a lead for the test. */
async function newLead(firstName: string, fields: object = {}): Promise<string> {
  return (await demo.team('POST', leads, { firstName, source: 'event', ...fields })).lead.id
}

test('the workspace currency appears with every amount, displayed or edited', async () => {
  await newLead('Ursula', { estimatedValue: 1500.5, status: 'in_cash' })
  const { page } = await demo.open('leads?q=ursula')
  await rowOf(page, 'Ursula').getByText('1,500.50', { exact: true }).waitFor()
  const settings = (await demo.open('settings/workspace')).page
  await settings.getByRole('combobox', { name: 'Currency' }).fill('BRL')
  await settings.getByRole('option', { name: 'Brazilian Real (BRL)' }).click()
  await settings.getByRole('button', { name: 'Save' }).click()
  // An open page receives the change.
  await rowOf(page, 'Ursula').getByText('R$1,500.50', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Ursula' }).click()
  const value = page.getByRole('complementary', { name: 'Lead Ursula' }).getByLabel('Estimated value', { exact: true })
  await value.focus()
  assert.equal(await value.inputValue(), '1500.5')
  await value.fill('R$ 2.750,25')
  await page.getByText('Will be saved as R$2,750.25').waitFor()
  // The list shows the value before it is saved, and a new page would end the request.
  const saved = page.waitForResponse((response) => response.request().method() === 'PATCH' && response.ok())
  await value.press('Enter')
  await rowOf(page, 'Ursula').getByText('R$2,750.25', { exact: true }).waitFor()
  await saved
  await page.goto(`${demo.url}/w/${demo.workspaceId}/leads?view=board`)
  await page.getByTitle('R$2,750.25').getByText('R$2.8K').waitFor()
})
