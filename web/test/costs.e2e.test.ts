import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { assertAccessible } from './support/accessibility.ts'
import { phone } from './support/browser.ts'
import { openDemo } from './support/demo.ts'

const demo = await openDemo()
const csv = (price: string) => `currency,market,category,price,valid_from\nUSD,Brazil,utility,${price},2020-01-01\n`
const file = (name: string, text: string) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })

/** Adds what the platform reports for two templates, one of which is free. */
async function addCharges(): Promise<void> {
  await demo.db.sql`delete from message_charges`
  const [connection] = await demo.db.sql<{ id: string }[]>`select id from connections where channel = 'waba' limit 1`
  for (const type of ['regular', 'free_entry_point']) {
    await demo.db.sql`
      insert into message_charges (
        workspace_id, connection_id, external_index, template, country, type, category, step, delivered, charged_at
      )
      values (
        ${demo.workspaceId}, ${connection?.id ?? ''}, ${randomBytes(16)}, 'order_update', 'BR', ${type}, 'utility', 2,
        true, ${new Date()}
      )`
  }
}

test('the page of costs counts messages, and shows amounts once a rate card is imported', async () => {
  await demo.db.sql`delete from message_charges`
  const { page } = await demo.open('costs')
  await page.getByText('No charges yet.').waitFor()
  await addCharges()
  await page.reload()
  await page.getByText('Messages are counted without amounts').waitFor()
  const figure = (name: string) => page.locator('dl > div', { hasText: name }).getByRole('definition').first()
  assert.equal(await figure('Amount').innerText(), 'Unknown')
  assert.equal(await figure('Charged messages').innerText(), '1')
  await page.locator('input[type=file]').setInputFiles(file('broken.csv', csv('cheap')))
  await page
    .getByRole('alert')
    .getByText(/^Row 2: Price must be a number/)
    .waitFor()
  await page.locator('input[type=file]').setInputFiles(file('rates.csv', csv('0.0068')))
  await page.getByText('1 price imported').waitFor()
  await page.locator('dl > div', { hasText: 'Amount' }).getByText('$0.0068').waitFor()
  const groups = page.getByRole('region', { name: 'Costs by' })
  await groups.getByText('Template', { exact: true }).click()
  await groups.getByRole('cell', { name: 'order_update' }).waitFor()
  await groups.getByText('Country', { exact: true }).click()
  await groups.getByRole('cell', { name: 'Brazil' }).waitFor()
  const href = await page.getByRole('link', { name: 'Download CSV' }).getAttribute('href')
  assert.match(href ?? '', /\/costs\/export\?from=/)
  await assertAccessible(page)
  await page.setViewportSize(phone)
  const width = await page.evaluate('document.documentElement.scrollWidth')
  assert.ok((width as number) <= phone.width, `${width} wide`)
})
