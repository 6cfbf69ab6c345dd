import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible } from './support/accessibility.ts'
import { desktop, phone } from './support/browser.ts'
import { waitUntil } from './support/composing.ts'
import { newMember, openDemo } from './support/demo.ts'
import { customerCalled, newCustomer, openId } from './support/inbox.ts'

const demo = await openDemo()
const api = (id: string) => `/api/v1/inbox/conversations/${id}/messages`
const withKey = (key: string) => ({ authorization: `Bearer ${demo.apiKey}`, 'idempotency-key': key })

test('a customer’s message moves the list and appears in the thread; the agent answers and its ticks progress', async () => {
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

test('an undelivered message shows the reason and can be sent as a new one', async () => {
  const { page } = await demo.open('inbox')
  await page.getByRole('link', { name: /Marina Azevedo/ }).click()
  await page.getByRole('log').getByText('Queria fechar hoje').waitFor()
  const failure = { effect: 'fail', code: 131_049 }
  const added = await demo.call('POST', `${demo.simulatorUrl}/simulator/faults`, failure)
  assert.equal(added.status, 201, JSON.stringify(added.body))
  await demo.call('POST', api(openId(page)), { kind: 'text', text: 'Sim, está!' }, withKey('two'))
  await page.getByText('The platform limits how many messages').waitFor()
  await page.getByRole('listitem').first().getByText('Not delivered').waitFor()
  await page.getByRole('button', { name: 'Send as new' }).click()
  await page.getByText('Demo Owner replied and took over').waitFor()
  await page
    .getByRole('log')
    .getByRole('img', { name: /^(Delivered|Read)$/ })
    .waitFor()
  assert.equal(await page.getByRole('log').getByText('Sim, está!').count(), 2)
})

test('a conversation is snoozed by keyboard and returns when the customer writes', async () => {
  const { page } = await demo.open('inbox')
  const row = page.getByRole('link', { name: /Mateo Ríos/ })
  await row.click()
  await page.getByRole('log').getByText('instalación').waitFor()
  await page.keyboard.press('z')
  await page.getByRole('option', { name: 'Until the customer replies' }).waitFor()
  await page.keyboard.type('until the customer')
  await page.keyboard.press('Enter')
  await row.waitFor({ state: 'detached' })
  await page.goBack()
  await page.getByText('Demo Owner snoozed it until the customer replies').waitFor()
  const mateo = await customerCalled(demo, 'Mateo Ríos')
  await mateo.says('¿Hola?')
  await row.waitFor()
  await page.getByText('Reopened: the customer replied').waitFor()
})

test('two members see each other, and who is typing, until they leave', async () => {
  const { page } = await demo.open('inbox')
  await page.getByRole('link', { name: /Thiago Nogueira/ }).click()
  await page.getByRole('log').getByText('orçamento').waitFor()
  const caio = await newMember(demo, 'Caio')
  await caio.page.goto(page.url())
  const typing = page.getByText('Caio is typing…')
  const here = page.getByRole('img', { name: 'Caio is viewing this too' })
  const note = caio.page.getByRole('textbox', { name: 'Note for the team' })
  await here.waitFor()
  await caio.page.getByRole('button', { name: 'Note', exact: true }).click()
  await note.pressSequentially('I will')
  await typing.waitFor()
  await assertAccessible(page)
  await note.press('Enter')
  await page.getByRole('log').getByText('I will').waitFor()
  await typing.waitFor({ state: 'detached' })
  await note.pressSequentially('Or not')
  await typing.waitFor()
  await caio.page.goto('about:blank')
  await typing.waitFor({ state: 'detached' })
  await here.waitFor({ state: 'detached' })
})

test('the avatars of a dozen colleagues in one conversation fit on a phone', async () => {
  const { page } = await demo.open('inbox', { isKept: true })
  const names = Array.from({ length: 12 }, (_, n) => `Colleague ${n + 1}`)
  const people = names.map((name) => ({ userId: crypto.randomUUID(), name, state: 'viewing' }))
  await page.route('**/presence', (route) => route.fulfill({ json: { people } }))
  await page.setViewportSize(phone)
  await page.getByRole('link', { name: /Thiago Nogueira/ }).click()
  await page.getByRole('img', { name: 'Colleague 2 is viewing this too', exact: true }).waitFor()
  const others = page.getByRole('img', {
    name: /^Colleague 3 is viewing this too, .* Colleague 12 is viewing this too$/,
  })
  assert.equal(await others.innerText(), '+10')
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), phone.width)
  await assertAccessible(page)
  await page.close()
})

