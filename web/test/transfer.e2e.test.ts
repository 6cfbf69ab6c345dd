import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pickOption } from './support/actions.ts'
import { allowLoadFailure } from './support/browser.ts'
import { sharedDemo } from './support/demo.ts'
import { choose, counts } from './support/transfer.ts'

const demo = await sharedDemo()
test('values of a file are translated and named as chosen, shown as leads, and undone', async () => {
  const { page } = await demo.open('leads/import')
  const rows = [
    'Ivo Prado Neto;ganho;Olinda;R$ 2.500',
    'Nara Reis;GANHO;Recife;1.234,50',
    'Oto Lins;Arquivado;Natal;10',
  ]
  await choose(page, 'etapas.csv', ['Nome;Etapa;Cidade;Valor', ...rows, ''].join('\n'))
  const values = page.getByRole('region', { name: 'Map values' })
  await values.getByText('1 row will be rejected until you map its value.').waitFor()
  const means = (text: string) => values.getByRole('combobox', { name: `Map ${text} to` })
  assert.equal(await means('ganho').inputValue(), 'Won')
  await page.getByText('Ivo Prado Neto: first name Ivo, last name Prado Neto').waitFor()
  assert.equal(await page.getByRole('combobox', { name: 'Number format' }).inputValue(), '1.234,50')
  await pickOption(means('Arquivado'), { name: 'Lost', exact: true })
  await page.getByRole('textbox', { name: 'Name of the custom field for Cidade' }).fill('Cidade natal')
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByRole('region', { name: 'Import finished' }).waitFor()
  assert.equal(await counts(page), 'Rows 3 Created 3 Updated 0 Unchanged 0 Rejected 0')
  const place = page.url()
  await page.getByRole('link', { name: 'View these leads' }).click()
  await page.getByText('From an import', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Ivo Prado Neto' }).click()
  const panel = page.getByRole('complementary', { name: 'Lead Ivo Prado Neto' })
  assert.equal(await panel.getByLabel('Cidade natal').first().inputValue(), 'Olinda')
  const changed = page.waitForResponse((answer) => answer.request().method() === 'PATCH' && answer.ok())
  await panel.getByLabel('Notes').fill('Called')
  await panel.getByLabel('Notes').blur()
  await changed
  await page.goto(place)
  await page.getByRole('button', { name: 'Undo import' }).click()
  const ask = page.getByRole('dialog', { name: 'Undo the import of 3 leads?' })
  await ask.getByRole('button', { name: 'Undo import' }).click()
  await page.getByText('Undone for 2 leads. 1 lead left as is: changed since then.').waitFor()
})

test('a failed upload resumes with the same file, and a valid file creates leads', async () => {
  const { page } = await demo.open('leads/import')
  const rows = Array.from({ length: 300 }, (_, n) => `Lead ${n},+55 11 95552-${String(1000 + n)},ads`)
  const text = ['name,phone,source', ...rows].join('\n')
  allowLoadFailure(page)
  await page.route('**/content?offset=*', (route) => route.abort())
  await choose(page, 'good.csv', text)
  await page.getByText('0 of 0 MB').waitFor()
  await page.reload()
  await page.unroute('**/content?offset=*')
  await page.getByText('The upload stopped at 0%').waitFor()
  await choose(page, 'other.csv', 'name\nX')
  await page.getByText('This is a different file. Choose the original good.csv.').waitFor()
  await choose(page, 'good.csv', text)
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByRole('region', { name: 'Import finished' }).waitFor()
  assert.equal(await counts(page), 'Rows 300 Created 300 Updated 0 Unchanged 0 Rejected 0')
  await page.getByRole('link', { name: 'Back: Import leads' }).click()
  await page.getByRole('row', { name: /good.csv Done 300/ }).waitFor()
})
