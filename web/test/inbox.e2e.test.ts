import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { phone } from './support/browser.ts'
import { newWriter } from './support/composing.ts'
import { newMember, openDemo } from './support/demo.ts'
import { customerCalled, newCustomer, openId } from './support/inbox.ts'

const demo = await openDemo()
const api = (id: string) => `/api/v1/inbox/conversations/${id}/messages`
const withKey = (key: string) => ({ authorization: `Bearer ${demo.apiKey}`, 'idempotency-key': key })

test('a customer writes, the list moves and the thread shows it; the agent answers and its ticks climb', async () => {
  const { page } = await demo.open('inbox')
  const rows = page.getByRole('listitem')
  await page.getByRole('link', { name: /Lucía Fernández/ }).click()
  const thread = page.getByRole('log')
  await thread.getByText('¿Y hacéis envíos a Sevilla?').waitFor()
  assert.match(await rows.first().innerText(), /Marina Azevedo/)
  const lucia = await customerCalled(demo, 'Lucía Fernández')
  await lucia.says('Lo veo en https://example.com/verde.')
  const link = thread.getByRole('link', { name: 'https://example.com/verde' })
  await link.waitFor()
  assert.equal(await link.getAttribute('rel'), 'noopener noreferrer nofollow')
  await rows
    .first()
    .getByText(/Lo veo en/)
    .waitFor()
  assert.match(await rows.first().innerText(), /Lucía Fernández/)

  const id = openId(page)
  const sent = await demo.call('POST', api(id), { kind: 'text', text: 'Sí, enviamos.' }, withKey('one'))
  assert.equal(sent.status, 202)
  await thread.getByText('By AI · Demo key').waitFor()
  await thread.getByRole('img', { name: 'Read' }).waitFor()
  await rows.first().getByText('By AI: Sí, enviamos.').waitFor()
})

test('what the platform does not deliver says why, and goes out as a new message when wished', async () => {
  const { page } = await demo.open('inbox')
  await page.getByRole('link', { name: /Marina Azevedo/ }).click()
  await page.getByRole('log').getByText('Queria fechar hoje').waitFor()
  const fault = { effect: 'fail', code: 131_049 }
  const added = await demo.call('POST', `${demo.simulatorUrl}/simulator/faults`, fault)
  assert.equal(added.status, 201, JSON.stringify(added.body))
  await demo.call('POST', api(openId(page)), { kind: 'text', text: 'Sim, está!' }, withKey('two'))
  await page.getByText('The platform held it back').waitFor()
  await page.getByRole('listitem').first().getByText('Not delivered').waitFor()
  await page.getByRole('button', { name: 'Send as new' }).click()
  await page.getByText('Demo Owner answered and took over').waitFor()
  await page
    .getByRole('log')
    .getByRole('img', { name: /^(Delivered|Read)$/ })
    .waitFor()
  assert.equal(await page.getByRole('log').getByText('Sim, está!').count(), 2)
})

test('an answer that is older than the news, and comes after it, does not undo it', async () => {
  const { page } = await demo.open('inbox')
  const [thread, rows] = [page.getByRole('log'), page.locator('[data-row]')]
  await page.getByRole('link', { name: /Aoife Byrne/ }).click()
  await thread.locator('[data-by]').first().waitFor()
  const set = async (method: string, path: string, body: object) => {
    const { status } = await demo.call(method, `${demo.simulatorUrl}/simulator/${path}`, body)
    assert.ok(status < 300, String(status))
  }
  await set('PATCH', 'delivery', { paused: true })
  await set('POST', 'faults', { effect: 'fail', code: 131_049 })
  await demo.call('POST', api(openId(page)), { kind: 'text', text: 'Tomorrow?' }, withKey('late'))
  await thread.getByRole('img', { name: 'Sent', exact: true }).waitFor()

  // The thread, read before the platform told that it failed.
  const timeline = await holdAnswer(page, /\/timeline/)
  await page.reload()
  await timeline.isMade
  await set('PATCH', 'delivery', { paused: false })
  await rows.getByText('Not delivered').waitFor()
  timeline.letGo()
  await thread.getByText('The platform held it back').waitFor()

  // A list, read before the customers wrote.
  await page.getByRole('button', { name: /^Mine/ }).click()
  await page.getByRole('button', { name: /^Mine/, pressed: true }).waitFor()
  const list = await holdAnswer(page, /\/conversations\?.*view=agents/)
  await page.getByRole('button', { name: /^Agents/ }).click()
  await list.isMade
  const rita = await newCustomer(demo, 'Rita Novak', '353855550177')
  await rita.says('Good morning')
  const aoife = await customerCalled(demo, 'Aoife Byrne')
  await aoife.says('Are you there?')
  await thread.getByText('Are you there?').waitFor()
  list.letGo()
  await rows.getByText('Are you there?').waitFor()
  await rows.getByText('Good morning').waitFor()
})

