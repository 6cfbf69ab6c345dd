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

test('an official number is connected, receives a message, is paused, resumed and removed', async () => {
  const { page } = await demo.open('connections')
  const number = await simulator('POST', '/numbers', { name: 'Support', phone: '5511955550010' })
  await page.getByRole('button', { name: 'Connect number' }).click()
  const panel = page.getByRole('dialog')
  await panel.getByRole('button', { name: /Cloud API/ }).click()
  await panel.getByRole('textbox', { name: 'Name' }).fill('Support')
  await panel.getByRole('button', { name: 'Check and connect' }).click()
  await panel.getByText('Fill in this field.').first().waitFor()
  await panel.getByRole('textbox', { name: 'Phone number ID' }).fill(number.numberId)
  await panel.getByRole('textbox', { name: 'Business account ID' }).fill(number.accountId)
  await panel.getByLabel('Access token').fill(number.accessToken)
  await panel.getByLabel('App secret').fill(number.appSecret)
  await panel.getByRole('button', { name: 'More settings' }).click()
  await panel.getByRole('textbox', { name: 'Platform URL' }).fill(demo.simulatorUrl)
  await panel.getByRole('button', { name: 'Check and connect' }).click()

  await panel.getByText('The platform confirmed the number.').waitFor()
  const callbackUrl = await panel.getByRole('textbox', { name: 'Callback URL' }).inputValue()
  const verifyToken = await panel.getByRole('textbox', { name: 'Verify token' }).inputValue()
  await simulator('PATCH', `/numbers/${number.numberId}`, { callbackUrl, verifyToken })
  await panel.getByRole('button', { name: 'I pasted both values' }).click()
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
  await page.getByRole('region', { name: 'Details' }).getByText('just now').waitFor()
}

test('a phone is linked by QR code, receives a message, and is linked again with a code', async () => {
  const { page } = await demo.open('connections')
  await page.getByRole('button', { name: 'Connect number' }).click()
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
