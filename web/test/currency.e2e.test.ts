import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { until } from './support/composing.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await (await sharedDemo()).newWorkspace()
const workspace = `/workspaces/${demo.workspaceId}`
const leads = `${workspace}/leads`
await demo.team('POST', `${workspace}/lead-fields`, { key: 'budget', label: 'Budget', type: 'amount' })
const rowOf = (page: Page, name: string) => page.getByRole('row', { name })

/** A lead of the test's own. */
async function newLead(firstName: string, fields: object = {}): Promise<string> {
  return (await demo.team('POST', leads, { firstName, source: 'event', ...fields })).lead.id
}

test('a currency that an admin chooses stands with all amounts, where they are read and where they are typed', async () => {
  const id = await newLead('Ursula', { estimatedValue: 1500.5, status: 'in_cash' })
  await newLead('Ulrich', { estimatedValue: 36_700, status: 'in_cash' })
  const { page } = await demo.open('leads?q=ursula')
  await rowOf(page, 'Ursula').getByText('1,500.50', { exact: true }).waitFor()
  const settings = (await demo.open('settings/workspace')).page
  await settings.getByRole('combobox', { name: 'Currency' }).fill('BRL')
  await settings.getByRole('option', { name: 'Brazilian Real (BRL)' }).click()
  await assertAccessible(settings)
  await settings.getByRole('button', { name: 'Save' }).click()
  await settings.getByText('Saved', { exact: true }).waitFor()
  await until(() => demo.team('GET', workspace), { workspace: { currency: 'BRL' } })
  // A page that is open hears of it.
  await rowOf(page, 'Ursula').getByText('R$1,500.50', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Ursula' }).click()
  const value = page.getByRole('complementary', { name: 'Lead Ursula' }).getByLabel('Estimated value', { exact: true })
  await until(() => value.inputValue(), 'R$1,500.50')
  await value.focus()
  assert.equal(await value.inputValue(), '1500.5')
  await value.fill('R$ 2.750,25')
  await page.getByText('Read as R$2,750.25').waitFor()
  await value.press('Enter')
  await rowOf(page, 'Ursula').getByText('R$2,750.25', { exact: true }).waitFor()
  // The row shows it before it is kept.
  await until(() => demo.team('GET', `${leads}/${id}`), { lead: { estimatedValue: 2750.25 } })
  await page.goto(`${demo.url}/w/${demo.workspaceId}/leads/${id}`)
  await page.getByText('1,500.50 → R$2,750.25').waitFor()
  await demo.team('PATCH', `${leads}/${id}`, { customFieldValues: { budget: '900.5' } })
  await page.getByText('R$900.50').waitFor()
  await page.goto(`${demo.url}/w/${demo.workspaceId}/leads?view=board`)
  await page
    .getByRole('button', { name: /^Ursula/ })
    .getByText('R$2,750.25', { exact: true })
    .waitFor()
  await page.getByTitle('R$39,450.25').getByText('R$39.5K').waitFor()
})

test('amounts follow the language of the reader', async () => {
  await newLead('Ubirajara', { estimatedValue: 1500.5 })
  await demo.team('PATCH', workspace, { currency: 'EUR' })
  const { page } = await demo.open('leads?q=ubirajara', { language: 'es', isAlone: true })
  await rowOf(page, 'Ubirajara').getByText('1500,50 €', { exact: true }).waitFor()
})

test('a phone is read in groups, found by any run of its digits, and copied plain', async () => {
  await newLead('Ulisses', { phone: '5511955508642' })
  const { page, context } = await demo.open('leads?q=55508', { isAlone: true })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const shown = rowOf(page, 'Ulisses').getByText('+55 11 95550-8642', { exact: true })
  await shown.click()
  await page.keyboard.press('Control+c')
  const copied = () => page.evaluate<string>('navigator.clipboard.readText()')
  await until(copied, '+5511955508642')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('Control+c')
  await until(copied, 'New')
})