test('what a member did is shown until its own answer, whatever is read meanwhile', async () => {
  const vera = await newWriter(demo, 'Vera Lima', 'Bom dia')
  await newWriter(demo, 'Nuno Reis', 'Boa noite')
  const { page } = await demo.open('inbox')
  const row = page.getByRole('link', { name: /Vera Lima/ })
  const [resolve, reopen] = ['Resolve', 'Reopen'].map((name) => page.getByRole('button', { name, exact: true }))
  // The conversation, read before it was resolved.
  const detail = await holdAnswer(page, new RegExp(`/conversations/${vera.id}$`))
  await row.click()
  await resolve?.waitFor()
  await detail.isMade
  const answer = Promise.withResolvers<void>()
  await page.route(new RegExp(`/conversations/${vera.id}$`), async (route) => {
    if (route.request().method() !== 'PATCH') return route.fallback()
    await answer.promise
    await route.fulfill({ status: 403, json: {} })
  })
  await resolve?.click()
  await reopen?.waitFor()
  await row.waitFor({ state: 'detached' })
  detail.letGo()
  await page.getByText('This customer is not a lead yet.').waitFor()
  assert.equal(await reopen?.isVisible(), true)
  // A list, read after it was resolved here and before the service knows.
  await page.getByRole('button', { name: /^Unassigned/ }).click()
  await page.getByRole('link', { name: /Thiago Nogueira/ }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: /Nuno Reis/ }).waitFor()
  assert.equal(await row.count(), 0)

  answer.resolve()
  await resolve?.waitFor()
  await row.waitFor()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await resolve?.click()
  await page.getByText('Demo Owner resolved it').waitFor()
  await row.waitFor({ state: 'detached' })
})

