import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { pickItem } from './support/actions.ts'
import { allowLoadFailure, visitOf } from './support/browser.ts'
import { field, newWriter, noteField, thread, waitUntil } from './support/composing.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()
const inboxPath = `/workspaces/${demo.workspaceId}/inbox/conversations`
const agent = { authorization: `Bearer ${demo.apiKey}` }
const newCustomer = (name: string, text: string, ownedBy?: 'agent') => newWriter(demo, name, text, ownedBy)

test('a draft survives navigation and a reload, and a note mentions a colleague', async () => {
  const lea = await newCustomer('Lea Alves', 'Hello')
  const { page } = await demo.open(lea.place)
  await field(page).fill('Half a tho')
  await page.keyboard.press('Escape')
  await page.keyboard.press('n')
  await noteField(page).waitFor()
  await page.keyboard.type('@')
  await page.getByRole('listbox', { name: 'Teammates' }).waitFor()
  await page.keyboard.press('Enter')
  await page.keyboard.type('please look')
  await page.reload()
  await noteField(page).waitFor()
  const typed = await noteField(page).inputValue()
  assert.match(typed, /^@.+ please look$/)
  await noteField(page).press('Enter')
  const added = async () => (await demo.team('GET', `${inboxPath}/${lea.id}/notes`)).notes
  const notes = await waitUntil(added, (all) => all.length > 0)
  await thread(page).getByRole('log').getByText('please look').waitFor()
  assert.deepEqual([notes.length, notes[0].mentions.length], [1, 1])
  await page.getByRole('button', { name: 'Reply', exact: true }).click()
  assert.equal(await field(page).inputValue(), 'Half a tho')
  assert.deepEqual(await lea.receivedMessages(), [])
})

test('a slash without a matching saved reply is not sent by Enter, and links to creating one', async () => {
  const ivo = await newCustomer('Ivo Reis', 'How much?')
  const { page } = await demo.open(ivo.place)
  for (const text of ['/', '/nothing']) {
    await field(page).fill('')
    await field(page).pressSequentially(text)
    const make = page.getByRole('link', { name: 'Create saved reply' })
    if (text !== '/') await make.waitFor()
    await field(page).press('Enter')
  }
  assert.equal(await field(page).inputValue(), '/nothing')
  await page.getByRole('link', { name: 'Create saved reply' }).click()
  await page.getByRole('heading', { name: 'Saved replies' }).first().waitFor()
  assert.deepEqual(await ivo.receivedMessages(), [])
})

test('a message that arrives at the last moment holds back a reply until it has been read', async () => {
  const eva = await newCustomer('Eva Pinto', 'I take two.')
  const { page, context } = await demo.open(eva.place)
  await thread(page).getByText('I take two.').waitFor()
  await field(page).fill('Two it is.')
  allowLoadFailure(page)
  // The stream is blocked, so that the page does not receive the new message before the reply is sent.
  await context.route('**/timeline*', (route) => route.abort())
  await eva.write('No, three!')
  await waitUntil(
    async () => (await demo.team('GET', `${inboxPath}/${eva.id}`)).conversation.lastMessage.text,
    'No, three!',
  )
  await field(page).press('Enter')
  const line = page.getByRole('alert').filter({ hasText: 'Someone replied in the meantime' })
  await line.getByText('No, three!').waitFor()
  assert.equal(await field(page).inputValue(), 'Two it is.')
  assert.deepEqual(await eva.receivedMessages(), [])
  await context.unroute('**/timeline*')
  await field(page).fill('Three it is.')
  await line.getByRole('button', { name: 'Send anyway' }).click()
  await waitUntil(eva.receivedMessages, { length: 1 })
  assert.deepEqual(await eva.receivedMessages(), ['Three it is.'])
})

