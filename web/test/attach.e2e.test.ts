import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { allowLoadFailure, phone } from './support/browser.ts'
import { field, newWriter, thread, type Writer, waitUntil } from './support/composing.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()
// 8×8 pixels, lighter to the right.
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAAAAADhZOFXAAAAFElEQVR42mNgkLOJqpi25RIDZQwAihUaQZwDEoIAAAAASUVORK5CYII='
const picture = (name: string) => ({ name, mimeType: 'image/png', buffer: Buffer.from(png, 'base64') })
const [beach, garden] = [picture('beach.png'), picture('garden.png')]

const tray = (page: Page) => page.getByRole('region', { name: 'Files to send' })
const send = (page: Page) => page.getByRole('button', { name: 'Send', exact: true })
const chosen = (page: Page) => page.getByRole('button', { name: 'Attach files' })

/** Creates a dragged or pasted file in the browser. */
const carried = (name: string) => `(() => {
  const bytes = Uint8Array.from(atob('${png}'), (letter) => letter.charCodeAt(0))
  const data = new DataTransfer()
  data.items.add(new File([bytes], '${name}', { type: 'image/png' }))
  return data
})()`

/** Our messages on the customer's phone. */
// biome-ignore lint/suspicious/noExplicitAny: untyped response of the simulator
async function onPhone({ number }: Writer): Promise<any[]> {
  const { body } = await demo.call('GET', `${demo.simulatorUrl}/simulator/customers`)
  const { id } = body.customers.find((one: { phone: string }) => one.phone === number)
  return (await demo.call('GET', `${demo.simulatorUrl}/simulator/customers/${id}`)).body.messages
}
const ours = async (writer: Writer) => (await onPhone(writer)).filter(({ from }) => from === 'business')

test('a failed upload is retried by a click, later files wait for it, and everything is sent once', async () => {
  const eva = await newWriter(demo, 'Eva Dias', 'And?')
  const { page, context } = await demo.open(eva.place)
  await chosen(page).and(page.locator(':enabled')).waitFor()
  allowLoadFailure(page)
  await context.route('**/uploads?*name=beach.png*', (route) => route.abort())
  await page.locator('section input[type=file][multiple]').setInputFiles([beach, garden])
  await tray(page).getByText('Couldn’t upload').waitFor()
  await assertAccessible(page)
  await field(page).fill('Both')
  await send(page).click()
  await tray(page).getByText('Waiting for the previous file…').waitFor()
  await context.unroute('**/uploads?*name=beach.png*')
  await tray(page).getByRole('button', { name: 'Try again: beach.png' }).click()
  await waitUntil(() => ours(eva), { length: 2 })
  const captions = (await ours(eva)).map(({ file, caption }) => [file?.kind, caption])
  assert.deepEqual(captions, [
    ['image', 'Both'],
    ['image', null],
  ])
})

test('files can be dropped on the pane and pasted into the field, and survive navigation', async () => {
  const gil = await newWriter(demo, 'Gil Neto', 'Look')
  const ivo = await newWriter(demo, 'Ivo Neto', 'Hello')
  const { page } = await demo.open(gil.place)
  await chosen(page).and(page.locator(':enabled')).waitFor()
  const given = await page.evaluateHandle(carried('beach.png'))
  const log = thread(page).getByRole('log')
  await log.dispatchEvent('dragenter', { dataTransfer: given })
  await page.getByText('Drop files to send them to Gil Neto').waitFor()
  await log.dispatchEvent('drop', { dataTransfer: given })
  await tray(page).getByText('beach.png').waitFor()
  await page.evaluate(
    `document.querySelector('textarea').dispatchEvent(new ClipboardEvent('paste', {
      clipboardData: ${carried('image.png')}, bubbles: true, cancelable: true,
    }))`,
  )
  await tray(page).getByText('Pasted image.png').waitFor()
  await page.getByText('Ivo Neto').first().click()
  await thread(page).getByText('Hello').waitFor()
  assert.equal(await tray(page).count(), 0)
  await page.getByText('Gil Neto').first().click()
  await tray(page).getByText('Pasted image.png').waitFor()
  await tray(page).getByRole('button', { name: 'Remove Pasted image.png' }).click()
  await tray(page).getByRole('button', { name: 'Remove beach.png' }).click()
  await tray(page).waitFor({ state: 'detached' })
  assert.deepEqual([await ours(gil), await ours(ivo)], [[], []])
})

