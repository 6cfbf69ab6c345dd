import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { field, newWriter, thread, waitUntil } from './support/composing.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()
const inboxPath = `/workspaces/${demo.workspaceId}/inbox/conversations`
const rowOf = (page: Page, name: string): Locator => page.getByRole('link', { name: new RegExp(name) })
const conversation = async (id: string) => (await demo.team('GET', `${inboxPath}/${id}`)).conversation

test('quick key presses act on what the previous one opened, rendered or not', async () => {
  const lou = await newWriter(demo, 'Lou Quatro', 'Anyone?')
  const iva = await newWriter(demo, 'Iva Tres', 'Third')
  const joao = await newWriter(demo, 'Joao Dois', 'Second')
  const kim = await newWriter(demo, 'Kim Um', 'First')
  const { page } = await demo.open(iva.place)
  await thread(page).getByText('Third').waitFor()
  await rowOf(page, 'Kim Um').waitFor()
  // Nothing is rendered in between.
  const press = (...keys: string[]) =>
    page.evaluate(`for (const key of ${JSON.stringify(keys)})
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))`)
  await press('k', 'k', 'e', 'e')
  await page.waitForURL(new RegExp(`/inbox/${iva.id}`))
  for (const { id } of [kim, joao]) await waitUntil(() => conversation(id), { status: 'resolved' })
  assert.equal((await conversation(iva.id)).status, 'open')
  for (const name of ['Kim Um', 'Joao Dois']) await rowOf(page, name).waitFor({ state: 'detached' })
  await press('j', 'r')
  await page.keyboard.type('Here')
  await page.waitForURL(new RegExp(`/inbox/${lou.id}`))
  await thread(page).getByText('Anyone?').waitFor()
  assert.equal(await field(page).inputValue(), 'Here')
})

test('keys pressed before a conversation’s code has loaded are queued, including text for its field', async () => {
  const [pia, quim] = [await newWriter(demo, 'Pia Tarde', 'Anyone?'), await newWriter(demo, 'Quim Cedo', 'Hello')]
  const { page } = await demo.open('home', { isAlone: true })
  const code = Promise.withResolvers<void>()
  await page.route(/\/ThreadPane-[^/]*\.js$/, async (route) => {
    await code.promise
    await route.continue()
  })
  await page.goto(`${demo.url}/w/${demo.workspaceId}/inbox`)
  await rowOf(page, 'Quim Cedo').waitFor()
  await page.keyboard.press('j')
  await page.waitForURL(new RegExp(`/inbox/${quim.id}`))
  for (const key of ['e', 'e', 'r', 'W', 'e', 'l', 'l']) await page.keyboard.press(key)
  assert.equal(await thread(page).count(), 0)
  code.resolve()
  await page.waitForURL(new RegExp(`/inbox/${pia.id}`))
  await waitUntil(() => conversation(quim.id), { status: 'resolved' })
  await waitUntil(() => field(page).inputValue(), 'Well')
  // A repeated E, pressed because nothing happened, applies once.
  assert.equal((await conversation(pia.id)).status, 'open')
})

/** Clicks several buttons before the page can render the effect of the first. */
async function pressAtOnce(page: Page, ...names: string[]): Promise<void> {
  for (const name of names) await page.getByRole('button', { name, exact: true }).waitFor()
  const all = JSON.stringify(names.map((name) => `button[aria-label="${name}"]`))
  await page.evaluate(`${all}.map((one) => document.querySelector(one)).forEach((button) => button.click())`)
}

test('lead filters removed in quick succession are all removed', async () => {
  const { page } = await demo.open(
    'leads?status=new,contacted&where=email.empty;phone.notEmpty;name.contains.o&match=any',
  )
  await pressAtOnce(page, 'Remove filter: Email is empty', 'Remove filter: Phone is not empty')
  const name = page.getByRole('button', { name: 'Name contains “o”', exact: true })
  await name.waitFor()
  await page.waitForURL(({ search }) => search.includes('name.contains.o') && !/email|phone/.test(search))
  await page.getByRole('button', { name: 'Match any' }).click()
  await page.getByRole('button', { name: 'Match all' }).waitFor()
  assert.doesNotMatch(page.url(), /match/)
  await pressAtOnce(page, 'Remove filter: Name contains “o”', 'Remove filter: Status is New or Contacted')
  await page.waitForURL(({ search }) => search === '')
})

test('conversation filters removed in quick succession are all removed', async () => {
  const { page } = await demo.open('inbox?unread=true&unanswered=true&owner=human')
  await pressAtOnce(page, 'Remove filter: Unread', 'Remove filter: Unanswered')
  await page.waitForURL(({ search }) => search === '?owner=human')
})
