import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible } from './support/accessibility.ts'
import { letLoadingFail } from './support/browser.ts'
import { field, newWriter, noteField, thread, until } from './support/composing.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()
const inboxPath = `/workspaces/${demo.workspaceId}/inbox/conversations`
const agent = { authorization: `Bearer ${demo.apiKey}` }
const newCustomer = (name: string, text: string, ownedBy?: 'agent') => newWriter(demo, name, text, ownedBy)

test('a draft survives going elsewhere and a reload, and a note names a colleague', async () => {
  const lea = await newCustomer('Lea Alves', 'Hello')
  const { page } = await demo.open(lea.place)
  await field(page).fill('Half a tho')
  await page.keyboard.press('Escape')
  await page.keyboard.press('n')
  await noteField(page).waitFor()
  await page.keyboard.type('@')
  await page.getByRole('listbox', { name: 'Colleagues' }).waitFor()
  await page.keyboard.press('Enter')
  await page.keyboard.type('please look')
  await page.reload()
  await noteField(page).waitFor()
  const typed = await noteField(page).inputValue()
  assert.match(typed, /^@.+ please look$/)
  await noteField(page).press('Enter')
  const added = async () => (await demo.team('GET', `${inboxPath}/${lea.id}/notes`)).notes
  const notes = await until(added, (all) => all.length > 0)
  await thread(page).getByRole('log').getByText('please look').waitFor()
  assert.deepEqual([notes.length, notes[0].mentions.length], [1, 1])
  await page.getByRole('button', { name: 'Reply', exact: true }).click()
  assert.equal(await field(page).inputValue(), 'Half a tho')
  assert.deepEqual(await lea.heard(), [])
})

test('a canned reply is found behind a slash and filled with who the customer is', async () => {
  await demo.team('POST', `/workspaces/${demo.workspaceId}/canned-replies`, {
    shortcut: 'hours',
    text: 'Hi {{contact.first_name}}, we are open from 9 to 18.',
  })
  const ivo = await newCustomer('Ivo Maia', 'When?')
  const { page } = await demo.open(ivo.place)
  await field(page).fill('/ho')
  await page.getByRole('option', { name: /hours/ }).waitFor()
  await assertAccessible(page)
  await page.keyboard.press('Enter')
  assert.equal(await field(page).inputValue(), 'Hi Ivo, we are open from 9 to 18.')
  await field(page).press('Enter')
  await until(ivo.heard, { length: 1 })
})

test('what somebody wrote in the last moment stops a reply until it is read', async () => {
  const eva = await newCustomer('Eva Pinto', 'I take two.')
  const { page, context } = await demo.open(eva.place)
  await thread(page).getByText('I take two.').waitFor()
  await field(page).fill('Two it is.')
  letLoadingFail(page)
  // The stream is held, so that the page does not hear of the new message before the reply goes.
  await context.route('**/timeline*', (route) => route.abort())
  await eva.write('No, three!')
  await until(
    async () => (await demo.team('GET', `${inboxPath}/${eva.id}`)).conversation.lastMessage.text,
    'No, three!',
  )
  await field(page).press('Enter')
  const line = page.getByRole('alert').filter({ hasText: 'Somebody has written in the meantime' })
  await line.getByText('No, three!').waitFor()
  assert.equal(await field(page).inputValue(), 'Two it is.')
  assert.deepEqual(await eva.heard(), [])
  await context.unroute('**/timeline*')
  await field(page).fill('Three it is.')
  await line.getByRole('button', { name: 'Send anyway' }).click()
  await until(eva.heard, { length: 1 })
  assert.deepEqual(await eva.heard(), ['Three it is.'])
})

test('whoever is no lead becomes one, and what matters of it is changed in place', async () => {
  const bia = await newCustomer('Bia Rocha', 'Hi')
  const { page } = await demo.open(bia.place)
  await page.getByRole('button', { name: 'Create a lead' }).click()
  const value = page.getByRole('textbox', { name: 'Estimated value' })
  await value.fill('1.500,50')
  await page.getByText('Read as 1,500.50').waitFor()
  await value.press('Enter')
  const lead = async () => (await demo.team('GET', `/workspaces/${demo.workspaceId}/leads/${bia.number}`)).lead
  const { id } = await until(lead, { estimatedValue: 1500.5, source: 'chat_app' })
  await demo.call('PATCH', `/api/v1/leads/${id}`, { status: 'won' }, agent)
  await page.getByText('New → Won').waitFor()
})