test('a voice message is recorded, played, discarded, and sent as a voice message', async () => {
  const leo = await newWriter(demo, 'Leo Cruz', 'Call me')
  const { page } = await demo.open(leo.place)
  const record = page.getByRole('button', { name: 'Record voice message' })
  await record.and(page.locator(':enabled')).waitFor()
  await record.click()
  await page.getByRole('button', { name: 'Discard recording' }).click()
  await page.getByRole('region', { name: 'Recording' }).waitFor({ state: 'detached' })
  assert.equal(await tray(page).count(), 0)
  await record.click()
  await page.getByRole('timer').getByText('0:01').waitFor()
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Done' }).click()
  await tray(page).getByRole('button', { name: 'Play recording' }).click()
  await tray(page).getByRole('button', { name: 'Pause recording' }).waitFor()
  await assertAccessible(page)
  await send(page).click()
  const [voice] = await waitUntil(() => ours(leo), { length: 1 })
  assert.deepEqual([voice?.file?.kind, voice?.file?.mimeType.split(';')[0]], ['voice', 'audio/ogg'])
  await tray(page).waitFor({ state: 'detached' })
})

test('a message is quoted by a button or by swiping', async () => {
  const mia = await newWriter(demo, 'Mia Rocha', 'Blue or green?')
  const { page } = await demo.open(mia.place)
  await thread(page).getByRole('log').getByText('Blue or green?').hover()
  await thread(page).getByRole('button', { name: 'Reply to this message' }).first().click()
  await page.getByText('Replying to Mia Rocha').waitFor()
  await page.keyboard.type('Blue.')
  await page.keyboard.press('Enter')
  const asked = (await onPhone(mia))[0]
  const [answer] = await waitUntil(() => ours(mia), { length: 1 })
  assert.deepEqual([answer?.text, answer?.quotes], ['Blue.', asked?.id])

  const { page: small } = await demo.open(mia.place, { viewport: phone })
  const row = thread(small).getByRole('log').getByText('Blue or green?').first()
  await thread(small).getByRole('button', { name: 'Reply to this message' }).first().waitFor({ state: 'attached' })
  const finger = { pointerType: 'touch', pointerId: 7, bubbles: true, isPrimary: true, clientY: 300 }
  await row.dispatchEvent('pointerdown', { ...finger, clientX: 100 })
  for (const clientX of [120, 150, 180]) await row.dispatchEvent('pointermove', { ...finger, clientX })
  await row.dispatchEvent('pointerup', { ...finger, clientX: 180 })
  await small.getByText('Replying to Mia Rocha').waitFor()
})

test('a reaction is added and removed by keyboard, also one added by a teammate meanwhile', async () => {
  const zoe = await newWriter(demo, 'Zoe Lopes', 'I love it')
  const { page } = await demo.open(zoe.place)
  const react = thread(page).getByRole('button', { name: 'React to this message' }).first()
  const choices = page.getByRole('dialog', { name: 'Reactions' })
  const reaction = async () => (await onPhone(zoe))[0]?.reactions.business ?? null
  await react.focus()
  await page.keyboard.press('Enter')
  await choices.waitFor()
  await assertAccessible(page)
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Enter')
  await waitUntil(reaction, '❤️')
  await react.click()
  await choices.getByRole('button', { name: 'React with 👍' }).waitFor()
  const { page: teammate } = await demo.open(zoe.place)
  await thread(teammate).getByRole('button', { name: 'React to this message' }).first().click()
  await teammate.getByRole('button', { name: 'React with 👍' }).click()
  await choices.getByRole('button', { name: 'Remove 👍' }).click()
  await waitUntil(reaction, null)
})
