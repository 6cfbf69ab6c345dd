import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from './support/composing.ts'
import { openDemo, picture, seriousIssues } from './support/demo.ts'
import { newCustomer } from './support/inbox.ts'

const demo = await openDemo()
const workspace = `/workspaces/${demo.workspaceId}`
const fields = `${workspace}/lead-fields`

const isOn = (page: Page, label: string) =>
  page.evaluate(`document.activeElement.getAttribute('aria-label') === '${label}'`)

test('custom fields stand beside a conversation by their types, and are changed where they stand', async () => {
  await demo.team('PATCH', workspace, { currency: 'BRL' })
  const rosa = await newCustomer(demo, 'Rosa Paz', '5511955507001')
  await demo.team('POST', fields, { key: 'site', label: 'Site', type: 'url', shownIn: ['panel'] })
  await demo.team('POST', fields, { key: 'inside', label: 'Inside', type: 'text', shownIn: ['table'] })
  await demo.team('POST', fields, { key: 'days', label: 'Days', type: 'multiselect', choices: ['Mon', 'Tue'] })
  const { lead } = await demo.team('POST', `${workspace}/leads`, {
    ...{ firstName: 'Rosa', lastName: 'Paz', phone: '5511955507001', source: 'event' },
    customFieldValues: {
      budget: '1500.5',
      visit_on: '2026-12-24',
      site: 'https://example.com/shop',
      inside: 'x',
      k_shop: '0042',
    },
  })
  const values = async () => (await demo.team('GET', `${workspace}/leads/${lead.id}`)).lead.customFieldValues
  const becomes = (key: string, value: unknown) => until(values, (now) => now[key] === value)
  await rosa.says('Good morning')
  const { page, problems } = await demo.open('inbox')
  await page.getByRole('link', { name: /Rosa Paz/ }).click()
  const card = page.getByRole('region', { name: 'Custom fields' })
  const field = (name: string) => card.getByRole('textbox', { name, exact: true })
  await field('Budget').waitFor()
  assert.equal(await field('Budget').inputValue(), 'R$1,500.50')
  assert.equal(await field('Visit on').inputValue(), 'Dec 24, 2026')
  assert.equal(await field('Shop').inputValue(), '0042')
  assert.equal(await card.getByLabel('Inside').count(), 0)
  assert.equal(await card.getByRole('link', { name: 'Open Site' }).getAttribute('href'), 'https://example.com/shop')
  await field('Budget').scrollIntoViewIfNeeded()
  await picture(page, 'customer-fields')
  assert.deepEqual(await seriousIssues(page), [])

  await field('Budget').focus()
  assert.equal(await field('Budget').inputValue(), '1500.5')
  await field('Budget').fill('lots')
  await card.getByRole('alert').waitFor()
  await field('Budget').press('Escape')
  await card.getByRole('alert').waitFor({ state: 'detached' })
  assert.equal(await field('Budget').inputValue(), 'R$1,500.50')
  await field('Budget').fill('9')
  await field('Budget').press('Escape')
  await field('Budget').fill('2.750,25')
  await card.getByText('Read as R$2,750.25').waitFor()
  await field('Budget').press('Enter')
  await becomes('budget', '2750.25')
  await field('Visit on').focus()
  await card.getByLabel('Visit on').fill('2027-01-31')
  await page.keyboard.press('Enter')
  await becomes('visit_on', '2027-01-31')
  // By keys alone: what is typed is heard from the first one on, and so is Enter.
  await field('Shop').focus()
  await page.keyboard.press('Shift+Tab')
  for (let steps = 0; steps < 8 && !(await isOn(page, 'Visit on')); steps++) await page.keyboard.press('Shift+Tab')
  await page.keyboard.type('02152027')
  await page.keyboard.press('Enter')
  await becomes('visit_on', '2027-02-15')
  await field('Visit on').waitFor()
  assert.equal(await field('Visit on').inputValue(), 'Feb 15, 2027')
  await field('Visit on').focus()
  await page.keyboard.type('03162027')
  await page.keyboard.press('Escape')
  await field('Visit on').waitFor()
  assert.equal(await field('Visit on').inputValue(), 'Feb 15, 2027')
  await card.getByRole('combobox', { name: 'Interested in' }).click()
  await page.getByRole('option', { name: 'Annual plan' }).click()
  await becomes('interest', 'Annual plan')
  await card.getByRole('combobox', { name: 'Days' }).click()
  await page.getByRole('option', { name: 'Tue' }).click()
  await becomes('days', 'Tue')
  await field('Shop').fill('')
  await field('Shop').press('Enter')
  await field('Shop').waitFor({ state: 'detached' })
  assert.equal((await values()).inside, 'x')
  assert.deepEqual(problems, [])
})
