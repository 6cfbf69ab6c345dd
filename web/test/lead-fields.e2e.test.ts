import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { pickItem, pickOption } from './support/actions.ts'
import { until } from './support/composing.ts'
import { openDemo } from './support/demo.ts'
import { newCustomer } from './support/inbox.ts'

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

test('an admin defines, orders and archives fields by keys alone, and pages that are open follow', async () => {
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
  await pickOption(panel.getByRole('combobox', { name: 'Type' }), { name: 'One choice' })
  await panel.getByLabel('Choices', { exact: true }).fill('Recife\nNatal\n')
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
  await assertAccessible(page)
  await archived.getByRole('button', { name: 'Bring back Cidade' }).click()
  await archived.waitFor({ state: 'detached' })
  await demo.team('POST', fieldsPath, { key: 'site', label: 'Site', type: 'url' })
  await list.getByRole('button', { name: /^Site/ }).waitFor()
})

test('the panel edits each field by its type, marks what does not fit, and defines what nobody has', async () => {
  const lead = await byKey('DEMO-001')
  await write(lead.id, { budget: '1500.50', cidade: 'Olinda', k_loja: 'Centro' })
  const { page } = await demo.open(`leads?lead=${lead.id}`)
  const panel = openPanel(page)
  const budget = panel.getByLabel('Budget', { exact: true })
  await budget.waitFor()
  assert.equal(await budget.inputValue(), '1,500.50', 'as people read it')
  await budget.focus()
  assert.equal(await budget.inputValue(), '1500.5', 'as it is typed')
  await budget.press('Escape')
  await budget.fill('a lot')
  await budget.press('Enter')
  await panel.getByText('Write an amount').waitFor()
  await budget.press('Escape')
  await panel.getByText('Write an amount').waitFor({ state: 'detached' })
  await panel.getByText('Does not fit the type: One choice').waitFor()
  await budget.fill('2.500,75')
  await panel.getByText('Read as 2,500.75').waitFor()
  await budget.press('Enter')
  await until(() => byKey(lead.id), { customFieldValues: { budget: '2500.75' } })
  // It is read as a text, and is a day once somebody is in it.
  await panel.getByLabel('Visit on', { exact: true }).focus()
  await panel.getByLabel('Visit on', { exact: true }).fill('2026-12-24')
  await panel.getByLabel('Visit on', { exact: true }).press('Enter')
  await until(() => byKey(lead.id), { customFieldValues: { visit_on: '2026-12-24' } })
  await panel.getByLabel('Site', { exact: true }).fill('example.com/shop')
  await panel.getByLabel('Site', { exact: true }).press('Enter')
  await panel.getByRole('link', { name: 'Open Site' }).waitFor()
  assert.equal(await panel.getByRole('link', { name: 'Open Site' }).getAttribute('href'), 'https://example.com/shop')
  await pickOption(panel.getByRole('combobox', { name: 'Cidade' }), { name: 'Recife' })
  await until(() => byKey(lead.id), { customFieldValues: { cidade: 'Recife' } })
  await panel.getByText('Does not fit the type').waitFor({ state: 'detached' })
  await panel.getByLabel('Site', { exact: true }).scrollIntoViewIfNeeded()
  await assertAccessible(page)
  await panel.getByRole('button', { name: 'Define Loja as a field' }).click()
  const definition = page.getByRole('dialog', { name: 'New field' })
  assert.equal(await definition.getByLabel('Key', { exact: true }).inputValue(), 'k_loja')
  await definition.getByRole('button', { name: 'Save' }).click()
  await definition.waitFor({ state: 'detached' })
  await panel.getByRole('button', { name: 'Define Loja as a field' }).waitFor({ state: 'detached' })
  assert.equal(await panel.getByLabel('Loja', { exact: true }).inputValue(), 'Centro')
})

test('the panel shows no custom field before it knows of what type it is', async () => {
  const lead = await byKey('DEMO-001')
  const { page } = await demo.open()
  const [asked, known] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await page.route(/\/lead-fields(\?|$)/, async (route) => {
    asked.resolve()
    await known.promise
    await route.continue()
  })
  await page.goto(`${demo.url}/w/${demo.workspaceId}/leads?lead=${lead.id}`)
  const panel = openPanel(page)
  await panel.getByLabel('First name', { exact: true }).waitFor()
  await asked.promise
  await panel.getByRole('region', { name: 'Timeline' }).waitFor()
  assert.equal(await panel.getByLabel('Budget', { exact: true }).count(), 0)
  known.resolve()
  await panel.getByLabel('Budget', { exact: true }).waitFor()
  assert.equal(await panel.getByLabel('Budget', { exact: true }).inputValue(), '2,500.75')
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
  await pickOption(panel.getByRole('combobox', { name: 'Cidade' }), { name: 'Natal' })
  await panel.getByRole('button', { name: 'Create' }).click()
  await panel.waitFor({ state: 'detached' })
  const made = await demo.team('GET', `/workspaces/${demo.workspaceId}/leads?search=Sexta`)
  assert.deepEqual(made.leads[0].customFieldValues, { cidade: 'Natal', budget: '1000' })
})

