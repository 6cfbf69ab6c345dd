import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { pickOption } from './support/actions.ts'
import { newWriter, thread } from './support/composing.ts'
import { openDemo } from './support/demo.ts'
import { openId } from './support/inbox.ts'

const demo = await openDemo()
const team = `/workspaces/${demo.workspaceId}`
const panelOf = (page: Page, name = 'New conversation'): Locator => page.getByRole('dialog', { name })
const conversations = async (phone: string) =>
  (await demo.team('GET', `${team}/inbox/conversations?phone=${phone}`)).conversations

async function chooseTemplate(page: Page, name: RegExp): Promise<void> {
  await pickOption(panelOf(page).getByRole('combobox', { name: 'Template' }), { name })
  for (const field of await panelOf(page)
    .getByLabel(/^Value \d/)
    .all())
    await field.fill('tomorrow')
}

test('C starts a conversation with a new number and opens it; errors are shown at their fields', async () => {
  const { page } = await demo.open('inbox')
  await page.locator('[data-row]').first().waitFor()
  await page.keyboard.press('c')
  const panel = panelOf(page)
  const whom = panel.getByRole('combobox', { name: 'To' })
  await whom.and(page.locator(':focus')).waitFor()
  await panel.getByRole('button', { name: 'Send' }).click()
  await panel.getByText('Choose someone, or enter a phone number with its country code.').waitFor()
  await whom.fill('+55 11 96660-1234')
  await panel.getByRole('option', { name: 'Message +55 11 96660-1234' }).waitFor()
  await assertAccessible(page)
  await page.keyboard.press('Enter')
  await panel.getByRole('combobox', { name: 'Template' }).and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Enter')
  await panel.getByText('Choose a template.').waitFor()
  await chooseTemplate(page, /appointment reminder.*English/)
  await panel.getByRole('figure').getByText('tomorrow').first().waitFor()
  await panel.getByLabel('Value 1').fill('')
  await panel.getByRole('button', { name: 'Send' }).click()
  await panel.getByText('Enter a value').waitFor()
  await panel.getByLabel('Value 1').fill('Monday')
  await assertAccessible(page)
  await panel.getByRole('button', { name: 'Send' }).click()
  await page.waitForURL(/\/inbox\/[0-9a-f-]{36}/)
  await thread(page)
    .getByText(/Monday at tomorrow/)
    .waitFor()
  const [made] = await conversations('5511966601234')
  assert.equal(openId(page), made.id)
  // Contacts known only by number have no initials.
  await page.locator('[data-row]', { hasText: '96660-1234' }).locator('[data-initials=""] svg').waitFor()
})

test('an existing customer is found by name or number, and the conversation is opened without sending', async () => {
  const ana = await newWriter(demo, 'Anabela Quintas', 'Olá')
  await demo.team('PATCH', `${team}/inbox/conversations/${ana.id}`, { status: 'resolved' })
  const { page } = await demo.open('inbox')
  await page.locator('[data-row]').first().waitFor()
  for (const typed of ['anabela', `+${ana.number}`]) {
    await page.goto(`${demo.url}/w/${demo.workspaceId}/inbox`)
    await page.locator('[data-row]').first().waitFor()
    await page.keyboard.press('c')
    const panel = panelOf(page)
    await panel.getByRole('combobox', { name: 'To' }).and(page.locator(':focus')).waitFor()
    // Enter before there are results.
    await page.keyboard.type(typed)
    await page.keyboard.press('Enter')
    await panel.getByText('You already have a conversation with Anabela Quintas on this number.').waitFor()
    await panel.getByText('You can write freely there.').waitFor()
    assert.equal(await panel.getByRole('combobox', { name: 'Template' }).count(), 0)
    await panel.getByRole('button', { name: 'Open conversation' }).and(page.locator(':focus')).waitFor()
    await assertAccessible(page)
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp(`/inbox/${ana.id}`))
    await panel.waitFor({ state: 'detached' })
  }
  assert.deepEqual(await ana.receivedMessages(), [])
})

test('a lead chosen by name appears under that name everywhere, and follows a rename', async () => {
  const authorization = { authorization: `Bearer ${demo.apiKey}` }
  const phone = '5511966601235'
  const { body } = await demo.call('POST', '/api/v1/leads', { firstName: 'Benedita', phone }, authorization)
  const { page } = await demo.open('inbox')
  await page.locator('[data-row]').first().waitFor()
  await page.keyboard.press('c')
  await panelOf(page).getByRole('combobox', { name: 'To' }).fill('bened')
  await panelOf(page)
    .getByRole('option', { name: /Benedita/ })
    .click()
  await chooseTemplate(page, /appointment reminder.*English/)
  await panelOf(page).getByRole('button', { name: 'Send' }).click()
  await page.waitForURL(/\/inbox\/[0-9a-f-]{36}/)
  const isCalled = async (name: string, initials: string) => {
    await page.locator('[data-row]', { hasText: name }).locator(`[data-initials="${initials}"]`).waitFor()
    await page.getByRole('region', { name: `Conversation with ${name}` }).waitFor()
    await page.getByRole('complementary', { name: 'Customer' }).getByRole('heading', { name, level: 2 }).waitFor()
  }
  await isCalled('Benedita', 'B')
  await demo.call('PATCH', `/api/v1/leads/${body.lead.id}`, { lastName: 'Quaresma' }, authorization)
  await isCalled('Benedita Quaresma', 'BQ')
})
