import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()

async function ask(page: Page, term: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').fill(term)
}

const choose = (page: Page, name: string | RegExp) => page.getByRole('option', { name }).first().click()

test('the palette finds a colleague by name or e-mail, and leads to their row among the members', async () => {
  const { page } = await demo.open()
  const { members } = await demo.team('GET', `/workspaces/${demo.workspaceId}/members`)
  const [one] = members
  for (const term of [one.name.slice(1), one.email.split('@')[0]]) {
    await ask(page, term)
    await choose(page, new RegExp(`${one.name}.*${one.email}`))
    const row = page.getByRole('table', { name: 'Members' }).getByRole('row', { name: one.email })
    await row.waitFor()
    await page.locator(`#member-${one.userId}:focus`).waitFor()
    await page.goto(`${demo.url}/w/${demo.workspaceId}/home`)
    await page.getByRole('heading', { name: 'Leads today' }).waitFor()
  }
})

for (const [language, dark, appearance, found] of [
  ['en', 'escuro', 'Appearance: Dark', { 'time zone': 'Business hours', 'quiet hours': 'Notification settings' }],
  ['es', 'dark', 'Apariencia: Oscuro', { papelera: 'Leads: Papelera', moneda: 'Espacio' }],
  ['pt', 'escuro', 'Aparência: Escuro', { senha: 'Perfil', nova: 'Nova chave' }],
] as const)
  test(`the palette knows pages and actions by other words too, and turns the app dark, in ${language}`, async () => {
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
