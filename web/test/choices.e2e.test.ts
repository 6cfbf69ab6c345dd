import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { assertAccessible } from './support/accessibility.ts'
import { waitUntil } from './support/composing.ts'
import { sharedDemo } from './support/demo.ts'
import { newCustomer, openId } from './support/inbox.ts'

const demo = await sharedDemo()

test('interactive options appear below the text, and the customer’s choice quotes the message', async () => {
  const customer = await newCustomer(demo, 'Lia Campos', '5511930000061')
  await customer.says('Hello!')
  const { page } = await demo.open('inbox')
  await page.getByRole('link', { name: /Lia Campos/ }).click()
  const thread = page.getByRole('log')
  await thread.getByText('Hello!').waitFor()
  const place = `/workspaces/${demo.workspaceId}/inbox/conversations/${openId(page)}/messages`
  const offer = (choices: object) =>
    demo.team('POST', place, { kind: 'choices', choices }, { 'idempotency-key': randomUUID() })
  await offer({ text: 'Is the address the same?', buttons: [{ title: 'It is' }, { title: 'It has changed' }] })
  const tuesday = { id: 'tue', title: 'Tuesday', description: 'In the evening' }
  const list = { button: 'See the days', rows: [{ id: 'mon', title: 'Monday' }, tuesday] }
  await offer({ text: 'When do we come?', list, footer: 'We ring twice.' })
  const options = thread.getByRole('list', { name: 'Options' })
  await options.nth(1).waitFor()
  assert.deepEqual(await options.first().getByRole('listitem').allInnerTexts(), ['It is', 'It has changed'])
  assert.equal(await options.getByRole('button').count(), 0, 'only the customer chooses')
  for (const words of ['See the days', 'In the evening', 'We ring twice.']) await thread.getByText(words).waitFor()

  const chat = `${demo.simulatorUrl}/simulator/customers/${customer.id}`
  const { body } = await demo.call('GET', chat)
  const about = body.messages.findLast(({ offer: told }: { offer: object | null }) => told !== null).id
  await demo.call('POST', `${chat}/messages`, { about, choiceId: 'tue' })
  const quote = thread.getByRole('button', { name: /Go to the quoted message/ })
  await quote.getByText('When do we come?').waitFor()
  await assertAccessible(page)
})

test('a person asks for a location with a button, the customer sees them typing, and the answer quotes it', async () => {
  const customer = await newCustomer(demo, 'Rui Prado', '5511930000062')
  await customer.says('Can you deliver?')
  const { page } = await demo.open('inbox')
  await page.getByRole('link', { name: /Rui Prado/ }).click()
  const thread = page.getByRole('log')
  await thread.getByText('Can you deliver?').waitFor()
  const place = `/workspaces/${demo.workspaceId}/inbox/conversations/${openId(page)}`
  await demo.team('POST', `${place}/take-over`)
  const chat = `${demo.simulatorUrl}/simulator/customers/${customer.id}`
  const phone = async () => (await demo.call('GET', chat)).body

  await page.getByRole('textbox', { name: 'Reply to Rui Prado' }).pressSequentially('Of course')
  await waitUntil(phone, ({ businessIsTyping }) => businessIsTyping)

  await page.getByRole('button', { name: 'Ask with a button' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Address of the page' }).fill('shop.example')
  await dialog.getByRole('button', { name: 'Send', exact: true }).click()
  await dialog.getByText('Enter a full address').waitFor()
  await assertAccessible(page)
  await dialog.getByRole('textbox', { name: 'Message' }).fill('Our prices:')
  await dialog.getByRole('textbox', { name: 'Text of the button' }).fill('See prices')
  await dialog.getByRole('textbox', { name: 'Address of the page' }).fill('https://shop.example/prices')
  await dialog.getByRole('button', { name: 'Send', exact: true }).click()
  const link = thread.getByRole('link', { name: 'See prices' })
  await link.waitFor()
  assert.equal(await link.getAttribute('href'), 'https://shop.example/prices')

  await page.getByRole('button', { name: 'Ask with a button' }).click()
  await dialog.getByRole('combobox', { name: 'What to ask for' }).click()
  await page.getByRole('option', { name: 'Share a location' }).click()
  await dialog.getByRole('textbox', { name: 'Message' }).fill('Where to?')
  await dialog.getByRole('button', { name: 'Send', exact: true }).click()
  await thread.getByText('Send location').waitFor()
  const { messages } = await waitUntil(phone, (one) => one.messages.at(-1).prompt?.type === 'location_request')
  await demo.call('POST', `${chat}/messages`, { kind: 'location', about: messages.at(-1).id })
  const quote = thread.getByRole('button', { name: /Go to the quoted message/ })
  await quote.getByText('Where to?').waitFor()
  await assertAccessible(page)
})