test('older messages load on scrolling without moving the visible ones', async () => {
  const { page } = await demo.open('inbox')
  const rita = await newCustomer(demo, 'Rita Sousa', '5511955502001')
  for (let n = 1; n <= 110; n++) await rita.says(`Message number ${n}`)
  await page.getByRole('link', { name: /Rita Sousa.*Message number 110/ }).click({ timeout: 60_000 })
  const log = page.getByRole('log')
  await log.getByText('Message number 1', { exact: true }).waitFor({ state: 'attached' })
  await log.getByText('New', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Jump to latest' }).click()
  await log.getByText('Message number 110').waitFor()
  // It is shown as read before the server has responded.
  const isRead = page.waitForResponse((answer) => answer.url().endsWith('/read'))
  await page.getByRole('button', { name: 'Mark as read' }).click()
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
  test(`all view tabs and their counts fit into the list and on a phone, in ${language}`, async () => {
    for (const viewport of [phone, desktop]) {
      const { page } = await demo.open('inbox', { language, viewport })
      const views = page.getByRole('toolbar').first()
      const last = views.getByRole('button').last()
      const counts = Object.fromEntries(
        ['mine', 'unassigned', 'all', 'agents'].map((view) => [view, { open: 500, unread: 0 }]),
      )
      await page.route('**/inbox/counts', (route) => route.fulfill({ json: { counts } }))
      await page.reload()
      await views.getByText('500+').nth(3).waitFor()
      // Clicks a visible part, since a normal click would scroll it into view.
      const { x = 0, y = 0 } = (await last.boundingBox()) ?? {}
      await page.mouse.click(x + 8, y + 12)
      await views.locator('button:last-child[aria-pressed=true]').waitFor()
      const at = await last.boundingBox()
      assert.ok(at !== null && at.x >= 0 && at.x + at.width <= viewport.width + 1)
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), viewport.width)
    }
  })

test('the thread stays at its end while messages arrive or grow, and in place when scrolled up', async () => {
  const iris = await newCustomer(demo, 'Iris Fim', '5511955502002')
  for (let n = 1; n <= 30; n++) await iris.says(`Line ${n}`)
  const { page } = await demo.open('inbox')
  await page.getByRole('link', { name: /Iris Fim.*Line 30/ }).click({ timeout: 60_000 })
  const log = page.getByRole('log')
  await log.getByText('Line 30').waitFor({ state: 'attached' })
  const team = `/workspaces/${demo.workspaceId}/inbox/conversations/${openId(page)}`
  const change = (status: string) => demo.team('PATCH', team, { status })
  const scroller = log.locator('..')
  const scrollTo = (top: number) => scroller.evaluate((one, to) => one.scrollTo({ top: to }), top)
  const toEnd = (top: number | ((top: number) => boolean)) =>
    waitUntil(() => scroller.evaluate((one) => one.scrollTop), top)

  // Opened at the first unread message: own messages still scroll to the end.
  await toEnd((top) => top < -80)
  await page.keyboard.press('t')
  await log.getByText(/^Demo Owner took over/).waitFor()
  await toEnd(0)
  for (const [status, line] of [
    ['resolved', 'A teammate resolved it'],
    ['open', 'A teammate reopened it'],
  ] as const) {
    await change(status)
    await log.getByText(line).waitFor()
    await toEnd(0)
  }
  // Near the end counts as at the end.
  await scrollTo(-40)
  await page.getByRole('textbox', { name: /^Reply to/ }).fill('one\ntwo\nthree\nfour\nfive')
  await toEnd(0)
  await scrollTo(-40)
  await iris.says('Line 31')
  await log.getByText('Line 31').waitFor()
  await toEnd(0)

  await scrollTo(-400)
  await page.getByRole('button', { name: 'Jump to latest' }).waitFor()
  await change('pending')
  await page.getByRole('button', { name: 'New messages' }).waitFor()
  await toEnd((top) => top < -400)
  await page.getByRole('button', { name: 'New messages' }).click()
  await toEnd(0)
  await log.getByText(/A teammate .*pending/).waitFor()
})
