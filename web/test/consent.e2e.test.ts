import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { phone } from './support/browser.ts'
import { sharedDemo } from './support/demo.ts'
import { newCustomer, waitForAll } from './support/inbox.ts'

const demo = await sharedDemo()
const inbox = `/workspaces/${demo.workspaceId}/inbox/conversations`

async function newConversation(name: string, phone: string) {
  const customer = await newCustomer(demo, name, phone)
  await customer.says('Hello')
  await waitForAll(demo)
  const { conversations } = await demo.team('GET', `${inbox}?search=${name}`)
  return { customer, id: conversations[0].id as string }
}

const marketingOf = (page: Page, of: 'Customer' | `Lead ${string}`) =>
  page.getByRole('complementary', { name: of }).getByRole('region', { name: 'Marketing' })

test('a customer opts out by a keyword; a person records another decision, and takes it back', async () => {
  const { customer, id } = await newConversation('Vesna', '5511955507701')
  const { page } = await demo.open(`inbox/${id}`)
  const marketing = marketingOf(page, 'Customer')
  await marketing.getByText('No decision yet').waitFor()
  await customer.says('Sair!')
  await marketing.getByText('Opted out', { exact: true }).waitFor()
  await marketing.getByText(/^by keyword, /).waitFor()
  await page.getByText('The customer opted out of marketing').waitFor()
  await marketing.getByRole('button', { name: 'Opt in…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Opt in to marketing?' })
  await assertAccessible(page)
  await dialog.getByRole('button', { name: 'Opt in', exact: true }).click()
  await marketing.getByText('Opted in', { exact: true }).waitFor()
  await page.getByText(/recorded that the customer opted in to marketing$/).waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await marketing.getByText('Opted out', { exact: true }).waitFor()
})

test('a person records that a customer wants no updates, apart from marketing', async () => {
  const { id } = await newConversation('Yvonne', '5511955507704')
  const { page } = await demo.open(`inbox/${id}`)
  const updates = page.getByRole('complementary', { name: 'Customer' }).getByRole('region', { name: 'Updates' })
  await updates.getByRole('button', { name: 'Opt out…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Opt out of updates?' })
  await dialog.getByRole('button', { name: 'Opt out', exact: true }).click()
  await updates.getByText('Opted out', { exact: true }).waitFor()
  await marketingOf(page, 'Customer').getByText('No decision yet').waitFor()
  await page.getByText(/recorded that the customer opted out of updates$/).waitFor()
  await assertAccessible(page)
})

test('a lead shows the decision, and one recorded there counts in its conversation', async () => {
  const { id } = await newConversation('Wanda', '5511955507702')
  const leads = `/workspaces/${demo.workspaceId}/leads`
  const { lead } = await demo.team('POST', leads, { firstName: 'Wanda', phone: '5511955507702' })
  const { page } = await demo.open(`leads?q=wanda&lead=${lead.id}`)
  const marketing = marketingOf(page, 'Lead Wanda')
  await marketing.getByRole('button', { name: 'Opt out…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Opt out of marketing?' })
  await dialog.getByRole('button', { name: 'Opt out', exact: true }).click()
  await marketing.getByText('Opted out', { exact: true }).waitFor()
  const { conversation } = await demo.team('GET', `${inbox}/${id}`)
  assert.deepEqual(
    [conversation.marketingConsent.decision, conversation.marketingConsent.source],
    ['opted_out', 'member'],
  )
})

test('what a customer sets on the platform is shown, also on a narrow screen', async () => {
  const { customer } = await newConversation('Xenia', '5511955507703')
  const change = { stopsMarketing: true }
  await demo.call('PATCH', `${demo.simulatorUrl}/simulator/customers/${customer.id}`, change)
  await waitForAll(demo)
  const leads = `/workspaces/${demo.workspaceId}/leads`
  const { lead } = await demo.team('POST', leads, { firstName: 'Xenia', phone: '5511955507703' })
  const { page } = await demo.open(`leads/${lead.id}`, { viewport: phone })
  const marketing = page.getByRole('region', { name: 'Marketing' })
  await marketing.getByText('Opted out', { exact: true }).waitFor()
  await marketing.getByText(/^in the settings on WhatsApp, /).waitFor()
  await assertAccessible(page)
  const box = await marketing.boundingBox()
  assert.ok(box !== null && box.x >= 0 && box.x + box.width <= phone.width)
})

test('an admin changes the keywords', async () => {
  const own = await demo.newWorkspace()
  const { page } = await own.open('settings/workspace')
  const keywords = page.getByRole('combobox', { name: 'Opt-out keywords' })
  await keywords.fill('Ende')
  await keywords.press('Enter')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  const { workspace } = await own.team('GET', `/workspaces/${own.workspaceId}`)
  assert.ok(workspace.optOutKeywords.includes('Ende'))
  await assertAccessible(page)
})
