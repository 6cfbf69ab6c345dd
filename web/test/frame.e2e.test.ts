import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { newWriter, waitUntil } from './support/composing.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()

test('the palette opens a page by name, and so does G with a letter', async () => {
  const { page } = await demo.open()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('sett')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/settings$/)
  await page.keyboard.press('g')
  await page.keyboard.press('h')
  await page.waitForURL(/\/home$/)
  await waitUntil(
    () => page.title(),
    (title) => /^(\(\d+\) )?Home · Parley$/.test(title),
  )
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Go to Settings').waitFor()
})

test('a link without a workspace opens in the workspace that contains its target', async () => {
  const rui = await newWriter(demo, 'Rui Atalho', 'Hello')
  const { page } = await demo.open()
  await page.goto(new URL(`/inbox/${rui.id}`, page.url()).href)
  await page.waitForURL(new RegExp(`/w/${demo.workspaceId}/inbox/${rui.id}`))
  await page.getByRole('region', { name: /^Conversation with/ }).waitFor()
})

test('the first Tab offers links to skip to the page, and from the list to the conversation', async () => {
  const ana = await newWriter(demo, 'Ana Salto', 'Hello')
  const { page } = await demo.open(ana.place)
  await page.getByRole('region', { name: /^Conversation with/ }).waitFor()
  await page.keyboard.press('Tab')
  const skip = page.getByRole('link', { name: 'Skip to content' })
  await skip.and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Enter')
  await page.locator('main:focus').waitFor()
  await page.keyboard.press('Tab')
  await page.getByRole('link', { name: 'Skip to conversation' }).and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Enter')
  await page.locator('#thread:focus').waitFor()
  assert.equal(await page.locator('[data-row][tabindex="0"]').count(), 1)
})

test('the app loads nothing from other origins, and no script or style is inline', async () => {
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

async function ask(page: Page, term: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').fill(term)
}

const choose = (page: Page, name: string | RegExp) => page.getByRole('option', { name }).first().click()

for (const [language, dark, appearance, found] of [
  ['en', 'escuro', 'Appearance: Dark', { 'time zone': 'Business hours', 'quiet hours': 'Notification settings' }],
  ['es', 'dark', 'Apariencia: Oscuro', { papelera: 'Leads: Papelera', moneda: 'Espacio de trabajo' }],
  ['pt', 'escuro', 'Aparência: Escuro', { senha: 'Perfil', nova: 'Nova chave de API' }],
] as const)
  test(`the palette knows synonyms of pages and actions, and switches to dark mode, in ${language}`, async () => {
    const { page } = await demo.open('home', { language })
    for (const [term, name] of Object.entries(found)) {
      await ask(page, term)
      await page.getByRole('option', { name }).first().waitFor()
      await page.keyboard.press('Escape')
    }
    await ask(page, dark)
    await choose(page, appearance)
    await page.locator('html[data-mantine-color-scheme=dark]').waitFor({ state: 'attached' })
  })
