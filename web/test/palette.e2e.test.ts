import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { newWriter, thread } from './support/composing.ts'
import { sharedDemo } from './support/demo.ts'
import { walkerOf } from './support/every-page.ts'

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

test('the palette tells apart the lead and the conversation of one customer', async () => {
  const ada = await newWriter(demo, 'Zuleica Prado', 'Hello')
  const lead = { firstName: 'Zuleica', lastName: 'Prado', phone: ada.number }
  await demo.team('POST', `/workspaces/${demo.workspaceId}/leads`, lead)
  const { page } = await demo.open()
  await ask(page, 'zuleica')
  await page.getByRole('option', { name: /^Zuleica Prado\s*Conversation · \+/ }).waitFor()
  await page.getByRole('option', { name: /^Zuleica Prado\s*Lead · \+/ }).click()
  await page.getByRole('complementary', { name: 'Lead Zuleica Prado' }).waitFor()
  await ask(page, 'zuleica')
  await page.getByRole('option', { name: /Conversation · / }).click()
  await page.waitForURL((url) => url.pathname.endsWith(ada.place))
  await thread(page).getByText('Hello').waitFor()
  await ask(page, 'qqqqqqq')
  await page.getByText('Nothing found').waitFor()
})

test('the palette does from any page what another page has a key for', async () => {
  const { page } = await demo.open()
  await ask(page, 'new lead')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'New lead' }).waitFor()
  await page.keyboard.press('Escape')
  await ask(page, 'new key')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'New key' }).waitFor()
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

test('the palette opens the bell, and its settings', async () => {
  const { page } = await demo.open()
  await ask(page, 'notifications')
  await choose(page, /^Notifications/)
  await page.getByRole('dialog', { name: 'Notifications' }).getByText('Notification settings').waitFor()
  await page.keyboard.press('Escape')
  await ask(page, 'notifications')
  await choose(page, 'Notification settings')
  await page.getByRole('switch', { name: 'Quiet hours' }).waitFor()
})

test('the palette finds the views that somebody keeps', async () => {
  const views = `/workspaces/${demo.workspaceId}/saved-filters`
  await demo.team('POST', views, { page: 'leads', name: 'Rich and new', query: 'status=new&sort=-value', shared: true })
  await demo.team('POST', views, { page: 'inbox', name: 'Only for agents', query: 'view=agents', shared: true })
  const { page } = await demo.open()
  await ask(page, 'rich')
  await choose(page, /Rich and new/)
  await page.getByRole('button', { name: 'Status is New', exact: true }).waitFor()
  // Behind the others, where they do not fit beside each other.
  await page.locator('[aria-current=page]', { hasText: 'Rich and new' }).waitFor({ state: 'attached' })
  await ask(page, 'agents only')
  await choose(page, /Only for agents/)
  await page.waitForURL(/inbox\?view=agents$/)
})

const places = ['home', 'inbox', 'leads', 'forms', 'connections', 'keys', 'webhooks', 'settings']

/** The keys of the sheet by their groups: those of this place, or all of them. */
async function keysOf(page: Page, isAll: boolean): Promise<string[]> {
  await page.keyboard.press('?')
  const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await sheet.getByText('On other pages').waitFor()
  const keys = await sheet.evaluate((dialog, isAll) => {
    const end = [...dialog.querySelectorAll('p')].find(({ textContent }) => textContent === 'On other pages') ?? null
    return [...dialog.querySelectorAll('section')]
      .filter((section) => isAll || (end !== null && section.compareDocumentPosition(end) & 4) !== 0)
      .flatMap((section) =>
        [...section.querySelectorAll('dt')].map(
          (dt) => `${section.querySelector('h3')?.textContent}: ${dt.textContent}`,
        ),
      )
  }, isAll)
  await page.keyboard.press('Escape')
  await sheet.waitFor({ state: 'hidden' })
  return keys
}

test('the sheet of keys has those of every page on any page', async () => {
  const { page } = await demo.open('home')
  const all = new Set(await keysOf(page, true))
  const ada = await newWriter(demo, 'Ada Keys', 'Hello')
  const { goTo } = walkerOf(demo, page)
  for (const place of [...places, ada.place]) {
    const stands = (page: Page) =>
      place === ada.place ? thread(page).getByText('Hello') : page.getByRole('heading', { level: 1 })
    await goTo({ place, stands })
    const missing = (await keysOf(page, false)).filter((key) => !all.has(key))
    assert.deepEqual(missing, [], place)
  }
})
