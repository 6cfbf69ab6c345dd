import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()

interface Form {
  place: string
  open: string
  fill(panel: Locator): Promise<void>
  says: string[]
}

const workspace = `/workspaces/${demo.workspaceId}`
await demo.team('POST', `${workspace}/labels`, { name: 'Tomada', color: 'red' })

const forms: Record<string, Form> = {
  'a lead': {
    place: 'leads',
    open: 'Novo lead',
    fill: async (panel) => {
      await panel.getByLabel('Nome', { exact: true }).fill('Quem')
      await panel.getByLabel('E-mail').fill('nada disso')
      await panel.getByLabel('Telefone').fill('12')
    },
    says: ['Isto não é um e-mail válido.', 'Escreva o número com o código do país, de 8 a 20 dígitos.'],
  },
  'a label': {
    place: 'settings/labels',
    open: 'Nova etiqueta',
    fill: (panel) => panel.getByLabel('Nome').fill('Tomada'),
    says: ['Uma etiqueta já tem este nome.'],
  },
  'a field': {
    place: 'settings/fields',
    open: 'Novo campo',
    fill: (panel) => panel.getByLabel('Nome', { exact: true }).fill('Budget'),
    says: ['Um campo já tem este nome.'],
  },
}

/** What stands under fields, or is told beside the form. */
const complaints = (page: Page) => page.locator('[class*="-error"]:visible, [role=alert]:visible')

test('what the service refuses is said in the language of the page, in each form', async () => {
  const { page } = await demo.open('home', { language: 'pt' })
  for (const [name, { place, open, fill, says }] of Object.entries(forms)) {
    await page.goto(`${demo.url}/w/${demo.workspaceId}/${place}`)
    await page.getByRole('button', { name: open }).first().click()
    const panel = page.getByRole('dialog')
    await fill(panel)
    await panel.locator('button[type=submit]').click()
    for (const words of says) await page.getByText(words, { exact: true }).waitFor()
    const told = (await complaints(page).allInnerTexts()).filter((text) => text.trim() !== '')
    assert.deepEqual(
      told.filter((text) => /\b(?:must|is|the|of|failed|validation|exists)\b/i.test(text)),
      [],
      name,
    )
  }
})
