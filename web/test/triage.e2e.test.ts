import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { desktop, phone } from './support/browser.ts'
import { newWriter, thread, waitUntil } from './support/composing.ts'
import { openDemo } from './support/demo.ts'
import { openId } from './support/inbox.ts'

const demo = await openDemo()
const team = `/workspaces/${demo.workspaceId}`
const rowOf = (page: Page, name: string): Locator => page.getByRole('link', { name: new RegExp(name) })
const dialog = (page: Page, name: string): Locator => page.getByRole('dialog', { name })
const conversation = async (id: string) => (await demo.team('GET', `${team}/inbox/conversations/${id}`)).conversation

test('J and K open conversations in turn; E closes, opens the next, and its undo returns', async () => {
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
  await waitUntil(() => conversation(dora.id), { status: 'resolved' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.waitForURL(new RegExp(`/inbox/${dora.id}`))
  await rowOf(page, 'Dora Dois').waitFor()
})

test('the button closes as E does: both open the next conversation, or stay if so chosen', async () => {
  const [nils, olga] = [await newWriter(demo, 'Nils Fica', 'Hi'), await newWriter(demo, 'Olga Segue', 'Hi')]
  const ways: [name: string, resolve: (page: Page) => Promise<unknown>][] = [
    ['button', (page) => page.getByRole('button', { name: 'Resolve' }).click()],
    ['key', (page) => page.keyboard.press('e')],
  ]
  for (const isOn of [true, false])
    for (const [name, resolve] of ways) {
      const { page } = await demo.open('profile')
      await page.getByRole('switch', { name: 'Open the next conversation automatically' }).setChecked(isOn)
      await page.goto(`${demo.url}/w/${demo.workspaceId}/${olga.place}`)
      await rowOf(page, 'Nils Fica').waitFor()
      await thread(page).getByText('Hi').waitFor()
      await resolve(page)
      await waitUntil(() => conversation(olga.id), { status: 'resolved' })
      await thread(page)
        .and(page.getByLabel(`Conversation with ${isOn ? 'Nils Fica' : 'Olga Segue'}`))
        .waitFor()
      await demo.team('PATCH', `${team}/inbox/conversations/${olga.id}`, { status: 'open' })
      assert.equal(new URL(page.url()).pathname.endsWith(isOn ? nils.id : olga.id), true, `${name}, ${isOn}`)
    }
})

test('facts under the name are shown completely or not at all', async () => {
  const vera = await newWriter(demo, 'Vera Inteira', 'Hi')
  const members = (await demo.team('GET', `${team}/members`)).members as { userId: string }[]
  const snoozedUntil = new Date(Date.now() + 3 * 24 * 3_600_000).toISOString()
  const changes = { assignedTo: members[0]?.userId, status: 'snoozed', snoozedUntil }
  await demo.team('PATCH', `${team}/inbox/conversations/${vera.id}`, changes)
  for (const viewport of [desktop, { width: 1280, height: 800 }, phone]) {
    const { page } = await demo.open(vera.place, { viewport })
    const facts = page.locator('#thread header').getByTitle(/^Snoozed until .* · .* · Parley Demo$/)
    await facts.waitFor()
    const shown = await facts.evaluate((line) => {
      const end = line.getBoundingClientRect().bottom
      const inSight = [...line.children].filter((one) => one.getBoundingClientRect().bottom <= end + 1)
      return { count: inSight.length, cut: inSight.filter((one) => one.scrollWidth > one.clientWidth).length }
    })
    assert.ok(shown.count >= 1 && shown.cut === 0, `${viewport.width}: ${JSON.stringify(shown)}`)
  }
})

test('labels are shown by name: all in header and panel, two in a row of the list, and all in its tooltip and accessible name', async () => {
  const rosa = await newWriter(demo, 'Rosa Rotulo', 'Hi')
  const labelIds: string[] = []
  for (const [name, color] of [
    ['Billing', 'amber'],
    ['Needs a quote by Friday', 'red'],
    ['Wholesale', 'grey'],
  ])
    labelIds.push((await demo.team('POST', `${team}/labels`, { name, color })).label.id)
  await demo.team('PATCH', `${team}/inbox/conversations/${rosa.id}`, { labelIds })
  for (const viewport of [desktop, phone]) {
    const { page } = await demo.open(rosa.place, { viewport })
    const header = page.locator('#thread header').getByRole('list', { name: 'Labels' })
    await header.getByText('Billing').waitFor()
    assert.deepEqual(await header.getByRole('listitem').allInnerTexts(), [
      'Billing',
      'Needs a quote by Friday',
      'Wholesale',
    ])
    if (viewport === phone) await page.getByRole('button', { name: 'Show customer details' }).click()
    const panel = page.getByRole('complementary', { name: 'Customer' }).getByRole('region', { name: 'Labels' })
    await panel.getByText('Needs a quote by Friday').waitFor()
    await assertAccessible(page)
    if (viewport === phone) continue
    const row = page.getByRole('link', { name: /Rosa Rotulo.*Labels: Billing, Needs a quote by Friday, Wholesale/ })
    const words = (await row.innerText()).replaceAll(/\s+/g, ' ')
    assert.match(words, /Billing Needs a quote by Friday \+1$/)
    assert.equal(await row.getByTitle('Billing, Needs a quote by Friday, Wholesale').count(), 1)
  }
})

for (const language of ['en', 'es', 'pt'] as const)
  test(`actions on a conversation have a label if there is space, and always an accessible name, in ${language}`, async () => {
    const lea = await newWriter(demo, `Lea ${language} Palavra`, 'Hello')
    const { page } = await demo.open(lea.place, { language })
    const head = page.locator('#thread header')
    await head.getByRole('heading').waitFor()
    for (const [width, hasWords] of [
      [1200, true],
      [1199, false],
    ] as const) {
      await page.setViewportSize({ width, height: 800 })
      const buttons = await head.getByRole('button').filter({ visible: true }).all()
      assert.ok(buttons.length >= 5)
      for (const button of buttons) {
        // Read both at once: opening marks as read, which changes the label of one button.
        const [words, name] = await button.evaluate((one) => {
          const { innerText } = one as unknown as { innerText: string }
          return [innerText, one.getAttribute('aria-label') ?? ''] as const
        })
        const isMain = name === ''
        assert.equal(words !== '', hasWords || isMain, `${width}: ${name}`)
        // Speech input requires the accessible name to contain the visible label.
        assert.ok(isMain || name.toLowerCase().includes(words.toLowerCase()), `${name}: ${words}`)
      }
      const room = await head.getByRole('heading').boundingBox()
      assert.ok((room?.width ?? 0) >= 80, `${width}: the name has ${room?.width} px`)
    }
  })

test('several are selected by X and Shift, changed as one entry of the audit log, and restored by undo', async () => {
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
  await page.keyboard.press('e')
  await page.getByText('3 conversations updated').waitFor()
  await bar.waitFor({ state: 'detached' })
  const statuses = async () => Promise.all(ids.map(async (id) => (await conversation(id)).status))
  assert.deepEqual(await statuses(), ['resolved', 'resolved', 'resolved', 'open'])
  await rowOf(page, 'Bulk Dois').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('3 conversations restored').waitFor()
  assert.deepEqual(await statuses(), ['open', 'open', 'open', 'open'])
  await rowOf(page, 'Bulk Dois').waitFor()
})

test('on a phone conversations are selected by touch', async () => {
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
  await page.getByText('1 conversation updated').waitFor()
  assert.equal((await conversation(ana.id)).status, 'resolved')
})

test('a mentioned person sees the count, the note and the marked name', async () => {
  const ivo = await newWriter(demo, 'Ivo Nota', 'Hello')
  const { members } = await demo.team('GET', `${team}/members`)
  const owner = members.find(({ name }: { name: string }) => name === 'Demo Owner')
  const { page } = await demo.open('inbox')
  await page.getByRole('button', { name: 'Mentions', exact: true }).waitFor()
  const note = { text: '@Demo Owner please *call* him', mentions: [owner.userId] }
  await demo.team('POST', `${team}/inbox/conversations/${ivo.id}/notes`, note)
  await page.getByRole('button', { name: 'Mentions: 1 unread' }).click()
  await dialog(page, 'Mentions')
    .getByRole('link', { name: /Ivo Nota/ })
    .click()
  await page.waitForURL(new RegExp(`/inbox/${ivo.id}`))
  await thread(page).locator('b', { hasText: '@Demo Owner' }).waitFor()
  await thread(page).locator('strong', { hasText: 'call' }).waitFor()
  await thread(page).locator('section[data-found]').waitFor()
  await page.getByRole('button', { name: 'Mentions', exact: true }).waitFor()
})
