import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newWriter, until } from './support/composing.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()

test('the palette goes to a page by its name, and G with a letter does too', async () => {
  const { page } = await demo.open()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('sett')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/settings$/)
  await page.keyboard.press('g')
  await page.keyboard.press('h')
  await page.waitForURL(/\/home$/)
  await until(
    () => page.title(),
    (title) => /^(\(\d+\) )?Home · Parley$/.test(title),
  )
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Go to Settings').waitFor()
})

test('one skips from the first Tab to the page, and from the list to the conversation', async () => {
  const ana = await newWriter(demo, 'Ana Salto', 'Hello')
  const { page } = await demo.open(ana.place)
  await page.getByRole('region', { name: /^Conversation with/ }).waitFor()
  await page.keyboard.press('Tab')
  const skip = page.getByRole('link', { name: 'Skip to the page' })
  await skip.and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Enter')
  await page.locator('main:focus').waitFor()
  await page.keyboard.press('Tab')
  await page.getByRole('link', { name: 'Skip to the conversation' }).and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Enter')
  await page.locator('#thread:focus').waitFor()
  assert.equal(await page.locator('[data-row][tabindex="0"]').count(), 1)
})

test('nothing of the app is loaded from elsewhere, and no script or style is inline', async () => {
  const { page } = await demo.open()
  const requests: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  const response = await page.reload()
  assert.match(String(response?.headers()['content-security-policy']), /script-src 'self';/)
  await page.getByRole('navigation').waitFor()
  assert.deepEqual(
    requests.filter((url) => !url.startsWith(demo.url) && !url.startsWith('data:')),
    [],
  )
})

test('a room typed without a workspace is that of the workspace', async () => {
  const { page } = await demo.open('leads')
  for (const room of ['inbox', 'settings']) {
    await page.goto(`${demo.url}/${room}?view=all`)
    await page.waitForURL(`${demo.url}/w/${demo.workspaceId}/${room}?view=all`)
  }
})

test('the focus is ringed, but where it is shown in another way', async () => {
  const { page } = await demo.open('inbox')
  const ring = () => page.evaluate('getComputedStyle(document.activeElement).outlineStyle')
  await page.getByRole('link', { name: 'Home' }).waitFor()
  await page.keyboard.press('Tab')
  assert.equal(await ring(), 'solid')
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').fill('inbox')
  assert.equal(await ring(), 'none')
})
