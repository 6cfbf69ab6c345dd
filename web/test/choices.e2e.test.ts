import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { assertAccessible } from './support/accessibility.ts'
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