/** Answers from there are made at once, and come when they are let go. */
async function holdAnswer(page: Page, url: RegExp): Promise<{ isMade: Promise<void>; letGo(): void }> {
  const [made, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await page.route(url, async (route) => {
    const response = await route.fetch()
    made.resolve()
    await gone.promise
    await route.fulfill({ response })
  })
  return { isMade: made.promise, letGo: gone.resolve }
}

test('filters stand in the address, come back with it, and are kept under a name', async () => {
  const { page } = await demo.open('inbox?status=resolved&assignedTo=me')
  await page.getByText('No conversation matches.').waitFor()
  await page.getByRole('button', { name: 'Filter and sort' }).click()
  await page.getByRole('button', { name: 'Save this filter' }).click()
  await page.getByLabel('Name').fill('Done by me')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('button', { name: 'Done by me', exact: true }).waitFor()
  await assertAccessible(page)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Remove filter: Resolved' }).click()
  await page.getByRole('button', { name: 'Remove filter: Me' }).click()
  await page.getByRole('link', { name: /Lucía Fernández/ }).waitFor()
  await page.getByRole('button', { name: /^Agents/ }).click()
  await page.waitForURL(/view=agents$/)
  await page.getByRole('button', { name: 'Filter and sort' }).click()
  await page.getByRole('button', { name: 'Done by me', exact: true }).click()
  await page.waitForURL(/status=resolved&assignedTo=me|assignedTo=me&status=resolved/)
})

test('a conversation that was open before is painted before the service has answered', async () => {
  const { page } = await demo.open('inbox')
  const [thread, aoife] = [page.getByRole('log'), page.getByRole('link', { name: /Aoife Byrne/ })]
  await aoife.click()
  const said = await thread.locator('[data-by]').first().innerText()
  await page.getByRole('link', { name: /Mateo Ríos/ }).click()
  await thread.getByText('instalación').waitFor()
  const answers = Promise.withResolvers<void>()
  await page.route('**/api/team/**', (route) => answers.promise.then(() => route.continue()))
  await aoife.click()
  await thread.getByText(said).waitFor()
  const answered = page.waitForResponse(/\/timeline/)
  answers.resolve()
  await answered
})

test('a conversation is put aside by keys, comes back when the customer writes, and what was done can be undone', async () => {
  const { page } = await demo.open('inbox')
  const row = page.getByRole('link', { name: /Mateo Ríos/ })
  await row.click()
  await page.getByRole('log').getByText('instalación').waitFor()
  await page.keyboard.press('z')
  await page.getByRole('option', { name: 'Until the customer writes' }).waitFor()
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Enter')
  await row.waitFor({ state: 'detached' })
  await page.goBack()
  await page.getByText('Demo Owner snoozed it until the customer writes').waitFor()
  const mateo = await customerCalled(demo, 'Mateo Ríos')
  await mateo.says('¿Hola?')
  await row.waitFor()
  await page.getByText('Reopened: the customer wrote').waitFor()
  const place = page.url()
  await page.keyboard.press('e')
  await row.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo' }).last().click()
  await row.waitFor()
  // What is undone is opened again, and no key is for the one that was open meanwhile.
  await page.waitForURL(place)
  await page.keyboard.press('a')
  await page.getByRole('dialog', { name: 'Assign' }).getByRole('combobox').fill('me')
  await page.keyboard.press('Enter')
  await page.getByText('Demo Owner assigned it to themselves').waitFor()
  // A test before has left one, too: the count may say so yet, or have grown.
  await page.getByRole('button', { name: /^Mine \d/ }).click()
  await row.waitFor()
})

test('two members see each other, and who types, until they add what they wrote, or leave', async () => {
  const { page } = await demo.open('inbox')
  await page.getByRole('link', { name: /Thiago Nogueira/ }).click()
  await page.getByRole('log').getByText('orçamento').waitFor()
  const caio = await newMember(demo, 'Caio')
  await caio.page.goto(page.url())
  const typing = page.getByText('Caio is typing…')
  const here = page.getByRole('img', { name: 'Caio is here too' })
  const note = caio.page.getByRole('textbox', { name: 'Note for the team' })
  await here.waitFor()
  await caio.page.getByRole('img', { name: 'Demo Owner is here too' }).waitFor()
  await caio.page.getByRole('button', { name: 'Note', exact: true }).click()
  await note.pressSequentially('I will')
  await typing.waitFor()
  await assertAccessible(page)
  await note.press('Enter')
  await page.getByRole('log').getByText('I will').waitFor()
  await typing.waitFor({ state: 'detached' })
  await here.waitFor()
  await note.pressSequentially('And then')
  await typing.waitFor()
  await note.fill('')
  await typing.waitFor({ state: 'detached' })
  await note.pressSequentially('Or not')
  await typing.waitFor()
  await caio.page.goto('about:blank')
  await typing.waitFor({ state: 'detached' })
  await here.waitFor({ state: 'detached' })
})

test('older messages come as one scrolls up, and what was in sight stays there', async () => {
  const { page } = await demo.open('inbox')
  const rita = await newCustomer(demo, 'Rita Sousa', '5511955502001')
  for (let n = 1; n <= 110; n++) await rita.says(`Message number ${n}`)
  await page.getByRole('link', { name: /Rita Sousa.*Message number 110/ }).click({ timeout: 60_000 })
  const log = page.getByRole('log')
  await log.getByText('Message number 1', { exact: true }).waitFor({ state: 'attached' })
  await log.getByText('New', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Jump to the newest' }).click()
  await log.getByText('Message number 110').waitFor()
  const isRead = page.waitForResponse((answer) => answer.url().endsWith('/read'))
  await page.getByRole('button', { name: 'Mark read' }).click()
  await page.getByRole('button', { name: 'Mark unread' }).waitFor()
  // It shows as read before the service knows.
  await isRead
  await page.reload()
  await log.getByText('Message number 110').waitFor()
  assert.equal(await log.getByText('Message number 30', { exact: true }).count(), 0)
  const scroller = page.locator('[role=log]').locator('..')
  await scroller.hover()
  const target = log.getByText('Message number 64', { exact: true })
  await target.scrollIntoViewIfNeeded()
  await log.getByText('Message number 30', { exact: true }).waitFor({ state: 'attached' })
  assert.equal(await target.isVisible(), true)
  await rita.says('Something new')
  await page.getByRole('button', { name: 'New messages' }).click()
  await log.getByText('Something new').waitFor()
})

for (const language of ['en', 'es', 'pt'] as const)
  test(`all views stand whole in the list and on a phone, and beside counts like no other the one that is chosen, in ${language}`, async () => {
    for (const viewport of [phone, { width: 1440, height: 900 }]) {
      const { page } = await demo.open('inbox', { language, viewport })
      const views = page.getByRole('toolbar').first()
      const last = views.getByRole('button').last()
      const countEach = async (open: number, shown: string) => {
        const of = Object.fromEntries(
          ['mine', 'unassigned', 'all', 'agents'].map((view) => [view, { open, unread: 0 }]),
        )
        await page.unroute('**/inbox/counts')
        await page.route('**/inbox/counts', (route) => route.fulfill({ json: { counts: of } }))
        await page.reload()
        await views.getByText(shown).nth(3).waitFor()
      }
      await countEach(99, '99')
      // The word of the one that is chosen is bolder.
      await views.getByRole('button').nth(1).click()
      const { wide, room } = await views.evaluate((all) => ({ wide: all.scrollWidth, room: all.clientWidth }))
      assert.ok(wide <= room, `${wide} of ${room}`)
      await countEach(500, '500+')
      // By what is in sight of it, unlike a click that would bring it there.
      const { x = 0, y = 0 } = (await last.boundingBox()) ?? {}
      await page.mouse.click(x + 8, y + 12)
      await views.locator('button:last-child[aria-pressed=true]').waitFor()
      const inSight = () =>
        views.evaluate((all) => {
          const place = all.getBoundingClientRect()
          const at = all.lastElementChild?.getBoundingClientRect()
          return [(at?.left ?? 0) >= place.left, (at?.right ?? 0) <= place.right + 1]
        })
      assert.deepEqual(await inSight(), [true, true])
      // Counts that come after it, and push it aside.
      await countEach(500, '500+')
      assert.deepEqual(await inSight(), [true, true])
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), viewport.width)
    }
  })
