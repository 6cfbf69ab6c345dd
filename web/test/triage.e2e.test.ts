import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { fillConversations } from '../../server/test/support/fill.ts'
import { assertAccessible } from './support/accessibility.ts'
import { desktop, letLoadingFail, phone } from './support/browser.ts'
import { newWriter, thread, until } from './support/composing.ts'
import { openDemo } from './support/demo.ts'
import { fillDemo } from './support/fill.ts'
import { openId } from './support/inbox.ts'

const demo = await openDemo()
const team = `/workspaces/${demo.workspaceId}`
const rowOf = (page: Page, name: string): Locator => page.getByRole('link', { name: new RegExp(name) })
const dialog = (page: Page, name: string): Locator => page.getByRole('dialog', { name })
const conversation = async (id: string) => (await demo.team('GET', `${team}/inbox/conversations/${id}`)).conversation

test('J and K open one conversation after the other; E resolves, goes on to the next, and its undo leads back', async () => {
  const eva = await newWriter(demo, 'Eva Tres', 'Third')
  const dora = await newWriter(demo, 'Dora Dois', 'Second')
  const caio = await newWriter(demo, 'Caio Um', 'First')
  const { page } = await demo.open('inbox')
  await rowOf(page, 'Caio Um').waitFor()
  for (const [key, { id }] of [
    ['j', caio],
    ['j', dora],
    ['k', caio],
    ['j', dora],
  ] as const) {
    await page.keyboard.press(key)
    await page.waitForURL(new RegExp(`/inbox/${id}`))
  }
  await thread(page).getByText('Second').waitFor()
  await page.keyboard.press('e')
  await page.waitForURL(new RegExp(`/inbox/${eva.id}`))
  await rowOf(page, 'Dora Dois').waitFor({ state: 'detached' })
  await until(() => conversation(dora.id), { status: 'resolved' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.waitForURL(new RegExp(`/inbox/${dora.id}`))
  await rowOf(page, 'Dora Dois').waitFor()
  const resolve = thread(page).getByRole('button', { name: 'Resolve', exact: true })
  assert.equal(await resolve.innerText(), 'Resolve')
  await resolve.click()
  await thread(page).getByRole('button', { name: 'Reopen', exact: true }).waitFor()
  assert.equal(openId(page), dora.id, 'whoever points stays')
})

test('J that comes before the rows is done once they are there, and once', async () => {
  await newWriter(demo, 'Gil Quatro', 'Fourth')
  const hugo = await newWriter(demo, 'Hugo Cinco', 'Fifth')
  const { page } = await demo.open('home')
  const asked = Promise.withResolvers<void>()
  const rows = Promise.withResolvers<void>()
  await page.route(/\/inbox\/conversations\?/, async (route) => {
    asked.resolve()
    await rows.promise
    await route.continue()
  })
  await page.keyboard.press('g')
  await page.keyboard.press('i')
  await asked.promise
  await page.getByRole('region', { name: 'Conversations' }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  rows.resolve()
  await page.waitForURL(new RegExp(`/inbox/${hugo.id}`))
  await thread(page).getByText('Fifth').waitFor()
  assert.equal(openId(page), hugo.id)
  // It was the newest alone that was opened: one goes back to the empty inbox.
  await page.goBack()
  await page.waitForURL(/\/inbox$/)
})

for (const language of ['en', 'es', 'pt'] as const)
  test(`what is done to a conversation is a word where there is room, and has a name and a tip everywhere, in ${language}`, async () => {
    const lea = await newWriter(demo, `Lea ${language} Palavra`, 'Hello')
    const { page } = await demo.open(lea.place, { language })
    const head = page.locator('#thread header')
    await head.getByRole('heading').waitFor()
    for (const [width, hasWords] of [
      [1440, true],
      [1280, true],
      [1200, true],
      [1199, false],
      [1024, false],
    ] as const) {
      await page.setViewportSize({ width, height: 800 })
      const buttons = await head.getByRole('button').filter({ visible: true }).all()
      assert.ok(buttons.length >= 5)
      for (const button of buttons) {
        // Both at once: whoever has looked has read, which turns one of them around.
        const [words, name] = await button.evaluate((one) => {
          const { innerText } = one as unknown as { innerText: string }
          return [innerText, one.getAttribute('aria-label') ?? ''] as const
        })
        const isMain = name === ''
        assert.equal(words !== '', hasWords || isMain, `${width}: ${name}`)
        // Who speaks to the page says what is written there.
        assert.ok(isMain || name.toLowerCase().includes(words.toLowerCase()), `${name}: ${words}`)
      }
      const room = await head.getByRole('heading').boundingBox()
      assert.ok((room?.width ?? 0) >= 80, `${width}: the name has ${room?.width} px`)
      assert.equal(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'), true)
    }
    await page.setViewportSize(desktop)
    for (const button of (await head.getByRole('button').filter({ visible: true }).all()).slice(0, 4)) {
      const name = (await button.getAttribute('aria-label')) ?? ''
      if ((await button.getAttribute('title')) !== null) continue
      await button.hover()
      await page.getByRole('tooltip').getByText(name).waitFor()
    }
  })

test('how long a customer waits is coloured by the goal of the workspace, and not at all without one', async () => {
  const rui = await newWriter(demo, 'Rui Espera', 'Anyone there?')
  const later = Date.parse((await conversation(rui.id)).unansweredSince) + 50 * 60_000
  const { page } = await demo.open(rui.place, { isAlone: true })
  await page.clock.setFixedTime(later)
  for (const [answerGoalMinutes, late] of [
    [120, '0'],
    [30, '1'],
    [20, '2'],
    [null, '0'],
  ] as const) {
    await demo.team('PATCH', team, { answerGoalMinutes })
    await page.reload()
    const waiting = rowOf(page, 'Rui Espera').getByText(/^Waiting/)
    await waiting.and(page.locator(`[data-late="${late}"]`)).waitFor()
  }
  await demo.team('PATCH', team, { answerGoalMinutes: 15 })
})

test('a label is found, made and given from its picker; assigning and snoozing find what is typed', async () => {
  const lia = await newWriter(demo, 'Lia Marca', 'Hello')
  const { page } = await demo.open(lia.place)
  await thread(page).getByText('Hello').waitFor()
  await page.keyboard.press('l')
  const labels = dialog(page, 'Labels')
  await labels.getByRole('combobox').fill('Wholesale')
  await labels.getByRole('option', { name: 'Create label “Wholesale”' }).waitFor()
  await assertAccessible(page)
  await page.keyboard.press('Enter')
  await page.getByText('Demo Owner added Wholesale').waitFor()
  await labels.getByRole('combobox').fill('wholes')
  await labels.getByRole('option', { name: 'Wholesale', selected: true }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByText('Demo Owner removed Wholesale').waitFor()
  await page.keyboard.press('Escape')
  await labels.waitFor({ state: 'detached' })

  await page.keyboard.press('a')
  await dialog(page, 'Assign').getByRole('combobox').fill('nobody at all')
  await page.getByText('Nothing found').waitFor()
  await dialog(page, 'Assign').getByRole('combobox').fill('me')
  await page.keyboard.press('Enter')
  await until(() => conversation(lia.id), { assignedToName: 'Demo Owner' })

  await page.keyboard.press('z')
  await dialog(page, 'Snooze').getByRole('combobox').fill('3d')
  await dialog(page, 'Snooze')
    .getByRole('option', { name: /^Snoozed until/ })
    .waitFor()
  await page.keyboard.press('Enter')
  const { snoozedUntil } = await until(() => conversation(lia.id), { status: 'snoozed' })
  assert.equal(Math.round((Date.parse(snoozedUntil) - Date.now()) / 3_600_000), 72)
})

test('a conversation is snoozed until any date and time that is still to come', async () => {
  const rui = await newWriter(demo, 'Rui Data', 'Hello')
  const { page } = await demo.open(rui.place)
  await thread(page).getByText('Hello').waitFor()
  await page.keyboard.press('z')
  const snooze = dialog(page, 'Snooze')
  await snooze.getByLabel('Date and time').fill('2020-05-05T10:00')
  await snooze.getByRole('button', { name: 'Snooze until then' }).click()
  await snooze.getByText('Choose a time that is still to come.').waitFor()
  const wanted = await page.evaluate(() => {
    const time = new Date(Date.now() + 40 * 86_400_000)
    return `${time.getFullYear()}-${String(time.getMonth() + 1).padStart(2, '0')}-${String(time.getDate()).padStart(2, '0')}T16:20`
  })
  await snooze.getByLabel('Date and time').fill(wanted)
  await assertAccessible(page)
  await snooze.getByRole('button', { name: 'Snooze until then' }).click()
  const { snoozedUntil } = await until(() => conversation(rui.id), { status: 'snoozed' })
  // The browser is in São Paulo.
  assert.equal(snoozedUntil, new Date(`${wanted}:00-03:00`).toISOString())
})

test('several are chosen by X and Shift, changed together as one line of the log, and brought back by the undo', async () => {
  const ids: string[] = []
  for (const name of ['Bulk Um', 'Bulk Dois', 'Bulk Tres', 'Bulk Quatro']) {
    ids.unshift((await newWriter(demo, name, 'Hi')).id)
  }
  const { page } = await demo.open('inbox')
  await rowOf(page, 'Bulk Quatro').waitFor()
  const bar = page.getByRole('toolbar', { name: 'Selected conversations' })
  await page.keyboard.press('j')
  await page.waitForURL(new RegExp(`/inbox/${ids[0]}`))
  await page.keyboard.press('x')
  await bar.getByText('1 selected').waitFor()
  await rowOf(page, 'Bulk Dois').click({ modifiers: ['Shift'] })
  await bar.getByText('3 selected').waitFor()
  assert.equal(openId(page), ids[0], 'choosing opens nothing')
  await assertAccessible(page)
  await page.keyboard.press('e')
  await page.getByText('3 conversations changed').waitFor()
  await bar.waitFor({ state: 'detached' })
  const statuses = async () => Promise.all(ids.map(async (id) => (await conversation(id)).status))
  assert.deepEqual(await statuses(), ['resolved', 'resolved', 'resolved', 'open'])
  await rowOf(page, 'Bulk Dois').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('3 conversations are as before').waitFor()
  assert.deepEqual(await statuses(), ['open', 'open', 'open', 'open'])
  await rowOf(page, 'Bulk Dois').waitFor()
  const { entries } = await demo.team('GET', `${team}/audit`)
  const ofMany = entries.filter(({ action }: { action: string }) => action.startsWith('conversations.bulk'))
  assert.deepEqual(
    ofMany.map(({ action, count }: { action: string; count: number }) => [action, count]),
    [
      ['conversations.bulk_undone', 3],
      ['conversations.bulk_changed', 3],
    ],
  )
  await page.getByRole('checkbox', { name: 'Select Bulk Um' }).check({ force: true })
  await page.keyboard.press('a')
  await dialog(page, 'Assign').getByRole('option', { name: /^Me/ }).click()
  await page.getByText('1 conversation changed').waitFor()
  assert.equal((await conversation(ids[3] ?? '')).assignedToName, 'Demo Owner')
  await page.getByRole('checkbox', { name: 'Select Bulk Um' }).check({ force: true })
  await page.keyboard.press('Escape')
  await bar.waitFor({ state: 'detached' })
})

test('a change of many shows how far it is, and what failed on the way stays chosen', async () => {
  const { connections } = await demo.team('GET', `${team}/connections`)
  const { keys } = await demo.team('GET', `${team}/keys`)
  await fillDemo(demo, async (filling) => {
    await fillConversations(filling, { connectionId: connections[0].id, keyId: keys[0].id, count: 120 })
  })
  const { page } = await demo.open('inbox?status=any')
  const bar = page.getByRole('toolbar', { name: 'Selected conversations' })
  await page.locator('[data-row]').nth(5).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await bar.getByRole('button', { name: /^Select all/ }).click()
  letLoadingFail(page)
  let asked = 0
  const second = Promise.withResolvers<void>()
  await page.route('**/conversations/bulk', async (route) => {
    if (++asked === 1) return route.continue()
    await second.promise
    await route.abort()
  })
  await bar.getByRole('button', { name: /Mark (unread|read)/ }).click()
  await bar.getByText(/^Changing 25 of \d+…$/).waitFor()
  second.resolve()
  await page.getByText(/^25 of \d+ were changed, then the connection failed/).waitFor()
  await bar.getByText(/selected/).waitFor()
})

test('on a phone conversations are chosen by touch', async () => {
  const ana = await newWriter(demo, 'Ana Toque', 'Hi')
  const { page, context } = await demo.open('inbox', { viewport: phone })
  await rowOf(page, 'Ana Toque').waitFor()
  const cdp = await context.newCDPSession(page)
  await cdp.send('Emulation.setTouchEmulationEnabled', { enabled: true })
  await page.getByRole('button', { name: 'Select conversations' }).click()
  await rowOf(page, 'Ana Toque').click()
  const bar = page.getByRole('toolbar', { name: 'Selected conversations' })
  await bar.getByText('1 selected').waitFor()
  assert.match(page.url(), /\/inbox$/, 'a tap opens nothing')
  await bar.getByRole('button', { name: 'Resolve' }).click()
  await page.getByText('1 conversation changed').waitFor()
  assert.equal((await conversation(ana.id)).status, 'resolved')
})

test('who is named in a note is told how often, led to the note, and finds the name marked', async () => {
  const ivo = await newWriter(demo, 'Ivo Nota', 'Hello')
  const { members } = await demo.team('GET', `${team}/members`)
  const owner = members.find(({ name }: { name: string }) => name === 'Demo Owner')
  const { page } = await demo.open('inbox')
  await page.getByRole('button', { name: 'Mentions', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Mentions', exact: true }).click()
  await page.getByText('No one has mentioned you yet').waitFor()
  await page.keyboard.press('Escape')
  const note = { text: '@Demo Owner please *call* him', mentions: [owner.userId] }
  await demo.team('POST', `${team}/inbox/conversations/${ivo.id}/notes`, note)
  await page.getByRole('button', { name: 'Mentions: 1 unread' }).click()
  const list = dialog(page, 'Mentions')
  await list.getByRole('link', { name: /Ivo Nota/ }).waitFor()
  await assertAccessible(page)
  await list.getByRole('link', { name: /Ivo Nota/ }).click()
  await page.waitForURL(new RegExp(`/inbox/${ivo.id}`))
  await thread(page).locator('b', { hasText: '@Demo Owner' }).waitFor()
  await thread(page).locator('strong', { hasText: 'call' }).waitFor()
  await thread(page).locator('section[data-found]').waitFor()
  await page.getByRole('button', { name: 'Mentions', exact: true }).waitFor()
  assert.equal((await demo.team('GET', `${team}/inbox/conversations/${ivo.id}/notes`)).notes.length, 1)
})

test('marks and links of a text are drawn, and no HTML; a missed call is a line and no bubble', async () => {
  await newWriter(demo, 'Zoe Texto', '*Bold* _slanted_ ~gone~ `code` <b>not</b> https://example.com/a_b_c')
  const { page } = await demo.open('inbox')
  await rowOf(page, 'Zoe Texto').waitFor()
  await page.route(/\/timeline/, async (route) => {
    const answer = await route.fetch()
    const body = await answer.json()
    const said = body.items.find(({ message }: { message?: object }) => message !== undefined)
    const call = { ...said.message, id: '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e', kind: 'system', text: 'Missed call' }
    body.items.push({ ...said, id: call.id, message: { ...call, author: { type: 'system', id: null, name: null } } })
    await route.fulfill({ response: answer, json: body })
  })
  await rowOf(page, 'Zoe Texto').click()
  const log = thread(page).getByRole('log')
  for (const [tag, words] of [
    ['strong', 'Bold'],
    ['em', 'slanted'],
    ['s', 'gone'],
    ['code', 'code'],
  ] as const) {
    await log.locator(tag, { hasText: words }).waitFor()
  }
  await log.getByText('<b>not</b>').waitFor()
  await log.getByRole('link', { name: 'https://example.com/a_b_c' }).waitFor()
  await log.locator('p', { hasText: 'Missed call ·' }).waitFor()
  assert.equal(await log.locator('[data-by]').filter({ hasText: 'Missed call' }).count(), 0)
  await assertAccessible(page)
})
