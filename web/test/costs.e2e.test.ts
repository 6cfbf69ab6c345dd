import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { assertAccessible, fitsPhone } from './support/accessibility.ts'
import { allowLoadFailure } from './support/browser.ts'
import { field, newWriter, thread, waitUntil } from './support/composing.ts'
import { newMember, openDemo } from './support/demo.ts'

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
  await fitsPhone(page)
})

test('an admin sets a budget and changes its limit', async () => {
  const { page } = await demo.open('costs')
  const budgets = page.getByRole('region', { name: 'Budgets' })
  await budgets.getByText('No budgets.').waitFor()
  await budgets.getByRole('button', { name: 'New budget' }).click()
  const panel = page.getByRole('dialog', { name: 'New budget' })
  const limit = panel.getByLabel('Messages per period')
  await limit.fill('0')
  await panel.getByRole('button', { name: 'Save' }).click()
  await panel.getByText('Enter a number above 0.').waitFor()
  await limit.fill('1')
  await panel.getByRole('button', { name: 'Save' }).click()
  await budgets.getByText('of 1 message').waitFor()
  await budgets.getByRole('button', { name: 'Change the budget' }).click()
  await page.getByLabel('Messages per period').fill('25')
  await page.getByRole('button', { name: 'Save' }).click()
  await budgets.getByText('of 25 messages').waitFor()
  await assertAccessible(page)
  await fitsPhone(page)
})

test('a person who exceeds a budget is asked first, and the thread says who sent anyway', async () => {
  await addCharges()
  const workspace = `/workspaces/${demo.workspaceId}`
  await demo.team('PATCH', `${workspace}/billing-settings`, { freeServiceMessages: 0 })
  await demo.team('POST', `${workspace}/budgets`, { scope: 'workspace', unit: 'messages', period: 'day', limit: '1' })
  const eva = await newWriter(demo, 'Eva Pinto', 'I take two.')
  const { page } = await demo.open(eva.place)
  allowLoadFailure(page)
  await field(page).fill('Two it is.')
  await field(page).press('Enter')
  const line = page.getByRole('alert').filter({ hasText: 'A message budget is used up' })
  await line.getByText('All messages: 1 of 1 message today.').waitFor()
  assert.equal(await field(page).inputValue(), 'Two it is.')
  assert.deepEqual(await eva.receivedMessages(), [])
  await line.getByRole('button', { name: 'Send anyway' }).click()
  await waitUntil(eva.receivedMessages, { length: 1 })
  await thread(page).getByText('sent a message over budget').waitFor()
})

test('an admin says on the page of a connection how the platform bills it; members do not see it', async () => {
  const workspace = `/workspaces/${demo.workspaceId}`
  const { connections } = await demo.team('GET', `${workspace}/connections`)
  const { id, name } = connections.find(({ channel }: { channel: string }) => channel === 'waba')
  const { page } = await demo.open(`connections/${id}`)
  const billing = page.getByRole('region', { name: 'Billing' })
  await billing.getByRole('button', { name: 'Change' }).click()
  const panel = page.getByRole('dialog', { name: `Billing of ${name}` })
  await panel.getByRole('combobox', { name: 'Currency of this number' }).fill('EUR')
  await page.getByRole('option', { name: 'Euro (EUR)' }).click()
  await panel.getByRole('combobox', { name: 'Time zone of the account' }).fill('Sao_Paulo')
  await page.getByRole('option', { name: 'America/Sao_Paulo' }).click()
  await panel.getByLabel('Free service messages a month').fill('')
  await panel.getByRole('button', { name: 'Save' }).click()
  await panel.getByText('Enter a number.').waitFor()
  await panel.getByLabel('Free service messages a month').fill('250')
  await assertAccessible(page)
  await panel.getByRole('button', { name: 'Save' }).click()
  await billing.getByText('EUR', { exact: true }).waitFor()
  await billing.getByText('America/Sao_Paulo').waitFor()
  await billing.getByText('250', { exact: true }).waitFor()
  const stored = await demo.team('GET', `${workspace}/rate-cards`)
  assert.deepEqual(stored.connections, [{ connectionId: id, currency: 'EUR' }])
  assert.equal(stored.settings.freeServiceMessages, 250)
  await fitsPhone(page)

  const { page: theirs } = await newMember(demo, 'Rui Costa')
  await theirs.goto(page.url())
  await theirs.getByRole('region', { name: 'Templates' }).waitFor()
  assert.equal(await theirs.getByRole('region', { name: 'Billing' }).count(), 0)
})
