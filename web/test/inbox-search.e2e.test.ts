import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { letLoadingFail, phone } from './support/browser.ts'
import { until } from './support/composing.ts'
import { sharedDemo } from './support/demo.ts'
import { newCustomer, openId } from './support/inbox.ts'

const demo = await sharedDemo()
const inboxPath = `/workspaces/${demo.workspaceId}/inbox/conversations`
const found = (page: Page) => page.getByRole('region', { name: 'Found' })
const group = (page: Page, name: 'Conversations' | 'Messages') => found(page).getByRole('region', { name })

/** Types into the search field, which `/` opens. */
async function search(page: Page, text: string): Promise<void> {
  const field = page.getByRole('searchbox', { name: 'Search conversations' })
  if (!(await field.isVisible())) await page.keyboard.press('/')
  await field.fill(text)
}

test('a search finds whom one sees in the list, and what was said, and leads to the very message', async () => {
  const lena = await newCustomer(demo, 'Lena Öström', '46700112233')
  await lena.says('Is the crimson wardrobe still there?')
  for (let n = 0; n < 70; n++) await lena.says(`Something else, number ${n}`)
  const { page } = await demo.open('inbox')
  await page.locator('[data-row]').getByText('Lena Öström').waitFor()
  await search(page, 'ostrom')
  await group(page, 'Conversations')
    .getByRole('link', { name: /Lena Öström/ })
    .waitFor()
  await group(page, 'Messages').getByText('No message says this.').waitFor()
  for (const text of ['0011', '+46 700 11', 'lena']) {
    await search(page, text)
    await group(page, 'Conversations')
      .getByRole('link', { name: /Lena Öström/ })
      .waitFor()
  }
  await search(page, 'uu')
  await group(page, 'Conversations').getByText('Names and numbers are found by three characters or more.').waitFor()
  await search(page, 'wardrobe crim')
  await group(page, 'Conversations').getByText('No conversation with this name or number.').waitFor()
  const hit = group(page, 'Messages').getByRole('link', { name: /Lena Öström/ })
  await hit.waitFor()
  assert.deepEqual(await hit.locator('mark').allInnerTexts(), ['crimson', 'wardrobe'])
  await assertAccessible(page)
  await hit.click()
  const said = page.getByRole('log').getByText('Is the crimson wardrobe still there?')
  await said.waitFor()
  await page.locator('[id^=message-]:focus').waitFor()
  assert.ok(await said.isVisible())
  await page.waitForURL(/search=wardrobe/)
})

test('the chip of a search takes the words out of the field too, and what is typed next is searched for', async () => {
  const { page } = await demo.open('inbox')
  const field = page.getByRole('searchbox', { name: 'Search conversations' })
  await search(page, 'marina')
  const chip = page.getByRole('button', { name: /Remove.*marina/i })
  await chip.click()
  await page.waitForURL(({ search }) => search === '')
  await chip.waitFor({ state: 'detached' })
  await until(() => field.inputValue(), '')
  await field.pressSequentially('zeppelin')
  await page.waitForURL(/search=zeppelin/)
  assert.equal(await field.inputValue(), 'zeppelin')
})

test('the keyboard goes from the field through both groups and back, and opens what has the focus', async () => {
  const otto = await newCustomer(demo, 'Otto Lindqvist', '46700112244')
  await otto.says('This is Otto: a turquoise lamp, please')
  const { page } = await demo.open('inbox')
  await page.locator('[data-row]').getByText('Otto Lindqvist').waitFor()
  await search(page, 'otto')
  const row = group(page, 'Conversations').getByRole('link', { name: /Otto Lindqvist/ })
  const hit = group(page, 'Messages').getByRole('link', { name: /turquoise/ })
  await row.waitFor()
  await hit.waitFor()
  const hasFocus = (one: typeof row) => one.evaluate((element) => element === element.ownerDocument.activeElement)
  await page.keyboard.press('ArrowDown')
  assert.ok(await hasFocus(row))
  await page.keyboard.press('ArrowDown')
  assert.ok(await hasFocus(hit))
  await page.keyboard.press('ArrowUp')
  assert.ok(await hasFocus(row))
  await page.keyboard.press('ArrowUp')
  assert.ok(await hasFocus(page.getByRole('searchbox')))
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('log').getByText('a turquoise lamp').waitFor()
  assert.notEqual(openId(page), 'inbox')
  await page.getByRole('searchbox').focus()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: /^Mine/ }).waitFor()
  await found(page).waitFor({ state: 'detached' })
})

