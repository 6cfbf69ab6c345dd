import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from '../support/accessibility.ts'
import { pickOption } from '../support/actions.ts'
import { waitUntil } from '../support/composing.ts'
import { sharedDemo } from '../support/demo.ts'
import { choose, counts, downloaded } from '../support/transfer.ts'

const demo = await sharedDemo()
const leads = `/workspaces/${demo.workspaceId}/leads`
const rowOf = (page: Page, name: string) => page.getByRole('row', { name })
const panelOf = (page: Page, name: string) => page.getByRole('complementary', { name: `Lead ${name}` })
const shows = (page: Page, text: string) => page.getByRole('status').getByText(text, { exact: true }).waitFor()

test('a lead is created by hand, with a hint about a possible duplicate, and found by search', async () => {
  const { page } = await demo.open('leads')
  const before = (await demo.team('GET', `${leads}?limit=1`)).total as number
  await shows(page, `${before} leads`)
  await page.keyboard.press('c')
  const panel = page.getByRole('dialog', { name: 'New lead' })
  await panel.getByLabel('First name').fill('Quinta')
  await panel.getByLabel('Last name').fill('Prova')
  await panel.getByLabel('Phone').fill('+55 (11) 95550-1101')
  await panel.getByRole('region', { name: 'Possible duplicate' }).getByText('Marina Azevedo').waitFor()
  await panel.getByLabel('Email').fill('nonsense')
  await panel.getByRole('button', { name: 'Create' }).click()
  await panel
    .getByText(/e-?mail/i)
    .nth(1)
    .waitFor()
  await panel.getByLabel('Email').fill('quinta@example.com')
  await panel.getByLabel('Phone').fill('+55 11 95550-7777')
  await panel.getByLabel('Estimated value').fill('1,250.50')
  await panel.getByRole('button', { name: 'Create' }).click()
  await panelOf(page, 'Quinta Prova').waitFor()
  await shows(page, `${before + 1} leads`)
  await page.keyboard.press('Escape')
  await panelOf(page, 'Quinta Prova').waitFor({ state: 'detached' })

  await page.keyboard.press('/')
  await page.keyboard.type('quinta')
  await shows(page, '1 lead')
  await rowOf(page, 'Quinta Prova').getByText('1,250.50').waitFor()
  await page.waitForURL(/q=quinta/)
  await page.getByRole('searchbox', { name: 'Search leads' }).fill('nobody has this name')
  await page.getByText('No leads match these filters.').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await shows(page, `${before + 1} leads`)
})

test('a cell is edited in place by keyboard, and shows the error of the server', async () => {
  const { lead } = await demo.team('POST', leads, { firstName: 'Sexta', lastName: 'Prova', phone: '+55 11 95550-7778' })
  const { page } = await demo.open('leads?q=sexta')
  await rowOf(page, 'Sexta Prova').waitFor()
  await page.getByRole('grid').focus()
  for (const key of ['ArrowRight', 'Enter']) await page.keyboard.press(key)
  await page.getByRole('combobox', { name: 'Status of Sexta Prova' }).selectOption('qualified')
  await page.keyboard.press('Tab')
  await rowOf(page, 'Sexta Prova').getByText('Qualified').waitFor()
  await page.keyboard.press('Enter')
  const field = page.getByRole('textbox', { name: 'Phone of Sexta Prova' })
  await field.fill('12')
  await page.keyboard.press('Enter')
  await page
    .getByRole('alert')
    .filter({ hasText: /country code/ })
    .waitFor()
  assert.equal(await field.inputValue(), '12', 'it can be mended')
  await page.keyboard.press('Escape')
  await rowOf(page, 'Sexta Prova').getByText('+55 11 95550-7778').waitFor()
  await page.keyboard.press('Enter')
  await field.fill('+55 11 95550-8888')
  await page.keyboard.press('Escape')
  await rowOf(page, 'Sexta Prova').getByText('+55 11 95550-7778').waitFor()
  await page.keyboard.press('Enter')
  await field.fill('+55 11 95550-8888')
  await page.keyboard.press('Enter')
  await rowOf(page, 'Sexta Prova').getByText('+55 11 95550-8888').waitFor()
  await waitUntil(async () => (await demo.team('GET', `${leads}/${lead.id}`)).lead, {
    status: 'qualified',
    phone: '5511955508888',
  })
})

