import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startReceiver } from '../../server/test/support/webhooks/webhook-receiver.ts'
import { confirmByTyping, pickItem } from './support/actions.ts'
import { waitUntil } from './support/composing.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await (await sharedDemo()).newWorkspace()
const receiver = await startReceiver()
const newLead = (firstName: string) =>
  demo.call('POST', '/api/v1/leads', { firstName }, { authorization: `Bearer ${demo.apiKey}` })
await demo.team('POST', `/workspaces/${demo.workspaceId}/webhooks`, {
  url: receiver.url,
  events: ['lead.*'],
  headers: { 'X-Team': 'sales' },
  description: 'Warehouse',
})
await newLead('Bento')
await receiver.reached(1)

test('a failing delivery shows its response, is counted in the rail, and is sent again', async () => {
  const { page } = await demo.open('home')
  const streamOpen = Promise.withResolvers<void>()
  await page.route('**/live*', async (route) => {
    await streamOpen.promise
    await route.continue()
  })
  await page.goto(`${demo.url}/w/${demo.workspaceId}/webhooks`)
  await page.getByRole('row', { name: /Warehouse.*Active/ }).waitFor()
  receiver.answer(() => ({ status: 500, body: 'out of paper' }))
  await newLead('Marina')
  await waitUntil(
    () => demo.team('GET', `/workspaces/${demo.workspaceId}/webhooks`),
    ({ endpoints }) => endpoints[0].health.failuresInARow > 0,
  )
  // Events before the stream was open are not announced.
  streamOpen.resolve()
  await page.getByRole('row', { name: /Warehouse.*Failing/ }).waitFor()
  await page.getByRole('link', { name: 'Webhooks: 1 webhook failing' }).waitFor()
  await page.getByRole('button', { name: 'Warehouse' }).click()
  await page.getByRole('radiogroup', { name: 'Filter by status' }).getByText('Pending').click()
  await page.getByRole('button', { name: /Pending.*Response 500/ }).click()
  const panel = page.getByRole('dialog', { name: 'Lead created' })
  await panel.getByText('out of paper').first().waitFor()
  await panel.getByText('"firstName": "Marina"').waitFor()
  await panel.getByText('x-team: …').waitFor()

  receiver.answer(() => ({ status: 204 }))
  await panel.getByRole('button', { name: 'Resend' }).click()
  await panel.getByText('Response 204').waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('No deliveries match these filters.').waitFor()
  await page.getByRole('link', { name: 'Webhooks', exact: true }).waitFor()
})

test('an endpoint is changed, gets a new secret, is disabled, enabled with missed events, and deleted', async () => {
  const { page } = await demo.open('webhooks')
  await page.getByRole('button', { name: 'Warehouse' }).click()
  const more = (name: string) => pickItem(page.getByRole('button', { name: 'More' }), { name })
  const panel = page.getByRole('dialog')
  await more('Edit')
  await panel.getByText('Set: X-Team.').waitFor()
  await panel.getByLabel('Description').fill('Depot')
  await panel.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'Depot' }).waitFor()

  await more('Rotate secret')
  await panel.getByRole('button', { name: 'Rotate secret' }).click()
  const shown = page.getByRole('dialog', { name: 'Signing secret for Depot' })
  assert.match(await shown.getByRole('textbox', { name: 'Signing secret' }).inputValue(), /^whsec_/)
  await shown.getByRole('button', { name: 'I saved it' }).click()

  await more('Disable')
  await panel.getByRole('button', { name: 'Disable' }).click()
  await page.getByText('No events are sent.').waitFor()
  const before = receiver.received.length
  await newLead('Missed')
  await page.getByRole('button', { name: 'Enable' }).click()
  await panel.getByRole('button', { name: 'Enable' }).click()
  await receiver.reached(before + 1)
  assert.equal(receiver.received.at(-1)?.body.firstName, 'Missed')

  await page.getByRole('radiogroup', { name: 'Webhook' }).getByText('Charts').click()
  await page.getByRole('button', { name: 'Events: Show as a table' }).click()
  await page.getByRole('figure', { name: 'Events' }).getByRole('columnheader', { name: 'Delivered' }).waitFor()
  await more('Delete')
  await confirmByTyping(page, 'Delete Depot?', 'Depot')
  await page.getByText('No webhooks yet').waitFor()
})