test('a customer without a lead gets one, and its fields are edited in place', async () => {
  const bia = await newCustomer('Bia Rocha', 'Hi')
  const { page } = await demo.open(bia.place)
  await page.getByRole('button', { name: 'Create lead' }).click()
  const value = page.getByRole('textbox', { name: 'Estimated value' })
  await value.fill('1.500,50')
  await page.getByText('Will be saved as 1,500.50').waitFor()
  await value.press('Enter')
  const lead = async () => (await demo.team('GET', `/workspaces/${demo.workspaceId}/leads/${bia.number}`)).lead
  const { id } = await waitUntil(lead, { estimatedValue: 1500.5, source: 'chat_app' })
  await demo.call('PATCH', `/api/v1/leads/${id}`, { status: 'won' }, agent)
  await page.getByText('New → Won').waitFor()
})

const workspace = `/workspaces/${demo.workspaceId}`
const hourMs = 3_600_000

const keptHere = (page: Page) =>
  page.evaluate(() => Object.keys(localStorage).filter((place) => /draft|sending|noting/.test(place)))

test('the response window counts down, and text being typed when it closes can be continued', async () => {
  const lia = await newWriter(demo, 'Lia Moura', 'See you tomorrow')
  const expiresAt = (await demo.team('GET', `${inboxPath}/${lia.id}`)).conversation.windowExpiresAt
  const { page } = await demo.open('inbox', { isAlone: true })
  // Only the browser's clock is ahead.
  await page.clock.install({ time: Date.parse(expiresAt) - 3.5 * hourMs })
  await page.goto(`${demo.url}/w/${demo.workspaceId}/${lia.place}`)
  const chip = page.getByText(/^Closes in /)
  await page.getByText(/^Closes in 3 h (29|30) min/).waitFor()
  await page.clock.fastForward('02:40:00')
  await page.getByText(/^Closes in (49|50) min/).waitFor()
  await assertAccessible(page)
  await field(page).pressSequentially('Half a ')
  await page.clock.fastForward('00:50:30')
  await page.getByLabel('Search templates').waitFor()
  await page.getByText(/^The 24-hour window is closed\..* Your draft is saved\.$/).waitFor()
  // Neither lost nor handled as shortcuts for close, snooze and assign.
  await page.keyboard.type('sentence, eza')
  assert.equal(await field(page).inputValue(), 'Half a sentence, eza')
  await page.keyboard.press('Enter')
  await assertAccessible(page)
  assert.equal(await chip.count(), 0)
  assert.equal((await demo.team('GET', `${inboxPath}/${lia.id}`)).conversation.status, 'open')
  assert.deepEqual(await lia.receivedMessages(), [])
})

test('signing out removes everything the person wrote in the browser, including pending sends', async () => {
  const ivy = await newWriter(demo, 'Ivy Rosa', 'Hi')
  const { page, context } = await visitOf(demo.browser, {})
  const { url } = await demo.team('POST', '/sign-in-links', { email: await ownerEmail() })
  await page.goto(url)
  await page.getByRole('button').first().click()
  await page.getByRole('link', { name: 'Skip for now' }).click()
  await page.getByRole('navigation').first().waitFor()
  await page.goto(`${demo.url}/w/${demo.workspaceId}/${ivy.place}`)
  allowLoadFailure(page)
  await context.route('**/messages', (route) => route.abort())
  await field(page).fill('On its way')
  await field(page).press('Enter')
  await field(page).fill('Half a tho')
  const other = await context.newPage()
  await other.goto(page.url())
  await field(other).waitFor()
  assert.deepEqual((await keptHere(page)).map((place) => place.split('.')[1]).sort(), ['draft', 'sending'])
  await page.keyboard.press('Escape')
  await pickItem(page.getByRole('button', { name: /^You/ }), { name: 'Sign out' })
  await isAtSignIn(page)
  assert.deepEqual(await keptHere(page), [])
  // The other tab leaves too, and restores nothing.
  await isAtSignIn(other)
  assert.deepEqual(await keptHere(other), [])
  await context.close()
})

/** Waits for sign-in. Each tab navigates by itself and because of the other: the second navigation aborts the first. */
async function isAtSignIn(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  await page.waitForURL(/\/sign-in/)
}

async function ownerEmail(): Promise<string> {
  const { members } = await demo.team('GET', `${workspace}/members`)
  return members.find(({ role }: { role: string }) => role === 'owner').email
}