test('a file with invalid rows is mapped, tested, and offers the rejected rows as a file', async () => {
  const { page } = await demo.open('leads/import')
  const rows = ['Ana Lima;+55 11 95551-2001;Santos;1200', 'Bruno;12;Recife;10', 'Caio;;Natal;x', 'Dora;;Natal;5']
  const bad = ['Nome;Telefone;Cidade;Valor', ...rows, ''].join('\n')
  await choose(page, 'feira.csv', bad)
  const mapping = page.getByRole('region', { name: 'Map columns' })
  await mapping.getByRole('row', { name: /Telefone/ }).waitFor()
  const fills = (column: string) => page.getByRole('combobox', { name: `Field for ${column}` })
  assert.equal(await fills('Telefone').inputValue(), 'Phone')
  assert.equal(await fills('Nome').inputValue(), 'First name or full name')
  assert.equal(await fills('Cidade').inputValue(), 'Cidade (custom field)')
  await pickOption(fills('Cidade'), { name: 'Notes' })
  await page.getByRole('button', { name: 'Test import' }).click()
  const report = page.getByRole('region', { name: 'This is what the import would do. Nothing has been saved yet.' })
  await report.getByText('Why rows were rejected').waitFor()
  assert.equal(await counts(page), 'Rows 4 Created 1 Updated 0 Unchanged 0 Rejected 3')
  assert.equal(await fills('Cidade').inputValue(), 'Notes', 'what was chosen for the try is still chosen')
  await report.getByText('Phone This row has no value in the field used to match leads.').first().waitFor()
  await report.getByText('Examples').click()
  await report.getByText('Row 3').first().waitFor()
  const refused = await downloaded(page, () => page.getByText('Download rejected rows', { exact: true }).click())
  assert.match(refused, /import_error/)
  assert.match(refused, /"Bruno";"12";"Recife";"10";/)
  assert.equal(refused.includes('Ana Lima'), false)
  await assertAccessible(page)
  const found = async () => (await demo.team('GET', `${leads}?search=Ana%20Lima`)).leads
  assert.deepEqual(await found(), [])

  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByRole('region', { name: 'Import finished' }).waitFor()
  assert.equal(await counts(page), 'Rows 4 Created 1 Updated 0 Unchanged 0 Rejected 3')
  const [ana] = await found()
  assert.deepEqual([ana.notes, ana.phone], ['Santos', '5511955512001'])
})

test('an export contains the leads that match the filters of the address', async () => {
  for (const [name, email] of [
    ['Exported One', 'one@export.example'],
    ['Exported Two', 'two@export.example'],
  ])
    await demo.team('POST', leads, { firstName: name, email, source: 'referral' })
  const { page } = await demo.open('leads/export?source=referral&search=Exported')
  await page.getByText('2 leads').waitFor()
  await page.getByText('Source is Referral').waitFor()
  const download = () => page.getByText('Download', { exact: true }).click()
  const csv = await downloaded(page, download)
  assert.deepEqual(
    csv
      .trim()
      .split('\r\n')
      .slice(1)
      .map((line) => /Exported \w+/.exec(line)?.[0]),
    ['Exported One', 'Exported Two'],
  )
  await page.getByRole('radio', { name: 'NDJSON' }).check()
  const lines = (await downloaded(page, download)).trim().split('\n')
  assert.deepEqual(JSON.parse(lines.at(-1) ?? ''), { endOfExport: { count: 2 } })
})
