import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startReceiver } from '../../server/test/support/webhooks/webhook-receiver.ts'
import { assertAccessible } from './support/accessibility.ts'
import { confirmByTyping, pickItem } from './support/actions.ts'
import { until } from './support/composing.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await (await sharedDemo()).newWorkspace()
const receiver = await startReceiver()
const leads = `/api/v1/leads`
const newLead = async (firstName: string) => {
  const made = await demo.call('POST', leads, { firstName }, { authorization: `Bearer ${demo.apiKey}` })
  assert.equal(made.status, 201)
  return made.body.data as { id: string }
}
const description = 'Warehouse'
const { endpoint } = await demo.team('POST', `/workspaces/${demo.workspaceId}/webhooks`, {
  url: receiver.url,
  events: ['lead.*'],
  headers: { 'X-Team': 'sales' },
  description,
})
const view = (page: Page, name: string) => page.getByRole('radiogroup', { name: 'Endpoint' }).getByText(name).click()

test('deliveries show seconds, and are found by lead and by answer', async () => {
  receiver.answer(() => ({ status: 200, body: 'yes' }))
  const lead = await newLead('Bento')
  await receiver.reached(1)
  const { page } = await demo.open(`webhooks/${endpoint.id}`)
  const list = page.getByRole('list', { name: 'Deliveries' })
  await list.getByRole('button', { name: /Lead created.*\d:\d\d:\d\d.*Response 200/ }).waitFor()
  const find = page.getByRole('searchbox', { name: 'Search deliveries' })
  const search = async (typed: string) => {
    await find.fill(typed)
    await find.press('Enter')
  }
  await search('lead')
  await page.getByText(/Type a whole id/).waitFor()
  await search('5xx')
  await page.getByText('None matches the filter.').waitFor()
  await search('2xx')
  await list.getByRole('button').first().waitFor()
  await search(lead.id)
  await page.waitForURL(new RegExp(`find=${lead.id}`))
  await list.getByRole('button', { name: /Lead created/ }).waitFor()
  await assertAccessible(page)
})

test('a failing delivery is seen with what came back, counted at the rail, and sent again', async () => {
  const { page } = await demo.open('home')
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

  receiver.answer(() => ({ status: 204 }))
  await panel.getByRole('button', { name: 'Send again' }).click()
  await panel.getByText('Response 204').waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('None matches the filter.').waitFor()
  await page.getByRole('link', { name: 'Webhooks', exact: true }).waitFor()
})

test('an endpoint is changed, given a new secret, disabled, enabled with what it missed, and deleted', async () => {
  const { page } = await demo.open('webhooks')
  await page.getByRole('button', { name: 'Warehouse' }).click()
  const more = async (item: string) => {
    await pickItem(page.getByRole('button', { name: 'More' }), { name: item })
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

  await more('Delete')
  assert.equal(await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).isDisabled(), true)
  await confirmByTyping(page, 'Delete Depot?', 'Depot')
  await page.getByText('No webhooks yet').waitFor()
})
