import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible } from './support/accessibility.ts'
import { allowLoadFailure } from './support/browser.ts'
import { field, newWriter, thread, waitUntil } from './support/composing.ts'
import { openDemo } from './support/demo.ts'

// Tests that stop the server or move its clock.
const demo = await openDemo()
const inboxPath = `/workspaces/${demo.workspaceId}/inbox/conversations`

test('messages sent while the server is unreachable wait in order, survive a reload, and arrive once', async () => {
  const gil = await newWriter(demo, 'Gil Matos', 'Are you there?')
  const { page, context } = await demo.open(gil.place)
  await field(page).fill('First')
  allowLoadFailure(page)
  await context.route('**/messages', (route) => route.abort())
  await field(page).press('Enter')
  await field(page).fill('Second')
  await field(page).press('Enter')
  await thread(page).getByText('Second').waitFor()
  await field(page).fill('Third, in the middle of')
  await context.unroute('**/messages')
  const address = page.url()
  await demo.restart()
  await page.goto(address)
  await field(page).waitFor()
  assert.equal(await field(page).inputValue(), 'Third, in the middle of')
  // The simulated phones restart with the server, so the server is asked instead.
  const sent = async (): Promise<string[]> => {
    const { messages } = await demo.team('GET', `${inboxPath}/${gil.id}/messages`)
    return messages
      .filter((one: { direction: string }) => one.direction === 'outbound')
      .map((one: { text: string }) => one.text)
  }
  await waitUntil(sent, (texts) => texts.length >= 2)
  await waitUntil(
    () => page.evaluate(() => Object.keys(localStorage).join()),
    (keys) => !keys.includes('parley.sending'),
  )
  assert.deepEqual(await sent(), ['First', 'Second'])
})

test('with the window closed, a template is chosen, previewed and delivered', async () => {
  const [zoe, _ugo] = [await newWriter(demo, 'Zoe Lima', 'Back tomorrow'), await newWriter(demo, 'Ugo Leal', 'Bye')]
  const { page } = await demo.open(zoe.place)
  await field(page).fill('Are you back?')
  // In steps, since a session expires after half a day without use.
  for (const hours of [9, 9, 7]) {
    await demo.call('POST', `${demo.simulatorUrl}/simulator/clock`, { advanceMs: hours * 3_600_000 })
    if (hours === 9) await page.reload()
    await field(page).waitFor()
  }
  await field(page).press('Enter')
  await page.getByText(/^The 24-hour window is closed\..* Your draft is saved\.$/).waitFor()
  await page.getByLabel('Search templates').fill('order')
  await page.getByRole('button', { name: /^Order update/ }).click()
  await page.getByLabel('Value for {{first_name}}').fill('Zoe')
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Send template' }).click()
  await page.getByText('Enter a value').waitFor()
  await page.getByLabel('Value for {{order_id}}').fill('A-17')
  await page.getByRole('button', { name: 'Send template' }).click()
  await thread(page).getByText('Hi Zoe, your order A-17 ships today.').last().waitFor()
  await waitUntil(zoe.receivedMessages, { length: 1 })
  await zoe.write('Here I am')
  await page.getByLabel('Search templates').waitFor({ state: 'detached' })
  assert.equal(await field(page).inputValue(), 'Are you back?')
})
