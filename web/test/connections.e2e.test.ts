import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { confirmByTyping, pickItem } from './support/actions.ts'
import { openDemo } from './support/demo.ts'

const demo = await openDemo()
// The demo's key has never been used, which would be a warning for each connection.
const keysPath = `/workspaces/${demo.workspaceId}/keys`
const [demoKey] = (await demo.team('GET', keysPath)).keys
await demo.team('PATCH', `${keysPath}/${demoKey.id}`, { answersNewConversations: false })
const simulator = (method: string, path: string, body?: unknown) =>
  demo.call(method, `${demo.simulatorUrl}/simulator${path}`, body).then((answer) => answer.body)

test('an official number is connected step by step, from a wrong token to a delivered test message', async () => {
  const { page } = await demo.open('connections')
  const number = await simulator('POST', '/numbers', { name: 'Support', phone: '5511955550010', isNew: true })
  await simulator('PATCH', `/numbers/${number.numberId}`, { pin: '246802' })
  await page.getByRole('button', { name: 'Add connection' }).click()
  const panel = page.getByRole('dialog')
  await panel.getByRole('button', { name: /Cloud API/ }).click()
  await panel.getByRole('textbox', { name: 'Name' }).fill('Support')
  await panel.getByRole('button', { name: 'Continue' }).click()
  await panel.getByText('Fill in this field.').first().waitFor()
  await panel.getByLabel('Access token').fill('a-token-that-nobody-knows')
  await panel.getByLabel('App secret').fill(number.appSecret)
  await panel.getByText('Simulated phones').click()
  await panel.getByRole('button', { name: 'Continue' }).click()

  const step = (name: string) => page.getByRole('listitem', { name, exact: true })
  await step('Access token').getByText('The platform doesn’t accept the token.').waitFor()
  await page.getByRole('status').getByText('1 step needs you. Next: Access token.').waitFor()
  await step('Access token').locator('input').fill(number.accessToken)
  await step('Access token').getByRole('button', { name: 'Save and check' }).click()
  await step('Access token').getByText('Valid, and doesn’t expire').waitFor()

  await step('Number')
    .getByRole('radio', { name: /5511955550010/ })
    .click()
  await assertAccessible(page)
  await step('Number').getByRole('button', { name: 'Use this number' }).click()
  await step('Registration').getByRole('textbox').fill('111111')
  await page.keyboard.press('Enter')
  await step('Registration').getByText('The PIN is wrong').waitFor()

  await page.reload()
  await step('Registration').getByText('The PIN is wrong').waitFor()
  await step('Access token').getByText('Valid, and doesn’t expire').waitFor()
  await step('Registration').getByRole('textbox').fill('246802')
  await step('Registration').getByRole('button', { name: 'Register' }).click()
  await step('Registration').getByText('The number is registered.').waitFor()
  await step('Receiving').getByRole('button', { name: 'Receive messages here' }).click()
  await page.getByText('Support is connected.').waitFor()
  await step('Sending').getByText('Messages can be sent.').waitFor()

  await step('Test message')
    .getByText(/the template hello_world/)
    .waitFor()
  await step('Test message').getByRole('textbox').fill('+55 11 95555-4399')
  await step('Test message').getByRole('button', { name: 'Send test message' }).click()
  await step('Test message').getByText('Delivered: sending and receiving work.').waitFor()
  await step('Test message').getByText('The platform last sent something at').waitFor()

  const state = page.getByRole('region', { name: 'Status' })
  await state.getByText('Connected', { exact: true }).waitFor()
  await hears(page, number.numberId)
  await page.getByRole('button', { name: 'Pause' }).click()
  await state.getByText(/A member paused (the|this) connection/).waitFor()
  await page.getByRole('button', { name: 'Resume' }).click()
  await state.getByText('Everything is working').waitFor()
  await pickItem(page.getByRole('button', { name: 'More' }), { name: 'Remove' })
  await confirmByTyping(page, 'Remove Support?', 'Support')
  await page.waitForURL(/\/connections$/)
  await page.getByRole('table').waitFor()
  assert.equal(await page.getByRole('table').getByText('Support').count(), 0)
})

async function hears(page: Page, numberId: string): Promise<void> {
  const customer = await simulator('POST', '/customers', { name: 'Rita Prado', phone: '5511955554321', numberId })
  await simulator('POST', `/customers/${customer.id}/messages`, { text: 'Is anybody there?' })
  await page.getByRole('region', { name: 'Details' }).getByText('just now').first().waitFor()
}

test('a phone is linked by QR code, receives a message, and is linked again with a code', async () => {
  const { page } = await demo.open('connections')
  await page.getByRole('button', { name: 'Add connection' }).click()
  const panel = page.getByRole('dialog')
  await panel.getByRole('button', { name: /Phone by QR code/ }).click()
  await panel.getByRole('textbox', { name: 'Name' }).fill('Shop phone')
  await panel.getByText('Simulated phones').click()
  assert.equal(await panel.getByRole('button', { name: 'Show code' }).isDisabled(), true)
  await panel.getByText('I understand').click()
  await panel.getByRole('button', { name: 'Show code' }).click()
  await page.getByRole('img', { name: 'QR code to scan with the phone' }).waitFor()
  await page.getByText(/Valid for \d+ s/).waitFor()
  await assertAccessible(page)

  const id = page.url().split('/').at(-1) ?? ''
  const { session } = await demo.team('GET', `/workspaces/${demo.workspaceId}/connections/${id}/session`)
  const [owner] = (await simulator('GET', '/phones')).phones
  await simulator('POST', `/phones/${owner.numberId}/scan`, { qr: session.qr })
  await page.getByText('Linked and online').waitFor()
  await page.getByText('You accepted it on').waitFor()
  await hears(page, owner.numberId)

  await page.getByRole('button', { name: 'Unlink phone' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Unlink phone' }).click()
  await page.getByRole('button', { name: 'Link with phone number' }).click()
  await page.getByRole('textbox', { name: 'Phone number' }).fill(`+${owner.numberId.replace('phone-', '')}`)
  await page.getByRole('button', { name: 'Get code' }).click()
  const code = await page.getByText(/^[A-Z0-9]{4}-[A-Z0-9]{4}$/).textContent()
  await simulator('POST', `/phones/${owner.numberId}/code`, { code })
  await page.getByText('Linked and online').waitFor()
  await page.getByRole('button', { name: 'Accept risk and allow sending' }).click()
  await page.getByText('You accepted it on').waitFor()
})
