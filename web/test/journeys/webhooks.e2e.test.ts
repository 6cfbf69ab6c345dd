import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifyWebhook } from '../../../server/test/support/webhooks/verify-webhook.ts'
import { startReceiver } from '../../../server/test/support/webhooks/webhook-receiver.ts'
import { sharedDemo } from '../support/demo.ts'

const demo = await (await sharedDemo()).newWorkspace()
const receiver = await startReceiver()

test('a webhook is created, receives a signed test event and a new lead, and shows the responses', async () => {
  const { page } = await demo.open('webhooks')
  await page.getByText('No webhooks yet').waitFor()
  await page.keyboard.press('c')
  const panel = page.getByRole('dialog')
  await panel.getByRole('button', { name: 'Create', exact: true }).click()
  await panel.getByText('Fill in this field.').waitFor()
  await panel.getByLabel('URL').fill(receiver.url)
  await panel.getByLabel('Description').fill('Warehouse')
  await panel.getByRole('checkbox', { name: 'All inbox events' }).uncheck()
  await panel.getByRole('button', { name: 'Add header' }).click()
  await panel.getByRole('textbox', { name: 'Name' }).fill('X-Team')
  await panel.getByRole('textbox', { name: 'Value' }).fill('sales')
  await panel.getByRole('button', { name: 'Create', exact: true }).click()

  const shown = page.getByRole('dialog', { name: 'Signing secret for Warehouse' })
  const secret = await shown.getByRole('textbox', { name: 'Signing secret' }).inputValue()
  await shown.getByRole('button', { name: 'I saved it' }).click()

  await page.getByRole('heading', { name: 'Warehouse' }).waitFor()
  receiver.answer(() => ({ status: 200, body: 'thank you' }))
  await page.getByRole('button', { name: 'Send test event' }).click()
  const tests = page.getByRole('dialog', { name: 'Send test event' })
  await tests.getByRole('button', { name: 'Send', exact: true }).click()
  await tests.getByText('Response 200').waitFor()
  await tests.getByText('thank you').waitFor()
  const [first] = receiver.received
  assert.ok(first)
  assert.equal(first.event, 'lead.created')
  assert.equal(first.headers['x-team'], 'sales')
  assert.ok(verifyWebhook(secret, first, new Date()))
  await tests.getByRole('button', { name: 'Close' }).last().click()
  await page.getByRole('button', { name: /Delivered.*Lead created/ }).waitFor()
  const lead = { firstName: 'Marina' }
  await demo.call('POST', '/api/v1/leads', lead, { authorization: `Bearer ${demo.apiKey}` })
  await receiver.reached(2)
  const second = receiver.received[1]
  assert.ok(second && verifyWebhook(secret, second, new Date()))
  assert.equal(second.body.firstName, 'Marina')
  await page
    .getByRole('button', { name: /Delivered.*Lead created/ })
    .nth(1)
    .waitFor()
})
