import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { allowLoadFailure, closeAfterTest, phone } from './support/browser.ts'
import { field, newWriter, thread, type Writer, waitUntil } from './support/composing.ts'
import { openDemo } from './support/demo.ts'

// Each switch of the simulator's pages, and what Parley makes of it.
const demo = await openDemo()
const workspace = `/workspaces/${demo.workspaceId}`
const simulatorApi = `${demo.simulatorUrl}/simulator`
const { connections } = await demo.team('GET', `${workspace}/connections`)
const official = connections.find(({ channel }: { channel: string }) => channel === 'waba')

/** Opens a page of the simulator beside Parley, as wide as a phone. */
async function openSimulator(page: Page, path: string): Promise<Page> {
  const simulator = await page.context().newPage()
  // Each keeps a stream open, of which a browser has six for one address.
  closeAfterTest(simulator)
  await simulator.setViewportSize(phone)
  await simulator.goto(`${demo.simulatorUrl}/phone${path}`)
  await simulator.getByRole('main').waitFor()
  return simulator
}

async function assertUsable(simulator: Page): Promise<void> {
  await assertAccessible(simulator)
  const width = await simulator.evaluate('document.documentElement.scrollWidth')
  assert.ok((width as number) <= phone.width, `${width} wide`)
}

const customerOf = async ({ number }: Writer): Promise<string> =>
  (await demo.call('GET', `${simulatorApi}/customers`)).body.customers.find(
    (one: { phone: string }) => one.phone === number,
  ).id

test('what a number may do', async () => {
  const { page } = await demo.open(`connections/${official.id}`)
  const simulator = await openSimulator(page, '/numbers')
  const card = simulator.locator(`[data-number="${official.numberId}"]`)
  const status = page.getByRole('region', { name: 'Number status' })
  await card.getByLabel('Health check').selectOption('Limited')
  const reason = card.getByLabel('Why it cannot send everything')
  await reason.fill('The business is not verified.')
  await reason.press('Enter')
  await assertUsable(simulator)
  for (const [label, option] of [
    ['Quality', 'Medium'],
    ['Throughput', '1,000 messages a second'],
    ['Display name', 'Declined'],
    ['Messaging limit', '250 customers'],
  ] as const) {
    await card.getByLabel(label).selectOption(option)
  }
  // The announcement tells the limit; the rest is read within a minute, or now.
  await status.getByText('250 customers in 24 hours').waitFor()
  await page.getByRole('button', { name: 'Sync now' }).click()
  for (const shown of ['Medium', 'Up to 1,000 messages per second', 'Declined', 'Limited']) {
    await status.getByText(shown).waitFor()
  }
  await status.getByText('The business is not verified.').waitFor()

  const state = page.getByRole('region', { name: 'Status', exact: true })
  const restriction = card.getByRole('button', { name: 'May not start conversations' })
  await restriction.press('Enter')
  await state.getByText('doesn’t let the account start conversations').waitFor()
  await restriction.and(simulator.locator('[aria-pressed="true"]')).press('Enter')
  await state.getByText('doesn’t let the account start conversations').waitFor({ state: 'detached' })
  await card.getByRole('button', { name: 'Violation' }).click()
  await state.getByText('violated a policy').waitFor()
  for (const event of ['Disabled', 'Deleted', 'App removed', 'Left the platform']) {
    await card.getByRole('button', { name: event }).click()
    await state.getByText('Can’t send').waitFor()
    await card.getByRole('button', { name: 'Reconnected' }).click()
    await state.getByText('Connected', { exact: true }).waitFor()
  }
  for (const [label, option] of [
    ['Health check', 'Can send'],
    ['Quality', 'High'],
    ['Display name', 'Approved'],
  ] as const) {
    await card.getByLabel(label).selectOption(option)
  }
  await page.getByRole('button', { name: 'Sync now' }).click()
  await status.getByText('Possible').waitFor()
})

test('what messages cost, and a payment that fails and works again', async () => {
  const eva = await newWriter(demo, 'Eva Lins', 'How much is it?')
  const { page } = await demo.open(eva.place)
  const simulator = await openSimulator(page, '/numbers')
  const card = simulator.locator(`[data-number="${official.numberId}"]`)
  const say = async (words: string) => {
    await field(page).fill(words)
    await field(page).press('Enter')
  }
  const chat = await openSimulator(page, `#${await customerOf(eva)}`)
  await say('Free so far.')
  await chat.getByText('free of the month').waitFor()
  const free = card.getByLabel('Free service messages a month')
  await free.fill('0')
  await free.press('Enter')
  await waitUntil(
    async () => (await demo.call('GET', `${simulatorApi}/numbers`)).body.numbers[0].freeServiceMessages,
    0,
  )
  await say('Now it is charged.')
  await chat.getByText('charged as service').waitFor()
  await card.getByLabel('Payment').selectOption('Fails with 131042')
  await say('This one is refused.')
  await thread(page).getByText('The account has a payment problem.').first().waitFor()
  await card.getByLabel('Payment').selectOption('Works')
  await say('Paid.')
  await waitUntil(eva.receivedMessages, (texts) => texts.includes('Paid.'))
  await free.fill('1000')
  await free.press('Enter')
})

