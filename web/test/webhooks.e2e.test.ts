import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { verifyWebhook } from '../../server/test/support/webhooks/verify-webhook.ts'
import { startReceiver } from '../../server/test/support/webhooks/webhook-receiver.ts'
import { until } from './support/composing.ts'
import { issuesInSchemes, phone, picture, sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()
const receiver = await startReceiver()
const leads = `/api/v1/leads`
const newLead = async (firstName: string) => {
  const made = await demo.call('POST', leads, { firstName }, { authorization: `Bearer ${demo.apiKey}` })
  assert.equal(made.status, 201)
}
const view = (page: Page, name: string) => page.getByRole('radiogroup', { name: 'Endpoint' }).getByText(name).click()

test('a webhook is made, its secret verifies a test event, and the answer is shown', async () => {
  const { page, problems } = await demo.open('webhooks')
  await page.getByText('No webhooks yet').waitFor()
  await page.keyboard.press('c')
  const panel = page.getByRole('dialog')
  await panel.getByRole('button', { name: 'New webhook' }).click()
  await panel.getByText('Fill this in.').waitFor()
  await panel.getByLabel('URL').fill(receiver.url)
  await panel.getByLabel('Description').fill('Warehouse')
  await panel.getByRole('checkbox', { name: 'All of the inbox' }).uncheck()
  await panel.getByRole('button', { name: 'Add a header' }).click()
  await panel.getByRole('textbox', { name: 'Name' }).fill('X-Team')
  await panel.getByRole('textbox', { name: 'Value' }).fill('sales')
  await picture(page, 'webhooks-new')
  await panel.getByRole('button', { name: 'New webhook' }).click()

  const shown = page.getByRole('dialog', { name: 'The secret of Warehouse' })
  const secret = await shown.getByRole('textbox', { name: 'Signing secret' }).inputValue()
  await picture(page, 'webhooks-secret')
  await shown.getByRole('button', { name: 'I have saved it' }).click()

  await page.getByRole('heading', { name: 'Warehouse' }).waitFor()
  receiver.answer(() => ({ status: 200, body: 'thank you' }))
  await page.getByRole('button', { name: 'Send a test event' }).click()
  const tests = page.getByRole('dialog', { name: 'Send a test event' })
  await tests.getByRole('button', { name: 'Send', exact: true }).click()
  await tests.getByText('Response 200').waitFor()
  await tests.getByText('thank you').waitFor()
  await picture(page, 'webhooks-test')
  const [first] = receiver.received
  assert.ok(first)
  assert.equal(first.event, 'lead.created')
  assert.equal(first.headers['x-team'], 'sales')
  assert.ok(verifyWebhook(secret, first, new Date()))
  await tests.getByRole('button', { name: 'Close' }).last().click()
  await page.getByRole('button', { name: /Delivered.*Lead created/ }).waitFor()
  assert.deepEqual(problems, [])
})

test('a failing delivery is seen with what came back, counted at the rail, and sent again', async () => {
  const { page, problems } = await demo.open('home')
  const heard = Promise.withResolvers<void>()
  await page.route('**/live*', async (route) => {
    await heard.promise
    await route.continue()
  })
  await page.goto(`${demo.url}/w/${demo.workspaceId}/webhooks`)
  await page.getByRole('row', { name: /Warehouse.*Working/ }).waitFor()
  receiver.answer(() => ({ status: 500, body: 'out of paper' }))
  await newLead('Marina')
  await until(
    () => demo.team('GET', `/workspaces/${demo.workspaceId}/webhooks`),
    ({ endpoints }) => endpoints[0].health.failuresInARow > 0,
  )
  // What came before the page heard of news is told to nobody.
  heard.resolve()
  await page.getByRole('row', { name: /Warehouse.*Failing/ }).waitFor()
  await page.getByRole('link', { name: 'Webhooks: 1 endpoint in trouble' }).waitFor()
  await page.getByRole('button', { name: 'Warehouse' }).click()
  await page.getByRole('radiogroup', { name: 'Filter by state' }).getByText('Waiting').click()
  await page.getByRole('button', { name: /Waiting.*Response 500/ }).click()
  const panel = page.getByRole('dialog', { name: 'Lead created' })
  await panel.getByText('out of paper').first().waitFor()
  await panel.getByText('"firstName": "Marina"').waitFor()
  await panel.getByText('x-team: …').waitFor()
  await picture(page, 'webhooks-delivery')

  receiver.answer(() => ({ status: 204 }))
  await panel.getByRole('button', { name: 'Send again' }).click()
  await panel.getByText('Response 204').waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('None matches the filter.').waitFor()
  await page.getByRole('link', { name: 'Webhooks', exact: true }).waitFor()
  assert.deepEqual(problems, [])
})

test('an endpoint is changed, given a new secret, disabled, enabled with what it missed, and deleted', async () => {
  const { page, problems } = await demo.open('webhooks')
  await page.getByRole('button', { name: 'Warehouse' }).click()
  const more = async (item: string) => {
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  await more('Edit')
  const panel = page.getByRole('dialog')
  await panel.getByText('Set: X-Team.').waitFor()
  await panel.getByLabel('Description').fill('Depot')
  await panel.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'Depot' }).waitFor()

  await more('Rotate secret')
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
  const shown = page.getByRole('dialog', { name: 'The secret of Depot' })
  assert.match(await shown.getByRole('textbox', { name: 'Signing secret' }).inputValue(), /^whsec_/)
  await shown.getByRole('button', { name: 'I have saved it' }).click()
  await view(page, 'Settings')
  await page.getByText(/2 active secrets · The old one is valid until/).waitFor()

  await more('Disable')
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
  await page.getByText('Nothing is sent.').waitFor()
  const before = receiver.received.length
  await newLead('Missed')
  await page.getByRole('button', { name: 'Enable' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Enable' }).click()
  await receiver.reached(before + 1)
  assert.equal(receiver.received.at(-1)?.body.firstName, 'Missed')

  await more('Replay events')
  await page.getByRole('dialog').getByLabel('All events').check()
  const sent = receiver.received.length
  await page.getByRole('dialog').getByRole('button', { name: 'Replay' }).click()
  await receiver.reached(sent + 2)
  await view(page, 'Charts')
  await page.getByRole('figure', { name: 'Events' }).waitFor()
  await page.getByRole('button', { name: 'Events: Show as a table' }).click()
  await page.getByRole('figure', { name: 'Events' }).getByRole('columnheader', { name: 'Delivered' }).waitFor()
  assert.deepEqual(problems, [])
})

test('the pages of webhooks are usable without eyes or a mouse, in both schemes and on a phone', async () => {
  for (const options of [{}, { viewport: phone }]) {
    const { page, problems } = await demo.open('webhooks', options)
    await page.getByRole('table').waitFor()
    assert.deepEqual(await issuesInSchemes(page, 'webhooks'), [])
    await page.getByRole('button', { name: 'Depot' }).click()
    await page.getByRole('list', { name: 'Deliveries' }).getByRole('button').first().waitFor()
    assert.deepEqual(await issuesInSchemes(page, 'webhooks-deliveries'), [])
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByText('Attempt 1').waitFor()
    assert.deepEqual(await issuesInSchemes(page, 'webhooks-delivery'), [])
    await page.keyboard.press('Escape')
    await view(page, 'Charts')
    await page.getByRole('figure', { name: 'Events' }).locator('rect').first().waitFor()
    assert.deepEqual(await issuesInSchemes(page, 'webhooks-charts'), [])
    await view(page, 'Settings')
    await page.getByText('Masked').or(page.getByText('Sent in full')).first().waitFor()
    assert.deepEqual(await issuesInSchemes(page, 'webhooks-settings'), [])
    await page.keyboard.press('e')
    await page.getByRole('dialog').getByLabel('URL').waitFor()
    assert.deepEqual(await issuesInSchemes(page, 'webhooks-edit'), [])
    assert.deepEqual(problems, [])
  }
})

test('an endpoint is deleted only when its name was typed', async () => {
  const { page } = await demo.open('webhooks')
  await page.getByRole('button', { name: 'Depot' }).click()
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  const ask = page.getByRole('dialog', { name: 'Delete Depot?' })
  assert.equal(await ask.getByRole('button', { name: 'Delete' }).isDisabled(), true)
  await ask.getByLabel('Type Depot to confirm').fill('Depot')
  await ask.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No webhooks yet').waitFor()
})
