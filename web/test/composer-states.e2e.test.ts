import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { pickItem } from './support/actions.ts'
import { letLoadingFail, visitOf } from './support/browser.ts'
import { field, newWriter, until } from './support/composing.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()
const workspace = `/workspaces/${demo.workspaceId}`
const inboxPath = `${workspace}/inbox/conversations`
const hourMs = 3_600_000

const keptHere = (page: Page) =>
  page.evaluate(() => Object.keys(localStorage).filter((place) => /draft|sending|noting/.test(place)))

test('the window is counted down, and when it closes over a text that is being typed, that text can be gone on with', async () => {
  const lia = await newWriter(demo, 'Lia Moura', 'See you tomorrow')
  const expiresAt = (await demo.team('GET', `${inboxPath}/${lia.id}`)).conversation.windowExpiresAt
  const { page } = await demo.open('inbox', { isAlone: true })
  // Only the browser's clock runs ahead.
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
  await page.getByText(/^The 24-hour window is closed\..* Your text is kept\.$/).waitFor()
  // Neither lost, nor taken for the keys that resolve, snooze and assign.
  await page.keyboard.type('sentence, eza')
  assert.equal(await field(page).inputValue(), 'Half a sentence, eza')
  await page.keyboard.press('Enter')
  await assertAccessible(page)
  assert.equal(await chip.count(), 0)
  assert.equal((await demo.team('GET', `${inboxPath}/${lia.id}`)).conversation.status, 'open')
  assert.deepEqual(await lia.heard(), [])
})

test('a closed inbox says so at once to whoever writes, and where it is opened; what waits is sent then, once', async () => {
  const eli = await newWriter(demo, 'Eli Nunes', 'Hello?')
  const { page } = await demo.open(eli.place)
  await field(page).fill('Good evening')
  await demo.team('PATCH', workspace, { inboxAvailable: false })
  const line = page.getByRole('status').filter({ hasText: 'An owner has closed the inbox' })
  await line.getByRole('link', { name: 'Open the settings' }).waitFor()
  await assertAccessible(page)
  await field(page).press('Enter')
  await demo.team('PATCH', workspace, { inboxAvailable: true })
  await line.waitFor({ state: 'detached' })
  await field(page).press('Enter')
  await until(eli.heard, { length: 1 })
  await demo.team('PATCH', workspace, { agentsStopped: true })
  await page.getByText('Agents are stopped').waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('h')
  await page.getByRole('dialog').getByRole('link', { name: 'Open the settings' }).waitFor()
  await demo.team('PATCH', workspace, { agentsStopped: false })
})

test('whoever signs out leaves nothing that they wrote in the browser, nor does what is still on its way', async () => {
  const ivy = await newWriter(demo, 'Ivy Rosa', 'Hi')
  const { page, context } = await visitOf(demo.browser, {})
  const { url } = await demo.team('POST', '/sign-in-links', { email: await ownerEmail() })
  await page.goto(url)
  await page.getByRole('button').first().click()
  await page.getByRole('link', { name: 'Later' }).click()
  await page.getByRole('navigation').first().waitFor()
  await page.goto(`${demo.url}/w/${demo.workspaceId}/${ivy.place}`)
  letLoadingFail(page)
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
  // The other tab goes too, and puts nothing back.
  await isAtSignIn(other)
  assert.deepEqual(await keptHere(other), [])
  await context.close()
})

/** Each tab goes there by itself, and because the other went: the second way ends the first. */
async function isAtSignIn(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  await page.waitForURL(/\/sign-in/)
}

async function ownerEmail(): Promise<string> {
  const { members } = await demo.team('GET', `${workspace}/members`)
  return members.find(({ role }: { role: string }) => role === 'owner').email
}