test('what a customer wants, and another app that answers', async () => {
  const rosa = await newWriter(demo, 'Rosa Lins', 'Hello')
  const { page } = await demo.open(rosa.place)
  const simulator = await openSimulator(page, `#${await customerOf(rosa)}`)
  await simulator.getByRole('button', { name: 'Settings of this phone' }).click()
  const marketing = page.getByRole('complementary', { name: 'Customer' }).getByRole('region', { name: 'Marketing' })
  await simulator.getByRole('button', { name: 'Stop word' }).press('Enter')
  await marketing.getByText(/^by keyword, /).waitFor()
  // The platform's times have whole seconds: within one, an opt-out counts.
  await demo.call('POST', `${simulatorApi}/clock`, { advanceMs: 2000 })
  await simulator.getByRole('button', { name: 'Start word' }).press('Enter')
  await marketing.getByText('Opted in', { exact: true }).waitFor()
  await simulator.getByLabel('Stops marketing').check()
  await marketing.getByText(/^in the settings on WhatsApp, /).waitFor()
  await demo.call('POST', `${simulatorApi}/clock`, { advanceMs: 2000 })
  await simulator.getByLabel('Stops marketing').uncheck()
  await marketing.getByText('Opted in', { exact: true }).waitFor()
  await simulator.getByLabel('Answered by').selectOption('Another partner')
  await page.getByText('Another app on this number is answering this customer.').waitFor()
  await simulator.getByLabel('Answered by').selectOption('This service')
  await page.getByText('Another app on this number is answering this customer.').waitFor({ state: 'detached' })
  await simulator.getByRole('button', { name: 'Back to the chat' }).click()
  await field(page).pressSequentially('I am writ')
  await simulator.getByText('typing…').waitFor()
})

test('the review of a template: category and quality', async () => {
  const { page } = await demo.open('templates')
  const simulator = await openSimulator(page, '/templates')
  const one = simulator.locator('[data-template="new_catalog"]')
  const row = page.getByRole('row', { name: /new_catalog/ })
  await one.getByLabel('Category').selectOption('UTILITY')
  await row.getByText('Utility').waitFor()
  await one.getByLabel('Category').selectOption('MARKETING')
  await row.getByText('Marketing').waitFor()
  await one.getByLabel('Quality').selectOption('RED')
  await row.getByText('Low').waitFor()
  await one.getByRole('button', { name: 'Pause' }).click()
  await row.getByText('Paused').waitFor()
  await one.getByRole('button', { name: 'Approve' }).click()
  await row.getByText('Approved').waitFor()
})

test('faults of sends, and webhooks that wait', async () => {
  const nora = await newWriter(demo, 'Nora Lins', 'Hello')
  const { page } = await demo.open(nora.place)
  allowLoadFailure(page)
  const simulator = await openSimulator(page, '/delivery')
  await simulator.getByLabel('Code', { exact: true }).fill('131056')
  await simulator.getByLabel('Customer').selectOption(`Nora Lins · +${nora.number}`)
  await simulator.getByRole('button', { name: 'Add fault' }).press('Enter')
  await simulator.getByRole('button', { name: /^Remove: Sends · Refused with the code · 131056/ }).waitFor()
  await assertUsable(simulator)
  await field(page).fill('Too much.')
  await field(page).press('Enter')
  await waitUntil(async () => (await demo.call('GET', `${simulatorApi}/faults`)).body.faults.length, 0)
  await simulator.getByText('No faults.').waitFor()

  await simulator.getByLabel('Seconds to sent').fill('0')
  await simulator.getByLabel('Seconds to sent').press('Tab')
  await simulator.getByLabel('Collect everything').selectOption('Yes')
  await waitUntil(async () => (await demo.call('GET', `${simulatorApi}/delivery`)).body, { paused: true })
  await nora.write('Are you there?')
  await simulator.getByText(/^waiting 1/).waitFor()
  assert.equal(await thread(page).getByText('Are you there?').count(), 0)
  await simulator.getByRole('button', { name: 'Send what is collected' }).press('Enter')
  await thread(page).getByText('Are you there?').waitFor()
  await simulator.getByRole('button', { name: 'Reset' }).click()
  await waitUntil(async () => (await demo.call('GET', `${simulatorApi}/delivery`)).body, { paused: false })
})

test('new chats of a linked phone', async () => {
  const [owner] = (await demo.call('GET', `${simulatorApi}/phones`)).body.phones
  const { connection } = await demo.team('POST', `${workspace}/connections`, {
    ...{ channel: 'unofficial', name: 'Shop phone', baseUrl: demo.simulatorUrl },
  })
  const path = `${workspace}/connections/${connection.id}`
  await demo.team('POST', `${path}/acknowledge`)
  await demo.team('POST', `${path}/pair`, { method: 'qr' })
  const { session } = await waitUntil(
    () => demo.team('GET', `${path}/session`),
    (found) => found.session.qr !== null,
  )
  await demo.call('POST', `${simulatorApi}/phones/${owner.numberId}/scan`, { qr: session.qr })
  const { page } = await demo.open(`connections/${connection.id}`)
  await page.getByText('Linked and online').waitFor()
  const simulator = await openSimulator(page, '/numbers')
  const card = simulator.locator(`[data-number="${owner.numberId}"]`)
  const status = page.getByRole('region', { name: 'Number status' })
  await card.getByLabel('Limit on new chats').selectOption('None left')
  await status.getByText('Used up').waitFor()
  await card.getByLabel('New chats used, of 50').fill('50')
  await card.getByLabel('New chats used, of 50').press('Enter')
  await status.getByText('50 of 50').waitFor()
  await card.getByLabel('Writing to new people').selectOption('Locked for 1 hour')
  await status.getByText('New chats locked until').waitFor()
})