test('a form is given a defined field with its choices', async () => {
  const { forms } = await demo.team('GET', `/workspaces/${demo.workspaceId}/forms`)
  const { page } = await demo.open(`forms/${forms[0].id}`)
  await pickItem(page.getByRole('button', { name: 'Add a field' }), { name: 'Cidade' })
  assert.equal(await page.getByLabel('Options', { exact: true }).inputValue(), 'Recife\nNatal')
})

test('cells of custom fields are changed in their place by their types, with keys alone', async () => {
  const { lead } = await demo.team('POST', `/workspaces/${demo.workspaceId}/leads`, {
    firstName: 'Célula',
    customFieldValues: { cidade: 'Recife', budget: '1500.5' },
  })
  const make = (key: string, label: string, type: string, choices: string[] = []) =>
    demo.team('POST', fieldsPath, { key, label, type, choices, shownIn: ['panel', 'table'] })
  await make('tastes', 'Tastes', 'multiselect', ['Sweet', 'Sour', 'Salty'])
  await make('signed', 'Signed', 'boolean')
  await make('rooms', 'Rooms', 'number')
  await make('mail', 'Second mail', 'email')
  const columns = 'name,field:budget,field:visit_on,field:cidade,field:tastes,field:signed,field:rooms,field:mail'
  const { page } = await demo.open(`leads?q=c%C3%A9lula&cols=${columns}`)
  const kept = (values: object) =>
    until(
      () => byKey(lead.id),
      (now) => Object.entries(values).every(([key, value]) => now.customFieldValues[key] === value),
    )
  const edited = (label: string) => page.getByLabel(`${label} of Célula`, { exact: true })
  await page.getByRole('gridcell', { name: '1,500.50' }).click()
  await page.keyboard.press('F2')
  await edited('Budget').fill('9.999')
  await page.keyboard.press('Escape')
  await edited('Budget').waitFor({ state: 'detached' })
  await page.keyboard.press('Enter')
  assert.equal(await edited('Budget').inputValue(), '1500.5')
  await edited('Budget').fill('R$ 2.750,25')
  await page.getByRole('status').filter({ hasText: 'Read as 2,750.25' }).waitFor()
  await page.keyboard.press('Tab')
  await page.getByRole('gridcell', { name: '2,750.25' }).waitFor()
  await page.keyboard.press('F2')
  await edited('Visit on').fill('2027-01-31')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await edited('Cidade').selectOption('Natal')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  for (const choice of ['Salty', 'Sweet']) {
    await page.getByRole('combobox', { name: 'Tastes of Célula' }).fill(choice)
    await page.keyboard.press('Enter')
  }
  await page.keyboard.press('Tab')
  await page.getByRole('gridcell', { name: 'Sweet, Salty' }).waitFor()
  await page.keyboard.press('Enter')
  await edited('Signed').selectOption('Yes')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await edited('Rooms').fill('-1.234,5')
  await page.keyboard.press('Enter')
  await kept({ budget: '2750.25', visit_on: '2027-01-31', cidade: 'Natal', tastes: 'Sweet, Salty', signed: true })
  await kept({ rooms: '-1234.5' })
})

const isOn = (page: Page, label: string) =>
  page.evaluate(`document.activeElement.getAttribute('aria-label') === '${label}'`)

test('custom fields stand beside a conversation by their types, and are changed where they stand', async () => {
  await demo.team('PATCH', at, { currency: 'BRL' })
  const rosa = await newCustomer(demo, 'Rosa Paz', '5511955507001')
  await demo.team('POST', fieldsPath, { key: 'inside', label: 'Inside', type: 'text', shownIn: ['table'] })
  await demo.team('POST', fieldsPath, { key: 'days', label: 'Days', type: 'multiselect', choices: ['Mon', 'Tue'] })
  const { lead } = await demo.team('POST', `${at}/leads`, {
    ...{ firstName: 'Rosa', lastName: 'Paz', phone: '5511955507001', source: 'event' },
    customFieldValues: {
      budget: '1500.5',
      visit_on: '2026-12-24',
      cidade: 'Natal',
      site: 'https://example.com/shop',
      inside: 'x',
      k_shop: '0042',
    },
  })
  const values = async () => (await demo.team('GET', `${at}/leads/${lead.id}`)).lead.customFieldValues
  const becomes = (key: string, value: unknown) => until(values, (now) => now[key] === value)
  await rosa.says('Good morning')
  const { page } = await demo.open('inbox')
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
  await assertAccessible(page)

  // What is refused and taken back is as in the panel.
  await field('Budget').focus()
  assert.equal(await field('Budget').inputValue(), '1500.5')
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
  for (let steps = 0; steps < 30 && !(await isOn(page, 'Visit on')); steps++) await page.keyboard.press('Shift+Tab')
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
  await pickOption(card.getByRole('combobox', { name: 'Interested in' }), { name: 'Annual plan' })
  await becomes('interest', 'Annual plan')
  await pickOption(card.getByRole('combobox', { name: 'Days' }), { name: 'Tue' })
  await becomes('days', 'Tue')
  await field('Shop').fill('')
  await field('Shop').press('Enter')
  await field('Shop').waitFor({ state: 'detached' })
  assert.equal((await values()).inside, 'x')
})