test('J and K open what was found, X chooses, E goes on within it, and another search forgets what was chosen', async () => {
  const people = await Promise.all(
    ['Una', 'Duo', 'Tria'].map((name, n) => newCustomer(demo, `${name} Quandt`, `4670011330${n}`)),
  )
  for (const one of people) await one.says('A marigold parasol')
  const { page } = await demo.open('inbox?search=quandt')
  const rows = group(page, 'Conversations').getByRole('link')
  await rows.nth(2).waitFor()
  const ids = await Promise.all([0, 1, 2].map((n) => rows.nth(n).getAttribute('data-row')))
  const isOpen = (id: string | null | undefined) => page.waitForURL(new RegExp(`/inbox/${id}\\?search=quandt`))
  await page.evaluate('document.activeElement.blur()')
  for (const [key, n] of [
    ['j', 0],
    ['j', 1],
    ['k', 0],
    ['j', 1],
  ] as const) {
    await page.keyboard.press(key)
    await isOpen(ids[n])
  }
  await page.keyboard.press('e')
  await isOpen(ids[2])
  const status = async (id: string) => (await demo.team('GET', `${inboxPath}/${id}`)).conversation.status
  await until(() => status(ids[1] ?? ''), 'resolved')
  await page.keyboard.press('x')
  const bar = page.getByRole('toolbar', { name: 'Selected conversations' })
  await bar.getByText('1 selected').waitFor()
  await page.keyboard.press('k')
  await page.keyboard.press('x')
  await bar.getByText('2 selected').waitFor()
  await isOpen(ids[2])
  await assertAccessible(page)
  await page.keyboard.press('e')
  await page.getByText('1 conversation changed').waitFor()
  await bar.waitFor({ state: 'detached' })
  await page.keyboard.press('x')
  await bar.waitFor()
  await search(page, 'marigold')
  await bar.waitFor({ state: 'detached' })
  const hits = group(page, 'Messages').getByRole('link')
  await hits.nth(2).waitFor()
  await hits.first().focus()
  await page.keyboard.press('j')
  await page.waitForURL(/search=marigold#/)
  await page.locator('[id^=message-]:focus').waitFor()
  const second = openId(page)
  await page.keyboard.press('j')
  await page.waitForURL(({ pathname }) => !pathname.endsWith(second))
})

test('of many conversations a few are shown, and all when wished; older messages come when they are asked for', async () => {
  for (let n = 0; n < 7; n++) {
    const one = await newCustomer(demo, `Zelda Zimmer ${n}`, `4670099880${n}`)
    for (let m = 0; m < 4; m++) await one.says(`A velvet cushion, number ${m}`)
  }
  const { page } = await demo.open('inbox')
  await page.locator('[data-row]').getByText('Zelda Zimmer 6').waitFor()
  await search(page, 'zimmer')
  await group(page, 'Conversations').getByRole('link').nth(4).waitFor()
  assert.equal(await group(page, 'Conversations').getByRole('link').count(), 5)
  await page.getByRole('button', { name: 'Show all conversations' }).click()
  await page.getByRole('link', { name: /Zelda Zimmer 0/ }).waitFor()
  await page.getByRole('button', { name: 'Show fewer conversations' }).click()
  await search(page, 'velvet')
  const hits = group(page, 'Messages').getByRole('link')
  await hits.nth(19).waitFor()
  assert.equal(await hits.count(), 20)
  await page.getByRole('button', { name: 'Show older messages' }).click()
  await hits.nth(27).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Show older messages' }).count(), 0)
})

test('what cannot be had says so in its group, and comes when it is tried again', async () => {
  const { page } = await demo.open('inbox')
  await page.locator('[data-row]').first().waitFor()
  letLoadingFail(page)
  await page.route(/\/inbox\/messages\?/, (route) => route.fulfill({ status: 500, json: {} }))
  await search(page, 'lucía')
  await group(page, 'Conversations')
    .getByRole('link', { name: /Lucía Fernández/ })
    .waitFor()
  await group(page, 'Messages').getByRole('alert').waitFor()
  await page.unroute(/\/inbox\/messages\?/)
  await search(page, 'sevilla')
  await group(page, 'Messages')
    .getByRole('link', { name: /Lucía Fernández/ })
    .first()
    .waitFor()
})

test('on a phone, in another language, what was found opens its thread', async () => {
  const { page } = await demo.open('inbox?search=sevilla', { viewport: phone, language: 'es' })
  const messages = page.getByRole('region', { name: 'Mensajes' })
  await messages
    .getByRole('link', { name: /Lucía Fernández/ })
    .first()
    .waitFor()
  await page.getByText('Ninguna conversación con ese nombre o número.').waitFor()
  await messages.getByRole('link').first().click()
  await page.getByRole('log').getByText('envíos a Sevilla').waitFor()
})
