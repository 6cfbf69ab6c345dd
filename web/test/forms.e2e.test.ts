import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible } from './support/accessibility.ts'
import { sharedDemo } from './support/demo.ts'
import { downloadedLines } from './support/transfer.ts'

const demo = await sharedDemo()
const at = `/workspaces/${demo.workspaceId}`
const sizes = { key: 'company_size', label: 'Company size', type: 'select', required: false, options: ['1', '2 to 10'] }
const fields = [
  { key: 'firstName', label: 'Your name', type: 'text', required: true },
  sizes,
  { key: 'terms', label: 'I agree', type: 'boolean', required: false },
]
const { form } = await demo.team('POST', `${at}/forms`, { name: 'Visits', title: 'Book a visit', fields })

test('submissions of a form are shown as a table and downloaded as a file', async () => {
  const answers = { firstName: 'Marina', company_size: '2 to 10', terms: true }
  assert.equal((await demo.call('POST', `/f/${form.slug}`, answers)).status, 201)
  const { page } = await demo.open(`forms/${form.id}?view=submissions`)
  await page.getByRole('row', { name: /Marina .* Marina 2 to 10 Yes/ }).waitFor()
  await page.getByRole('columnheader', { name: 'Company size' }).waitFor()
  await assertAccessible(page)
  const lines = await downloadedLines(page, () => page.getByRole('button', { name: 'CSV' }).click())
  assert.equal(lines[0], '"Date","Lead ID","Lead","Your name","Company size","I agree"')
  assert.match(lines[1] ?? '', /"Marina","Marina","2 to 10","Yes"$/)
})

test('errors are shown at their fields, a removed field can be restored, and leaving unsaved changes asks first', async () => {
  const { page } = await demo.open('forms')
  await page.getByRole('button', { name: 'Visits' }).click()
  await page.getByRole('button', { name: 'Remove Company size' }).click()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('button', { name: 'Edit Company size' }).click()
  await page.getByLabel('Key', { exact: true }).fill('k_size')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Choose a name that doesn’t start with k_ or utm_.').waitFor()
  await page.getByLabel('Allowed sites').fill('example.com')
  await page.getByLabel('Key', { exact: true }).fill('size')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Enter a site, such as https://example.com, or * for any site.').waitFor()
  await page.getByRole('link', { name: 'Back: Forms' }).click()
  const ask = page.getByRole('dialog', { name: 'Leave without saving?' })
  await ask.getByRole('button', { name: 'Cancel' }).click()
  await page.getByLabel('Allowed sites').fill('https://example.com/')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved').waitFor()
  await page.getByRole('link', { name: 'Back: Forms' }).click()
  await page.getByRole('row', { name: /Visits Open/ }).waitFor()
})
