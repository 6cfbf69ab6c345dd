import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { sharedDemo } from './support/demo.ts'
import { newCustomer, waitForAll } from './support/inbox.ts'

const demo = await sharedDemo()
const simulator = `${demo.simulatorUrl}/simulator`

/** Creates a customer whose phone can send anything, in a new conversation. */
async function sender(name: string, number: string) {
  const customer = await newCustomer(demo, name, number)
  const says = async (said: object): Promise<string> => {
    const { status, body } = await demo.call('POST', `${simulator}/customers/${customer.id}/messages`, said)
    assert.equal(status, 201, JSON.stringify(body))
    return body.id
  }
  await says({ kind: 'text', text: 'Hello!' })
  const sends = async (kind: string, name: string, text = '') => {
    const { fileId } = (await demo.call('POST', `${simulator}/files/made`, { name })).body
    await says({ kind, text, fileId })
  }
  return { says, sends }
}

async function open(name: string) {
  const visit = await demo.open('inbox')
  await visit.page.getByRole('link', { name: new RegExp(name) }).click()
  await visit.page.getByRole('log').getByText('Hello!').waitFor()
  return { ...visit, thread: visit.page.getByRole('log') }
}

async function untilLoaded(image: Locator): Promise<void> {
  await image.waitFor()
  // Rejects if it is not an image.
  await image.evaluate((one) => (one as unknown as { decode(): Promise<void> }).decode())
}

test('a photo keeps its reserved size, opens by keyboard, moves to the next, zooms, and closes at the same position', async () => {
  const rita = await sender('Rita Alves', '5511930000001')
  await rita.sends('image', 'photo', 'Is this the one?')
  await rita.sends('image', 'chart')
  const { page, thread } = await open('Rita Alves')
  const first = thread.getByRole('button', { name: 'Open: Photo from Rita Alves' }).first()
  await untilLoaded(first.getByRole('img', { name: 'Photo from Rita Alves' }))
  const room = await first.boundingBox()
  assert.deepEqual([Math.round(room?.width ?? 0), Math.round(room?.height ?? 0)], [320, 240])
  await thread.getByText('Is this the one?').waitFor()

  await first.focus()
  await page.keyboard.press('Enter')
  const viewer = page.getByRole('dialog', { name: 'Viewer' })
  await viewer.getByText('1 of 2').waitFor()
  await untilLoaded(viewer.getByRole('img', { name: 'Photo from Rita Alves' }).last())
  await page.keyboard.press('ArrowRight')
  await viewer.getByText('2 of 2').waitFor()
  await page.keyboard.press('ArrowLeft')
  await viewer.getByText('1 of 2').waitFor()
  const image = viewer.getByRole('img', { name: 'Photo from Rita Alves' }).last()
  await untilLoaded(image)
  await page.keyboard.press('+')
  await page.locator('dialog img[style*="scale(1.5)"]').waitFor()
  await page.keyboard.press('-')
  await assertAccessible(page)
  await page.keyboard.press('Escape')
  await viewer.waitFor({ state: 'detached' })
  assert.equal(await first.evaluate((one) => one.matches(':focus')), true)
})

test('a voice note plays with waveform and speed, and continues on other pages', async () => {
  const vera = await sender('Vera Prado', '5511930000002')
  await vera.sends('voice', 'voice')
  const { page, thread } = await open('Vera Prado')
  await thread.getByRole('button', { name: /^Play: Voice message from Vera Prado/ }).click()
  const bar = page.getByRole('region', { name: 'Player' })
  await bar.waitFor()
  await thread.getByRole('button', { name: 'Speed: 1×' }).click()
  await thread.getByRole('button', { name: 'Speed: 1.5×' }).waitFor()
  await page.getByRole('link', { name: 'Leads' }).first().click()
  await page.getByRole('heading', { name: 'Leads' }).waitFor()
  await bar.getByText(/Voice message from Vera Prado/).waitFor()
  await bar.getByRole('link').click()
  await page.waitForURL(/\/inbox\//)
  await thread.getByRole('slider', { name: 'Position' }).waitFor()
  await bar.getByRole('button', { name: 'Stop and close player' }).click()
  await bar.waitFor({ state: 'detached' })
})

test('a quote scrolls far back to its message; reactions, edits and deletions appear on the message', async () => {
  const nina = await sender('Nina Costa', '5511930000005')
  const far = await nina.says({ kind: 'text', text: 'The very first thing' })
  for (let n = 1; n <= 70; n++) await nina.says({ kind: 'text', text: `Line ${n}` })
  await nina.says({ kind: 'text', text: 'About that', about: far })
  const edited = await nina.says({ kind: 'text', text: 'At five' })
  await nina.says({ kind: 'edit', text: 'At six', about: edited })
  const gone = await nina.says({ kind: 'text', text: 'Never mind' })
  await nina.says({ kind: 'revoke', about: gone })
  await waitForAll(demo)
  const { page } = await demo.open('inbox')
  await page.getByRole('link', { name: /Nina Costa/ }).click()
  const thread = page.getByRole('log')
  await thread.locator('[data-by]').first().waitFor()
  // It opens at the first unread message, far from its end.
  await page.getByRole('button', { name: /Jump to latest|New messages/ }).click()
  await thread.getByText('At six').waitFor()
  await thread.getByRole('button', { name: /^Edited/ }).click()
  await page.getByRole('dialog', { name: 'Previous version' }).getByText('At five').waitFor()
  await page.keyboard.press('Escape')
  await thread
    .getByText(/Deleted|deleted this/)
    .first()
    .waitFor()
  await thread.getByRole('button', { name: /The very first thing/ }).click()
  const first = thread.getByText('The very first thing').first()
  await first.waitFor()
  await page.locator('[id^=message-]:focus').waitFor()
})
